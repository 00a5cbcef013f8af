"""Jobs, or parts of them, in the database: what they are, and what can be done with them."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, overload

from d0ctl import select
from d0ctl.api.progress import LOOK_S, Progress, counts_now, driven, seconds_of
from d0ctl.api.verbs import Verbs
from d0ctl.config import Home, find_home
from d0ctl.errors import BadUsage
from d0ctl.select import Selector
from d0ctl.store import opening
from d0ctl.store.connection import Store
from d0ctl.store.views.shapes import PackageRow

if TYPE_CHECKING:
    from d0ctl.show.drawing.sheet import Sheet

LOOK_ANYWAY_S = 5.0
"""How long the database is not read at most while it does not change."""


class Selection(Verbs):
    """A job, several jobs, or parts of them, as a selector of the command line names them."""

    def __init__(self, wanted: Selector, home: Home) -> None:
        self.wanted, self.home = wanted, home

    @classmethod
    def of(cls, texts: str | Iterable[str], home: str | PathLike[str] | None = None) -> "Selection":
        """Return a selection of everything that these selectors name. Raises BadUsage."""
        wanted = select.parse_all([texts] if isinstance(texts, str) else texts)
        return cls(wanted, find_home(home))

    def __str__(self) -> str:
        return str(self.wanted)

    def __repr__(self) -> str:
        return f"jobs({', '.join(map(repr, self._texts))})"

    @property
    def _texts(self) -> list[str]:
        return [str(part) for part in self.wanted.parts]

    # parts ---------------------------------------------------------------------------------

    def stage(self, which: int | str) -> "Selection":
        """Select a stage of a job by its number or its name."""
        return self._part("job", which)

    def line(self, number: int) -> "Selection":
        """Select a line of a stage."""
        return self._part("stage", number)

    def package(self, number: int) -> "Selection":
        """Select a package of a line."""
        return self._part("line", number)

    def _part(self, level: str, which: int | str) -> "Selection":
        if self.wanted.level != level or self.wanted.is_filtered:
            raise BadUsage(f"`{self}` is not a {level}")
        return Selection(select.parse(f"{self}/{which}"), self.home)

    def packages(
        self,
        *,
        status: str | Sequence[str] = (),
        failed_for: str | None = None,
        node: str | None = None,
        older_than: str | float | None = None,
    ) -> "Selection":
        """Select packages by status or phase, reason of failure, node, and time since a change."""
        states = (status,) if isinstance(status, str) else tuple(status)
        age = f"{older_than}s" if isinstance(older_than, int | float) else older_than
        wanted = select.parse_all(self._texts, status=states, reason=failed_for, node=node,
                                  older_than=age)  # fmt: skip
        return Selection(wanted, self.home)

    # reading -------------------------------------------------------------------------------

    def __iter__(self) -> Iterator[PackageRow]:
        """Go over its packages."""
        from d0ctl.store.views import selection

        with self._reading() as store:
            selected = selection.choose(store, self.wanted, now=time.time(), lenient=True)
            rows = selection.packages(selected)
        return iter(rows)

    def __len__(self) -> int:
        """Count its packages."""
        from d0ctl.store.views import selection

        with self._reading() as store:
            return selection.choose(store, self.wanted, now=time.time(), lenient=True).count()

    @overload
    def __getitem__(self, at: int) -> "Selection": ...
    @overload
    def __getitem__(self, at: slice) -> "Selection": ...
    def __getitem__(self, at: int | slice) -> "Selection":
        """Select packages by their ids, which count from 0 in their order. Raises IndexError."""
        rows = list(self)
        found = rows[at] if isinstance(at, slice) else [rows[at]]
        if not found:
            raise IndexError(f"`{self}` has {len(rows):,} packages")
        return Selection(select.parse_all([row.path for row in found]), self.home)

    def __bool__(self) -> bool:
        """Return whether it has packages."""
        return len(self) > 0

    @property
    def names(self) -> list[str]:
        """The names of its jobs."""
        from d0ctl.store.views import browse

        with self._reading() as store:
            return list(dict.fromkeys(
                job.name for part in self.wanted.parts for job in browse.jobs(store, part.job)
            ))  # fmt: skip

    @property
    def progress(self) -> Progress:
        """The present counts."""
        with self._reading() as store:
            return counts_now(store, self.wanted)[0]

    @property
    def status(self) -> str:
        """Its status: submitted, running, successful, failed or canceled; mixed if jobs differ."""
        return self.progress.status

    def why(self) -> str:
        """Return why it is in its state, and what helps, as `d0ctl why` says it."""
        from d0ctl.show.drawing.sheet import Sheet
        from d0ctl.show.explanation import answer
        from d0ctl.show.why.selected import explain

        page = Sheet()
        with self._reading() as store:
            answer(page, explain(store, self.wanted, time.time()))
        return page.text

    def logs(self, *, attempt: int | None = None, binary: int | None = None) -> dict[str, str]:
        """Return what its packages printed, at most 20, by their paths, as `d0ctl logs` reads it.

        Packages that have not run are left out. Raises NotFound if none has, NodeUnreachable, and
        BadUsage for more packages.
        """
        from d0ctl.show.visits.whole_logs import logs_of

        with self._reading() as store:
            return logs_of(store, self.wanted, attempt, binary)

    def results(self, name: str = "*") -> list[Path]:
        """Return where its finished final outputs are on this machine, by a name with wildcards."""
        from d0ctl.api.results import paths_of

        with self._reading() as store, store.reading():
            return paths_of(store, self.wanted, name)

    def export(self, form: str = "yaml") -> str:
        """Return a job in a format of `d0ctl export`, such as a job file."""
        from d0ctl.show.export.job_formats import exported

        with self._reading() as store:
            return exported(store, str(self), form).text

    def show(self) -> str:
        """Return what `d0ctl status` shows of it."""
        return self._sheet().text

    def _repr_html_(self) -> str:
        from d0ctl.show.drawing.spans import as_html

        return as_html(self._sheet().lines)

    def _sheet(self) -> "Sheet":
        from d0ctl.show import status
        from d0ctl.show.drawing.sheet import Sheet

        page = Sheet()
        with self._reading() as store, store.reading():
            status.draw(page, store, self.wanted, time.time())
        return page

    def _reading(self) -> AbstractContextManager[Store]:
        return opening.reader(self.home)

    # waiting -------------------------------------------------------------------------------

    def watch(self, timeout: float | str | None = None) -> Iterator[Progress]:
        """Yield the counts, now and after each change, until nothing in it can move.

        The daemon must be running. Raises TimeoutError after `timeout`, as `60` or `"1h"`; without
        one, DatabaseUnavailable after a minute without a daemon.
        """
        from d0ctl.store.views.awaited import DaemonWatch

        end = None if timeout is None else time.monotonic() + seconds_of(timeout)
        seen, due, last = None, 0.0, None
        with self._reading() as store:
            daemon = DaemonWatch(store)
            while True:
                version = store.version()
                if version != seen or time.monotonic() >= due:
                    seen, due = version, time.monotonic() + LOOK_ANYWAY_S
                    found, is_settled = counts_now(store, self.wanted)
                    if found != last:
                        yield found
                    last = found
                    if is_settled:
                        return
                if end is not None and time.monotonic() >= end:
                    raise TimeoutError(f"`{self}` is still {last and last.status}")
                if end is None and not daemon.check():
                    daemon.give_up(str(self))
                time.sleep(LOOK_S)

    def wait(
        self,
        timeout: float | str | None = None,
        progress: Callable[[Progress], object] | None = None,
    ) -> Progress:
        """Wait until nothing in it can move without a person, and return the counts then.

        `progress` is called after each change. It raises the same errors as `watch`, and warns as
        `results` does.
        """
        found = self.progress
        for found in self.watch(timeout):
            if progress is not None:
                progress(found)
        if found.is_successful:
            self._warn()
        return found

    def run(self, progress: Callable[[Progress], object] | None = None) -> Progress:
        """Drive a job to its end as `d0ctl run` does, with no daemon needed."""
        last = None
        with closing(driven(self.home, str(self))) as looks:
            for _ in looks:
                found = self.progress
                if progress is not None and found != last:
                    progress(found)
                last = found
        if (found := self.progress).is_successful:
            self._warn()
        return found

    def _warn(self) -> None:
        """Issue what `d0ctl results` says of mixed results as Python warnings."""
        from d0ctl.api.results import warn_of_ended

        with self._reading() as store, store.reading():
            warn_of_ended(store, self.wanted)

    # acting --------------------------------------------------------------------------------

    def clone(
        self,
        name: str | None = None,
        *,
        parameters: Mapping[str, object] | None = None,
        hold: bool = False,
        force: bool = False,
        reason: str | None = None,
    ) -> "Selection":
        """Submit a job again, with other parameters; return the new job."""
        options = {"name": name, "parameters": parameters, "hold": hold, "force": force}
        return Selection(select.parse(self._act("clone", options, reason, False).job), self.home)

    def _targets(self, keep_going: bool) -> list[Selector]:
        from d0ctl.actions.selection import one_by_one

        if not keep_going:
            return [self.wanted]
        with self._reading() as store:
            return one_by_one(store, self.wanted)


def jobs(*selectors: str, home: str | PathLike[str] | None = None) -> Selection:
    """Select jobs, or parts of them, as on the command line: `reco001`, `reco001/2/1-10`."""
    return Selection.of(selectors or ("*",), home)
