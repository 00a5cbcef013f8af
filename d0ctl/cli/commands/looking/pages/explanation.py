"""Why something is not running, is here, or failed, and what to type."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, cast

from msgspec.structs import asdict

from d0ctl import select
from d0ctl.cli import session
from d0ctl.cli.terminal.output import emit_json, sheet
from d0ctl.cli.terminal.output import show as print_sheet
from d0ctl.errors import Archived, Elsewhere, NotFound
from d0ctl.model import DIRECT
from d0ctl.show.drawing.archived import in_archive, is_possible
from d0ctl.show.explanation import answer
from d0ctl.show.why.common import Explanation
from d0ctl.show.why.selected import explain
from d0ctl.store.connection import Store
from d0ctl.store.nodes import registry
from d0ctl.store.views import browse, file_locations, names
from d0ctl.store.views.file_locations import FileView

if TYPE_CHECKING:
    from d0ctl.cli.schemas import reports


def show(
    selector: str | None, node: str | None = None, file: str | None = None, *, json: bool = False
) -> None:
    """Print why one thing is in its state."""
    if not session.has_home():
        raise NotFound(f"there is no job `{selector or node or file}`; the home has no jobs",
                       hint="d0ctl run FILE")  # fmt: skip
    with session.reader() as store, store.reading():
        explanation = explained(store, selector, node, file, time.time())
    if json:
        archive = session.settings.archive
        explanation.facts = [in_archive(fact, archive) for fact in explanation.facts]
        explanation.commands = [in_archive(command, archive) for command in explanation.commands
                                if is_possible(command, archive)]  # fmt: skip
        emit_json(document(explanation))
    else:
        page = sheet()
        answer(page, explanation)
        print_sheet(page)


def explained(
    store: Store, selector: str | None, node: str | None, file: str | None, now: float
) -> Explanation:
    """Return why the one thing that is named is in its state. Raises NotFound or BadUsage."""
    if selector:
        with_slashes = select.with_slashes(selector)
        if browse.has_job(store, with_slashes.partition("/")[0]):
            selector = with_slashes
    if found := _file(store, selector, file):
        from d0ctl.show.why.file import file as explain_file

        return explain_file(store, found, now)
    return _explain(store, selector, node, now)


def _explain(store: Store, selector: str | None, node: str | None, now: float) -> Explanation:
    if selector is None or _is_node(store, selector):
        row = registry.find(store, node or selector or "")
        if row and row.job == DIRECT and (found := _of_system(store, row.name, now)):
            return found
        from d0ctl.show.why.node import node as explain_node

        return explain_node(store, node or selector or "", now)
    wanted = select.parse_all([selector], with_binary=True)
    if (
        not select.has_states(selector)
        and "/" not in selector
        and not browse.has_job(store, selector)
    ):
        if found := _of_system(store, selector, now):
            return found
        missing = browse.no_such_job(store, selector)
        if isinstance(missing, Archived | Elsewhere) or select.WILD.intersection(selector):
            raise missing
        known = [*names.jobs(store), *(row.name for row in registry.nodes(store))]
        raise NotFound(f"{missing}, nor a node, batch system or file of that name",
                       hint=browse.nearest(selector, known) or missing.hint)  # fmt: skip
    return explain(store, wanted, now)


def _file(store: Store, selector: str | None, file: str | None) -> FileView | None:
    """Return the selected file; None if something else is selected. Raises NotFound, BadUsage."""
    text = file or selector or ""
    if file is None and (not text or _is_node(store, text) or select.has_states(text)):
        return None
    if (named := select.file_of_job(text)) and browse.has_job(store, named[0]):
        return file_locations.in_job(store, *named, also=() if file else _states(named[1]))
    if file is None and browse.has_job(store, text.partition("/")[0]):
        return None
    files = file_locations.anywhere(store, text, str(Path(text).absolute()))
    if files is None and (file is not None or not select.is_selector(text)):
        raise NotFound(f"there is no file `{text}` in any job", hint="d0ctl why JOB:NAME")
    if files is None and (named := select.file_of_job(text)):
        raise browse.no_such_job(store, named[0])
    return files


def _states(word: str) -> list[str]:
    """Return the state that a word misspells, if any: after the colon there is usually a file."""
    from difflib import get_close_matches

    return get_close_matches(word, select.states(), 1, cutoff=0.8)


def _of_system(store: Store, name: str, now: float) -> Explanation | None:
    """Explain a batch system, if there is one of that name."""
    from d0ctl.store.clusters import pilots

    system = pilots.named(store, name)
    if system is None:
        return None
    from d0ctl.show.why.pilots import system as explain_system

    return explain_system(store, system, now)


def _is_node(store: Store, name: str) -> bool:
    """Return whether a word names a node, and no job."""
    return registry.find(store, name) is not None and not browse.has_job(store, name)


def document(explanation: Explanation) -> "reports.Explanation":
    """Return the explanation as JSON."""
    values = {
        name: value
        for name, value in asdict(explanation).items()
        if name not in {"listed", "retries", "drops", "edit", "reason"}
    }
    return cast("reports.Explanation", values)
