"""file set-disposition: set what happens to files once no package needs them."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from d0ctl.actions import undo, wording
from d0ctl.actions.action import Action, Author
from d0ctl.actions.file_choice import (
    DISPOSITIONS,
    SHOWN,
    FilePlan,
    FileRequest,
    check_disposition,
    choose,
)
from d0ctl.actions.option import Options, argument
from d0ctl.store.connection import Store
from d0ctl.store.files import selected_files
from d0ctl.store.jobs import unneeded_files
from d0ctl.units import count, size

AS_WRITTEN = "as-written"
"""Removes a person's setting: what the job file said when the package ran applies again."""

WORDS = (*DISPOSITIONS, AS_WRITTEN)


@dataclass(frozen=True, slots=True)
class DispositionOptions(Options):
    """Options of file set-disposition."""

    disposition: str = argument(
        "DISPOSITION",
        "retain-indef, retain-temp, deletable, or as-written, as its job file said.",
        choices=WORDS,
        log=lambda word: [word],
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class DispositionPlan(FilePlan):
    """What file set-disposition would do."""

    previous: tuple[str | None, ...]
    """The present dispositions of the files."""
    joins_others: bool
    """Whether files that the action does not change have the new disposition already."""
    lost: int
    """How many of the files are removed at once, without another copy."""
    lost_bytes: int


def plan(store: Store, request: FileRequest[DispositionOptions], now: float) -> DispositionPlan:
    """Plan for all files of a choice. Raises BadUsage and NotFound."""
    check_disposition(request.options.disposition, WORDS)
    joins_others = _joins_others(store, request)
    selected, weight = choose(store, request.target)
    previous = tuple(selected_files.dispositions(selected))
    lost, lost_bytes = unneeded_files.only_copies(selected, _new_disposition(request))
    return DispositionPlan(
        request=request,
        file_selection=selected,
        files=weight.files,
        bytes=weight.bytes,
        largest=selected_files.largest(selected, SHOWN),
        previous=previous,
        joins_others=joins_others,
        lost=lost,
        lost_bytes=lost_bytes,
        is_empty=previous == (_new_disposition(request),),
    )


def _new_disposition(request: FileRequest[DispositionOptions]) -> str | None:
    """Return the disposition to set, None for that of the job file."""
    word = request.options.disposition
    return None if word == AS_WRITTEN else word


def _joins_others(store: Store, request: FileRequest[DispositionOptions]) -> bool:
    """Return whether a filter by the new disposition would choose other files, too."""
    target, word = request.target, request.options.disposition
    if target.disposition is None:
        return False
    others = selected_files.select(
        store, target.job, target.name, node=target.node, disposition=word
    )
    return word == AS_WRITTEN or selected_files.weight(others).files > 0


def set_disposition(store: Store, plan: DispositionPlan, by: Author) -> None:
    """Set the disposition of files; unneeded ones are removed accordingly."""
    selected_files.set_disposition(plan.file_selection, _new_disposition(plan.request))


def describe(plan: DispositionPlan) -> Iterator[str]:
    """Say which files would get the disposition."""
    word = plan.request.options.disposition
    if plan.is_empty:
        yield f"nothing to set: {_is_set(plan)}"
        return
    yield f"would set {plan.what}, {size(plan.bytes)} to {word}"
    yield from wording.files(plan.largest, plan.files)
    if plan.lost:
        number = count(plan.lost, "file") if plan.lost == plan.files else f"{plan.lost:,} of them"
        yield (f"would remove {number}, {size(plan.lost_bytes)}, now: no package needs "
               f"{_them(plan)}, and there is no other copy")  # fmt: skip


def report(plan: DispositionPlan) -> Iterator[str]:
    """Say which files have the disposition now."""
    if plan.is_empty:
        yield f"nothing to set: {_is_set(plan)}"
        return
    yield f"set {plan.what} to {plan.request.options.disposition}"
    if plan.lost:
        yield (f"d0ctl removes {count(plan.lost, 'file')}, {size(plan.lost_bytes)}, without "
               f"another copy: an undo does not bring {_them(plan)} back")  # fmt: skip


def _is_set(plan: DispositionPlan) -> str:
    is_so = "is" if plan.files == 1 else "are"
    return f"{plan.what} {is_so} already {plan.request.options.disposition}"


def _them(plan: DispositionPlan) -> str:
    return "it" if plan.lost == 1 else "them"


def undoes(plan: DispositionPlan) -> str | None:
    """Return the command that undoes it for the same files; None if they differed before."""
    if len(plan.previous) != 1 or plan.joins_others or plan.is_empty:
        return None
    target, word = plan.request.target, plan.request.options.disposition
    back = replace(target, disposition=word if target.disposition else None)
    name, *filters = back.arguments
    return undo.command("file set-disposition", [name], plan.previous[0] or AS_WRITTEN, *filters)


ACTION = Action(
    name="file set-disposition",
    help="Set how long files are kept when no package needs them.",
    example="'reco001:*.root' deletable",
    past="set the disposition of",
    options=DispositionOptions,
    plan=plan,
    act=set_disposition,
    undo=undoes,
    describe=describe,
    report=report,
    level="file",
    question="do that?",
    title="set-disposition: how long files are kept",
)
