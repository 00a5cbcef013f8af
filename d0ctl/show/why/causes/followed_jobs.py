"""Jobs whose stages another job reads, and has to follow by an update."""

from collections.abc import Sequence
from shlex import quote

from d0ctl.show.why.common import MOST
from d0ctl.store.connection import Store
from d0ctl.store.jobs.correction import texts
from d0ctl.store.views import browse
from d0ctl.store.views.shapes import JobSummary
from d0ctl.units import listed


def behind(store: Store, job: JobSummary, makers: Sequence[str]) -> list[str]:
    """Say that these jobs have changed since a job took all files of a stage of them, and what lets
    it follow.
    """
    update = f"`d0ctl update {quote(job.name)}`"
    gone = {name: lost for name in makers if (lost := _lost(store, job, name))}
    then = f"; change `from` in the job file of `{job.name}`, then {update}"
    facts = [lost + then * (not store.home.archive) for lost in gone.values()]
    if others := [f"`{name}`" for name in makers if name not in gone]:
        follow = "" if store.home.archive else f": {update} takes the files as they are now"
        changed = "got or lost lines, or makes other files, since this job took those of a stage"
        facts.append(f"{listed(others)} {changed}{follow}")
    return facts


def _lost(store: Store, job: JobSummary, maker: str) -> str:
    """Say which stages a maker has no more that a job file names, and which it has."""
    there = [stage.name for stage in browse.stages(store, browse.job(store, maker))]
    lost = [f"`{name}`" for name in texts.names_in(store, job.id, maker)
            if name not in there and not name.isdecimal()]  # fmt: skip
    has = [f"`{name}`" for name in there[:MOST]] + ["others"] * (len(there) > MOST)
    return f"job `{maker}` no longer has stage {listed(lost)}: it has {listed(has)}" if lost else ""
