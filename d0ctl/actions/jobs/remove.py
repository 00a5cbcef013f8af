"""remove: delete whole jobs, with their history and results."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote

from d0ctl.actions import file_choice, wording
from d0ctl.actions.action import Action, Author, Plan, Request, Way
from d0ctl.actions.jobs import _other_readers
from d0ctl.actions.option import Options, flag
from d0ctl.actions.selection import is_whole_job, jobs_of
from d0ctl.errors import BadUsage, Refused
from d0ctl.model import by_status
from d0ctl.store.connection import Store
from d0ctl.store.jobs import removal, results
from d0ctl.store.jobs.removal import OtherReaders
from d0ctl.units import count, listed

MOST_NAMED = 3
"""How many folders of kept results are named."""


@dataclass(frozen=True, slots=True)
class RemoveOptions(Options):
    """Options of remove."""

    keep_results: bool = flag(
        "--keep-results", "Move its results to results/JOB.1, or the next free number."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RemovePlan(Plan):
    """What removing jobs would lose."""

    ids: tuple[int, ...]
    files: int
    """How many files have no other copy."""
    bytes: int
    largest: tuple[tuple[str, int | None], ...]
    """The largest of these files, with their sizes."""
    results: int
    """How many files are in the jobs' folders of results."""
    asides: tuple[Path, ...]
    """The folders to which the results are moved if they are kept."""
    readers: Mapping[str, int]
    """How many packages of other jobs are canceled with them."""
    others: OtherReaders


def plan_remove(store: Store, request: Request[RemoveOptions], now: float) -> RemovePlan:
    """Plan for whole jobs without launched packages."""
    jobs = jobs_of(store, request.target)
    if not is_whole_job(request.target):
        raise BadUsage(f"`{request.target.brief}` is not a whole job, so it can't be removed",
                       hint=f"d0ctl kill {quote(str(request.target.parts[0]))}")  # fmt: skip
    for job in jobs:
        if live := by_status(job.counts)["launched"]:
            raise Refused(
                f"job `{job.name}` has {count(live, 'launched package')}, so it can't be removed",
                hint=f"d0ctl {'wait' if live == job.counts.get('killing') else 'kill'} {job.name}",
            )
        removal.check_removal(store, job.id, job.name)
    ids = tuple(job.id for job in jobs)
    names = [job.name for job in jobs]
    lost = file_choice.only_copies(store, names)
    others = removal.other_readers(store, ids, do_results_go=not request.options.keep_results)
    return RemovePlan(
        request=request,
        jobs=tuple(names),
        ids=ids,
        packages=sum(job.packages for job in jobs),
        results=sum(results.in_the_way(store.home, job.name) for job in jobs),
        asides=_existing(results.place_aside(store.home, job.name) for job in jobs),
        readers=removal.readers(store, ids),
        others=others._replace(by_path=results.readers_by_path(store, names)),
        **lost._asdict(),
    )


def _existing(folders: Iterable[Path | None]) -> tuple[Path, ...]:
    return tuple(folder for folder in folders if folder is not None)


def remove(store: Store, plan: RemovePlan, by: Author) -> None:
    """Hide the jobs; after a crash their removal continues."""
    removal.hide(store, plan.ids)


def remove_hidden(store: Store, plan: RemovePlan, now: float) -> RemovePlan:
    """Remove the results and rows of the hidden jobs, by short transactions."""
    asides: list[Path | None] = []
    for name, job in zip(plan.jobs, plan.ids, strict=True):
        aside = None
        if plan.request.options.keep_results:
            aside = results.move_aside(store.home, name)
        else:
            results.remove(store.home, name, job)
        removal.remove_rows(store, job, now=now, folder=aside)
        asides.append(aside)
    return replace(plan, asides=_existing(asides))


def describe(plan: RemovePlan) -> Iterator[str]:
    """Say what would be lost."""
    packages, own = count(plan.packages, "package"), "its" if plan.packages == 1 else "their"
    yield f"would remove {wording.jobs(plan)}: {packages} with all {own} history"
    yield from wording.only_copies(plan.largest, plan.files, plan.bytes)
    yield from _other_readers.describe(plan.readers, plan.others)
    yield f"{own} folders on the nodes are removed too"
    yield from _results(plan, "would be ")


def report(plan: RemovePlan) -> Iterator[str]:
    """Say what was removed."""
    yield f"removed {wording.jobs(plan)}"
    yield from _other_readers.report(plan.readers, plan.others)
    yield from _results(plan, "")


def _results(plan: RemovePlan, would: str) -> Iterator[str]:
    if not plan.results:
        return
    number = count(plan.results, "file")
    number = f"at least {number}" if plan.results >= results.MOST_COUNTED else number
    if plan.request.options.keep_results:
        folders = [f"`{folder}`" for folder in plan.asides[:MOST_NAMED]]
        more = len(plan.asides) - len(folders)
        folders += [f"{count(more)} more"] if more else []
        yield f"{number} in results/ {would}moved to {listed(folders)}"
    else:
        instead = "; --keep-results moves them aside instead" if would else ""
        yield f"{number} in results/ {would}removed{instead}"


ACTION = Action(
    name="remove",
    help="Delete jobs with their history and results.",
    example="reco001 --keep-results",
    past="removed",
    options=RemoveOptions,
    plan=plan_remove,
    act=remove,
    follow=remove_hidden,
    describe=describe,
    report=report,
    level="job",
    question="do that?",
    destroys=True,
    is_flag=True,
    conflicts=frozenset({"retry"}),
    key="X",
    title="remove: delete a job",
    ways=(
        Way("remove the results, too"),
        Way("move the results aside", frozenset({"--keep-results"})),
    ),
)
