"""archive: move jobs that have ended out of the database."""

import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from d0ctl.actions import file_choice, wording
from d0ctl.actions.action import Action, Author, Plan, Request
from d0ctl.actions.jobs import _other_readers
from d0ctl.actions.option import Options, ValueType, value
from d0ctl.actions.selection import has_ended, is_whole_job, jobs_of
from d0ctl.errors import BadUsage, Refused
from d0ctl.model import Group
from d0ctl.select import WILD, Selector
from d0ctl.store import lifecycle
from d0ctl.store.connection import Store
from d0ctl.store.jobs import archive as files
from d0ctl.store.jobs import removal
from d0ctl.store.jobs.removal import OtherReaders
from d0ctl.store.views import browse
from d0ctl.store.views.shapes import JobSummary
from d0ctl.units import duration, format_time, parse_period


def _name(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", text):
        raise ValueError(f"`{text}` can't be an archive's name: letters, digits, `.`, `_` and `-`")
    return text


@dataclass(frozen=True, slots=True)
class ArchiveOptions(Options):
    """Options of archive."""

    name: str | None = value(
        "--as", "NAME", "Name of the archive (default: today's date).", type=ValueType(_name),
        example="NAME",
    )  # fmt: skip
    ended: float | None = value(
        "--ended", "TIME", "Only jobs that ended at least this time ago, e.g. `90d`.",
        type=ValueType(parse_period, lambda seconds: [format_time(seconds)]), example="90d",
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class ArchivePlan(Plan):
    """Which jobs go to which archive, and the files on nodes and in the cache that are lost."""

    archive: str
    ids: tuple[int, ...]
    files: int = 0
    """How many files have no other copy."""
    bytes: int = 0
    largest: tuple[tuple[str, int | None], ...] = ()
    readers: Mapping[str, int] = field(default_factory=dict)
    """How many packages of other jobs are canceled with them."""
    others: OtherReaders = field(default_factory=OtherReaders)


def plan_archive(store: Store, request: Request[ArchiveOptions], now: float) -> ArchivePlan:
    """Plan for jobs that have ended. Raises Refused for a named job that has not."""
    if not is_whole_job(request.target):
        raise BadUsage(
            f"`{request.target.brief}` is not a whole job, but only jobs can be archived"
        )
    options, target = request.options, request.target
    found = [] if options.ended and _matches_none(store, target) else jobs_of(store, target)
    jobs = [job for job in found if _may_go(store, job, target, options.ended, now)]
    ids = tuple(job.id for job in jobs)
    lost = file_choice.only_copies(store, [job.name for job in jobs])
    name = files.free_name(store.home, options.name or time.strftime("%F", time.localtime(now)))
    return ArchivePlan(
        request=request,
        archive=name,
        jobs=tuple(job.name for job in jobs),
        ids=ids,
        packages=sum(job.packages for job in jobs),
        is_empty=not jobs,
        readers=removal.readers(store, ids),
        others=removal.other_readers(store, ids, do_results_go=False),
        **lost._asdict(),
    )


def _matches_none(store: Store, target: Selector) -> bool:
    """Return whether it has only patterns, and no job matches them."""
    return all(
        WILD.intersection(part.job) and not browse.has_job(store, part.job) for part in target.parts
    )


def _may_go(store: Store, job: JobSummary, target: Selector, age: float | None, now: float) -> bool:
    """Return whether a job can be archived; if not, only one given by its own name is refused."""
    is_named = any(part.job == job.name for part in target.parts)
    try:
        if not has_ended(job) and job.status != Group.FAILED:
            verb = "why" if job.hold or job.pause else "wait"
            raise Refused(f"job `{job.name}` has not ended, so it can't be archived",
                          hint=f"d0ctl {verb} {job.name}")  # fmt: skip
        # without a daemon, nobody has recorded the end
        if age is not None and (job.ended is None or job.ended > now - age):
            raise Refused(f"job `{job.name}` has ended less than {duration(age)} ago")
        removal.check_removal(store, job.id, job.name, "archived")
    except Refused:
        if is_named:
            raise
        return False
    return True


def archive(store: Store, plan: ArchivePlan, by: Author) -> None:
    """Write the archive, then hide the jobs if nobody has changed them."""
    if plan.is_empty:
        return
    last = files.write(store, plan.ids, plan.archive, now=by.now)
    with store.writing():
        is_changed = files.is_changed(store, plan.ids, last)
        if not is_changed:
            lifecycle.keep_action(
                store, verb="archive", target=" ".join(plan.jobs), actor=by.actor, note=by.note,
                packages=plan.packages, now=by.now,
            )  # fmt: skip
            removal.hide(store, plan.ids)
    if is_changed:
        files.remove(store.home, plan.archive)
        raise Refused("a package of these jobs was changed meanwhile, so none is archived",
                      hint=plan.request.command())  # fmt: skip


def remove_hidden(store: Store, plan: ArchivePlan, now: float) -> None:
    """Remove the rows of the hidden jobs, by short transactions."""
    if plan.is_empty:
        return
    for job in reversed(plan.ids):
        removal.remove_rows(store, job, now=now)
    store.shrink()


def describe(plan: ArchivePlan) -> Iterator[str]:
    """Say what would be archived, and lost."""
    if plan.is_empty:
        yield _nothing(plan)
        return
    yield f"would move {wording.jobs(plan)} to archive `{plan.archive}`{_taken(plan)}"
    yield from wording.only_copies(plan.largest, plan.files, plan.bytes)
    yield from _other_readers.describe(plan.readers, plan.others)
    own = "its" if len(plan.jobs) == 1 else "their"
    yield f"{own} results stay, {own} folders on the nodes are removed, with logs"


def report(plan: ArchivePlan) -> Iterator[str]:
    """Say what was archived, and how to see it."""
    if plan.is_empty:
        yield _nothing(plan)
        return
    yield f"moved {wording.jobs(plan)} to archive `{plan.archive}`{_taken(plan)}"
    yield from _other_readers.report(plan.readers, plan.others)
    yield f"d0ctl status --archive {plan.archive} shows the archived jobs"


def _taken(plan: ArchivePlan) -> str:
    """Say why the archive has another name than the given one."""
    name = plan.request.options.name
    return f", as there is an archive `{name}`" if name not in (None, plan.archive) else ""


def _nothing(plan: ArchivePlan) -> str:
    return f"nothing to archive: no job of `{plan.request.target.brief}` has ended long enough ago"


ACTION = Action(
    name="archive",
    help="Move ended jobs with their history to an archive.",
    example="'*' --ended 90d",
    past="archived",
    options=ArchiveOptions,
    plan=plan_archive,
    act=archive,
    follow=remove_hidden,
    describe=describe,
    report=report,
    level="job",
    in_pieces=True,
    question="do that?",
    destroys=True,
    is_flag=True,
    conflicts=frozenset({"retry", "remove"}),
    key="V",
    title="archive: move ended jobs away",
)
