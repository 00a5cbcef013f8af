"""What is known of a group of failures, or of one of them: card, packages, end of the log."""

import time
from collections.abc import Iterable, Mapping
from functools import partial

from msgspec.structs import replace
from textual import work
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.timer import Timer

from d0ctl.errors import D0Error, NotFound
from d0ctl.model import Phase
from d0ctl.select import union
from d0ctl.select.condense import condense
from d0ctl.show.drawing.sheet import Sheet
from d0ctl.show.drawing.spans import Line
from d0ctl.show.failures import alike, failure_group
from d0ctl.show.failures.failure_group import GroupCard
from d0ctl.store.connection import Store
from d0ctl.store.opening import open_store
from d0ctl.store.sqlite_errors import database_errors
from d0ctl.store.views import browse, one_package, outline
from d0ctl.store.views.shapes import PackageRow
from d0ctl.units import count
from d0ctl_tui.app_events import ThreadResult
from d0ctl_tui.app_interface import AppInterface
from d0ctl_tui.draw.failure_groups import FailedPackages
from d0ctl_tui.read import logs
from d0ctl_tui.widgets.status_lines import Page

REST_S = 0.03
"""How long the cursor rests before its row is read, so that keys come first."""

TAIL_BYTES = 16_384

MOST = 200
"""How many packages are listed."""

MOST_PARTS = 3
"""A group that takes more selectors than this is not written out in commands."""


class GroupDetails(Horizontal):
    """The card; on a wide screen beside it the log, on a very wide one also the packages."""

    def __init__(self, dashboard: AppInterface) -> None:
        super().__init__(id="failed")
        self.dashboard = dashboard
        self.card: GroupCard | None = None
        self.ends: list[tuple[str, str]] | None = None
        self.about = Page("failure", self._about, dashboard.glyphs)
        self.list = Page("failures", self._list, dashboard.glyphs, is_list=True)
        self.log_page = Page("ends", self._log, dashboard.glyphs)
        self._timer: Timer | None = None

    def compose(self) -> ComposeResult:
        """Compose the panes, of which a narrow screen shows just the first."""
        yield self.about
        yield self.list
        yield self.log_page

    def on_resize(self) -> None:
        """Share the panes' contents again."""
        self.call_after_refresh(self.renew)

    def renew(self) -> None:
        """Draw again."""
        for page in (self.about, self.list, self.log_page):
            page.renew()

    def show(self, failed: FailedPackages | None, package: PackageRow | None, by: str) -> None:
        """Show a group, or one of its packages, once the cursor rests."""
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(REST_S, partial(self._read, failed, package, by))

    def _read(self, failed: FailedPackages | None, package: PackageRow | None, by: str) -> None:
        before = self.card.latest if self.card is not None else None
        if failed is None:
            self.card = None
        elif package is None:
            read = partial(group, failed=failed, by=by, is_past=self._is_past)
            self.card = self.dashboard.source.ask(read, self.card)
        else:
            read = partial(single, failed=failed, package=package, is_past=self._is_past)
            self.card = self.dashboard.source.ask(read, self.card)
        latest = self.card.latest if self.card is not None else None
        if latest != before:
            self.ends = None
            for page in (self.about, self.list, self.log_page):
                page.scroll_to(y=0, animate=False, immediate=True)
        self.renew()
        if latest and not self._is_past:
            self._read_tail(latest)

    @property
    def _is_past(self) -> bool:
        return self.dashboard.source.at is not None

    @work(thread=True, exclusive=True)
    def _read_tail(self, path: str) -> None:
        home = self.dashboard.home
        try:
            with open_store(home, read_only=True) as store, database_errors(home):
                log = logs.find(store, path)
            try:
                ends = list(log.tails(TAIL_BYTES))
            finally:
                log.close()
        except D0Error as error:
            ends = [("can't be read", str(error))]
        self.dashboard.post_message(ThreadResult(partial(self._take_tail, path, ends)))

    def _take_tail(self, path: str, ends: list[tuple[str, str]]) -> None:
        is_shown = self.card is not None and self.card.latest == path
        if is_shown and ends != self.ends and self.is_mounted:
            self.ends = ends
            self.renew()

    def _about(self, columns: int) -> list[Line]:
        sheet, card = self._sheet(columns), self.card
        if card is None:
            return []
        failure_group.draw(sheet, card, time.time(), self._keys(card))
        if not self.list.display:
            failure_group.draw_packages(sheet, card, time.time())
        if not self.log_page.display:
            self._draw_log(sheet, 0)
        return sheet.lines

    def _list(self, columns: int) -> list[Line]:
        sheet = self._sheet(columns)
        if self.card is not None and self.list.display:
            failure_group.draw_packages(sheet, self.card, time.time())
        return sheet.lines

    def _log(self, columns: int) -> list[Line]:
        sheet = self._sheet(columns)
        if self.log_page.display:
            self._draw_log(sheet, self.log_page.size.height)
        return sheet.lines

    def _draw_log(self, sheet: Sheet, rows: int) -> None:
        if self.card is not None and self.ends is not None:
            key = self.dashboard.key_of("log")
            failure_group.draw_log(sheet, self.card, self.ends, key, rows)

    def _sheet(self, columns: int) -> Sheet:
        return Sheet(columns - 1, self.dashboard.glyphs, archive=self.dashboard.home.archive)

    def _keys(self, card: GroupCard) -> str:
        key, number = self.dashboard.key_of, card.number
        them = "it" if number == 1 else f"all {count(number)}"
        seen = "" if card.acknowledged == number else f"{key('acknowledge')} acknowledges, "
        return (
            f"{key('retry')} retries {them}, {key('kill-line')} drops, "
            f"{seen}{key('actions')} offers more"
        )


