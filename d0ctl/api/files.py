"""The files of jobs: where their copies are, and what can be done with them."""

from collections.abc import Iterator
from os import PathLike

from d0ctl.actions import file_choice
from d0ctl.actions.file_choice import FileChoice
from d0ctl.api.verbs import FileVerbs
from d0ctl.config import find_home
from d0ctl.store import opening
from d0ctl.store.files import selected_files
from d0ctl.store.files.selected_files import FileRow


class Files(FileVerbs):
    """Files by `JOB:NAME`, both with wildcards, with a copy on a node, or of a disposition."""

    def __init__(
        self,
        *selectors: str,
        node: str | None = None,
        disposition: str | None = None,
        home: str | PathLike[str] | None = None,
    ) -> None:
        """Select files. Raises BadUsage."""
        self.choices = [
            file_choice.parse(selector, node=node, disposition=disposition)
            for selector in selectors or ("*:*",)
        ]
        self.home = find_home(home)

    def __repr__(self) -> str:
        return f"Files({', '.join(repr(str(choice)) for choice in self.choices)})"

    def __iter__(self) -> Iterator[FileRow]:
        """Go over the files. Raises NotFound if none matches."""
        seen: set[int] = set()
        for choice in self.choices:
            with opening.reader(self.home) as store:
                selected, _ = file_choice.choose(store, choice)
                rows = list(selected_files.pages(selected, 0))
            yield from (row for row in rows if row.id not in seen)
            seen.update(row.id for row in rows)

    def _targets(self, keep_going: bool) -> list[FileChoice]:
        return self.choices
