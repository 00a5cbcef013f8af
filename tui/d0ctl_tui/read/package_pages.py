"""Pages of listed packages, with what the blocked ones of them wait for."""

from collections.abc import Collection, Iterable, Mapping

from msgspec import Struct, field

from d0ctl.errors import NotFound
from d0ctl.model import Phase
from d0ctl.show.why.phases.waiting import prerequisites_of
from d0ctl.store.connection import Store
from d0ctl.store.views import browse, outline
from d0ctl.store.views.shapes import JobSummary, PackageRow


class PackagePage(Struct, frozen=True):
    """Packages by their ids; `blocked` has what those wait for whose input will never come."""

    rows: Mapping[int, PackageRow] = field(default_factory=dict)
    blocked: Mapping[int, str] = field(default_factory=dict)


NO_PACKAGES = PackagePage()


def read_page(store: Store, ids: Iterable[int]) -> PackagePage:
    """Read packages; removed ones are omitted."""
    rows = outline.packages_by_id(store, ids)
    return PackagePage(rows, _blocked(store, rows.values()))


def _blocked(store: Store, rows: Collection[PackageRow]) -> dict[int, str]:
    blocked: dict[int, str] = {}
    jobs: dict[str, JobSummary | None] = {}
    lines: dict[str, bool] = {}
    for row in rows:
        if row.phase != Phase.WAITING:
            continue
        name, line = row.path.partition("/")[0], row.path.rpartition("/")[0]
        if name not in jobs:
            jobs[name] = _job(store, name)
        if (job := jobs[name]) is None:
            continue
        if line not in lines:
            lines[line] = job.blocked or _is_stuck(store, job, line)
        if lines[line]:
            blocked[row.id] = _waits_for(store, row, job)
    return blocked


def _job(store: Store, name: str) -> JobSummary | None:
    try:
        return browse.job(store, name)
    except NotFound:  # removed since
        return None


def _is_stuck(store: Store, job: JobSummary, path: str) -> bool:
    """Return whether the rest of a line waits for a failed package of it."""
    if not job.counts.get(Phase.FAILED):
        return False
    stage_number, line_number = map(int, path.split("/")[1:])
    stages = outline.stages(store, job, stage_number, stage_number)
    return any(line.blocked for stage in stages if stage.counts.get(Phase.FAILED)
               for line in outline.lines(store, job, stage, line_number, line_number)
               if not isinstance(line, PackageRow))  # fmt: skip


def _waits_for(store: Store, row: PackageRow, job: JobSummary) -> str:
    prerequisites = prerequisites_of(store, row.id, is_blocked=job.blocked)
    return f"waits for {prerequisites[0].text}" if prerequisites else ""
