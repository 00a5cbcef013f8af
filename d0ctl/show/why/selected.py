"""Why the parts of a selector are in their states."""

from collections import Counter

from d0ctl import select
from d0ctl.model import Status
from d0ctl.select import Selector, quoted
from d0ctl.show.why.common import MOST, Explanation
from d0ctl.store.connection import Store
from d0ctl.store.views import browse, selection
from d0ctl.store.views.selection import located
from d0ctl.store.views.shapes import PackageRow
from d0ctl.units import count, listed


def explain(store: Store, wanted: Selector, now: float) -> Explanation:
    """Explain a job, stage, line, package or binary, or the selected packages."""
    wanted = located(store, wanted)
    if not wanted.is_one:
        rows = selection.packages(selection.choose(store, wanted, now=now))
        if len(rows) > 1:
            return _several(store, wanted, rows, now)
        wanted = select.parse(rows[0].path)
    if wanted.level in ("package", "binary"):
        from d0ctl.show.why import package

        view = browse.package(store, wanted)
        if wanted.level == "binary":
            return package.binary(store, view, wanted.binary.first, now)
        return package.package(store, view, now)
    from d0ctl.show.why import group

    job = browse.job(store, wanted.job)
    if wanted.level == "job":
        return group.job(store, job, now)
    stage = browse.stage(store, job, wanted)
    if wanted.level == "stage":
        return group.stage(store, job, stage, now)
    line = browse.line(store, job, stage, wanted.line.first)
    return group.line(store, job, stage, line, now)


def _several(store: Store, wanted: Selector, rows: list[PackageRow], now: float) -> Explanation:
    """Count packages by status, and explain the first of those that are not done."""
    counts = Counter(row.status for row in rows)
    statuses = {str(status): counts[status] for status in Status if counts[status]}
    counted = listed(f"{number:,} {status}" for status, number in statuses.items())
    counted = f"all {next(iter(statuses))}" if len(statuses) == 1 else counted
    first = sorted(rows, key=lambda row: row.status == Status.SUCCESSFUL)[:MOST]
    facts = [explain(store, select.parse(row.path), now).answer for row in first]
    more = len(rows) - len(first)
    facts += [f"and {count(more, 'more package')}"] if more else []
    status = next(iter(statuses)) if len(statuses) == 1 else "several"
    answer = f"{count(len(rows), 'package')} of {quoted(wanted.brief)}: {counted}"
    commands = [f"d0ctl why {row.path}" for row in first[:1]]
    details = {"packages": statuses}
    return Explanation(str(wanted), status, answer, None, facts, None, commands, details)