def group(store: Store, failed: FailedPackages, by: str, *, is_past: bool) -> GroupCard:
    """Read the card of a group."""
    shown = failed.ids[:MOST]
    latest = [id for ids in failed.kinds.values() for id in ids]
    rows = outline.packages_by_id(store, dict.fromkeys([*shown, *latest]))
    kinds = [
        alike.Kind(job, reason, [rows[id].path for id in ids if id in rows])
        for (job, reason), ids in failed.kinds.items()
    ]
    kinds = [kind for kind in kinds if kind.paths]
    card = replace(
        failed.summary(),
        packages=[rows[id] for id in shown if id in rows],
        latest=kinds[0].paths[0] if kinds else "",
    )
    if is_past or not kinds:
        return card
    if len(failed.ids) == 1:
        return _explained(store, card)
    node = failed.name if by == "node" else ""
    jobs = dict.fromkeys(kind.job for kind in kinds)
    selectors = _selectors(store, failed, by, jobs, rows)
    seen = set(jobs) - {failure.job for failure in failed.failures if not failure.acknowledged}
    why = alike.several(store, kinds, selectors, node=node, acknowledged=seen)
    return replace(card, why=why)


def _selectors(
    store: Store,
    failed: FailedPackages,
    by: str,
    jobs: Iterable[str],
    rows: Mapping[int, PackageRow],
) -> dict[str, str]:
    """Return a selector of the group for each job; without those that are too long to read."""
    found = {job: f"{job}:failed" for job in jobs
             if by in ("reason", "node") or failed.jobs[job] == _failed_of(store, job)}  # fmt: skip
    if len(failed.ids) > MOST:
        return found
    for job in set(jobs) - found.keys():
        parts = condense(rows[failure.id].path for failure in failed.failures
                         if failure.job == job and failure.id in rows)  # fmt: skip
        if 0 < len(parts) <= MOST_PARTS:
            found[job] = str(union(parts))
    return found


def _failed_of(store: Store, job: str) -> int:
    """Return how many packages of a job have failed; 0 if it was removed."""
    try:
        counts = browse.stage_counts(store, browse.job(store, job).id)
    except NotFound:
        return 0
    return sum(of_stage.get(Phase.FAILED, 0) for of_stage in counts.values())


def single(
    store: Store, failed: FailedPackages, package: PackageRow, *, is_past: bool
) -> GroupCard:
    """Read the card of one package of a group."""
    its = FailedPackages(package.path)
    its.take(failed.failures[failed.ids.index(package.id)])
    card = replace(its.summary(), packages=[package], latest=package.path)
    return card if is_past else _explained(store, card)


def _explained(store: Store, card: GroupCard) -> GroupCard:
    attempts = one_package.attempts(store, card.packages[0].id) if card.packages else []
    return replace(card, why=alike.single(store, card.latest, time.time()), attempts=attempts)
