"""set-status: set a status by hand, if the files allow it (D0 Job Definition, section 5)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from shlex import quote

from d0ctl.actions import undo, wording
from d0ctl.actions.action import Action, Author, Conflict, Plan, Request
from d0ctl.actions.option import Options, ValueType, argument
from d0ctl.actions.packages.kill import out_of_reach
from d0ctl.actions.retryable import left_behind, restoring
from d0ctl.actions.selection import HOLDABLE, Split, nothing_for, split_selected
from d0ctl.errors import Refused
from d0ctl.model import Phase, Status
from d0ctl.select import Selector, quoted
from d0ctl.store import lifecycle
from d0ctl.store.connection import Selection, Store
from d0ctl.store.files import mixed_inputs
from d0ctl.store.jobs import accept, retry
from d0ctl.store.jobs.retry import NONE, Listed, Makers
from d0ctl.store.nodes import fitting
from d0ctl.store.nodes.fitting import Misfit
from d0ctl.store.views import left_out, selection
from d0ctl.units import clean, count

FROM: Mapping[str, frozenset[Phase]] = {
    Status.UNSCHEDULED: frozenset({Phase.FAILED, Phase.CANCELED, Phase.DONE}),
    Status.SUCCESSFUL: frozenset({Phase.FAILED, Phase.CANCELED}),
    Status.FAILED: frozenset({Phase.UNREACHABLE}),
    Status.CANCELED: HOLDABLE | {Phase.HELD, Phase.FAILED, Phase.UNREACHABLE},
}
"""The statuses that can be set by hand, with the phases of the packages they can be set for."""


def _read(text: str) -> str:
    if text not in FROM:
        raise ValueError(f"`{text}` can't be set by hand: one of {', '.join(FROM)}")
    return text


@dataclass(frozen=True, slots=True)
class SetStatusOptions(Options):
    """Options of set-status."""

    status: str = argument(
        "STATUS", "unscheduled, successful, failed or canceled.",
        type=ValueType(_read), choices=tuple(map(str, FROM)),
        log=lambda status: [status],
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class SetStatusPlan(Plan):
    """What setting a status would do."""

    accepting: int
    """How many packages have outputs on a node that another attempt takes over."""
    makers: Makers
    """Packages that run again, too, because their outputs were removed."""
    readers: Listed
    """Packages that have succeeded with files of these, and stay as they are."""
    failed: Listed
    """Packages that read files of these and have failed."""
    outdated: int
    """How many ran with another recipe or other inputs than their job has now."""
    rerun: tuple[str, ...]
    """What `update --again` takes to run these with those: their paths, or their job."""
    accepted: int
    """Of how many the results were accepted as they ran, with another recipe."""
    aside: int
    """How many successful packages of dropped lines stay as they are."""
    misfits: Sequence[Misfit]
    """What no node can take of those that run again."""
    left_behind: tuple[str, ...]
    """What is said of those that run again and may still run on a node out of contact."""


def plan_set_status(store: Store, request: Request[SetStatusOptions], now: float) -> SetStatusPlan:
    """Plan for the packages whose status can be set to this one."""
    status = request.options.status
    selected = selection.choose(store, request.target, now=now)
    aside = retry.leave_out_of_dropped_lines(selected) if status == Status.UNSCHEDULED else 0
    split = split_selected(selected, FROM[status])
    if not split.packages:
        raise _nothing(store, request, split, aside, now)
    accepting = (
        _count_to_accept(split.selected, request.target) if status == Status.SUCCESSFUL else 0
    )
    makers, readers, failed = Makers(), NONE, NONE
    misfits: Sequence[Misfit] = ()
    beside: tuple[str, ...] = ()
    outdated = accepted = 0
    rerun = undo.paths(request.target)
    if status == Status.UNSCHEDULED:
        retry.keep_phases(split.selected, FROM[status])
        if row := retry.unmakable(split.selected):
            raise Refused(
                f"package `{row['path']}` can't run again: nothing makes `{clean(row['name'])}` "
                "any more, which it has read",
                hint=f"d0ctl why {quote(row['path'])}",
            )
        outdated = left_out.outdated(split.selected).by_recipe
        if outdated and mixed_inputs.would_mix(split.selected):
            rerun = [request.target.job]
        accepted = retry.count_accepted(split.selected)
        misfits = fitting.misfits_selected(split.selected, now=now)
        beside = tuple(left_behind(split.selected))
        makers = retry.makers_of_removed(split.selected)
        readers, failed = retry.readers_done(split.selected), retry.readers_failed(split.selected)
    return SetStatusPlan(request=request, packages=split.packages, accepting=accepting,
                         makers=makers, readers=readers, failed=failed, outdated=outdated,
                         rerun=tuple(rerun), accepted=accepted, aside=aside,
                         misfits=misfits, left_behind=beside, **split._asdict())  # fmt: skip


def _nothing(
    store: Store, request: Request[SetStatusOptions], split: Split, aside: int, now: float
) -> Conflict:
    """Return why no package can get the status; `aside` are successful in dropped lines."""
    target, status = request.target, request.options.status
    if not aside:
        return nothing_for(split.selected, target, split.unchanged, f"set to {status}")
    hint = f"d0ctl status {quote(str(target.parts[0]))}"
    if target.is_one and target.depth >= 3:
        hint = restoring(selection.choose(store, target, now=now), target)
    line = "a dropped line" if aside == 1 else "dropped lines"
    done = count(aside, "successful package")
    return Conflict(
        f"{quoted(target.brief)} has {done} of {line}, so that can't be set to {status}", hint=hint
    )


def _count_to_accept(selected: Selection, target: Selector) -> int:
    """Count packages whose outputs exist only in an attempt. Raises Refused if one is missing."""
    retry.keep_phases(selected, FROM[Status.SUCCESSFUL])
    rows = accept.lacking(selected)
    missing = [name for row in rows if (name := accept.missing_output(row)) is not None]
    if missing:
        others = len(missing) - 1
        more = f", and {count(others, 'more package')} {'lacks' if others == 1 else 'lack'} one"
        more = more if others else ""
        raise Refused(
            f"output `{clean(missing[0])}` of `{target.brief}` is missing{more}, "
            "so it can't be set to successful",
            hint=f"d0ctl why {quote(str(target.parts[0]))}",
        )
    return len(rows)


def set_status(store: Store, plan: SetStatusPlan, by: Author) -> None:
    """Set the status of the packages."""
    status = plan.request.options.status
    note, actor, now = by.note or f"set {status} by {by.actor}", by.actor, by.now
    selected = plan.selection
    retry.keep_phases(selected, FROM[status])
    if status == Status.SUCCESSFUL:
        accept.set_successful(selected, actor=actor, note=note, now=now)
    elif status == Status.FAILED:
        accept.set_failed(selected, actor=actor, note=note, now=now)
    elif status == Status.CANCELED:
        lifecycle.kill(selected, actor=actor, note=note, now=now)
        lifecycle.cancel_failed(selected, actor=actor, note=note, now=now)
    else:
        retry.make_again(selected, actor=actor, note=note, now=now)
        # `make_again` has forgotten the outdated copies.
        retry.retry(selected, (), actor=actor, note=note, now=now)


def describe(plan: SetStatusPlan) -> Iterator[str]:
    """Say which packages would get the status."""
    yield from wording.describe_packages(plan, "set", f" to {plan.request.options.status}")
    yield from _accepting(plan)
    yield from _others(plan, "would run")


def report(plan: SetStatusPlan) -> Iterator[str]:
    """Say which packages now have the status."""
    yield from wording.report_packages(plan, "set", "set", f" to {plan.request.options.status}")
    yield from wording.unchanged(plan)
    yield from _accepting(plan)
    yield from _others(plan, "will run")


def _accepting(plan: SetStatusPlan) -> Iterator[str]:
    if plan.accepting:
        packages = count(plan.accepting, "package")
        yield f"first the outputs of {packages} are checked on their nodes; no binary runs"


def _others(plan: SetStatusPlan, will_run: str) -> Iterator[str]:
    yield from out_of_reach(plan.phases.get(Phase.UNREACHABLE, 0))
    if plan.aside:
        lines, these = ("a dropped line", "this is") if plan.aside == 1 else (
            "dropped lines", "these are")  # fmt: skip
        yield (f"{count(plan.aside, 'successful package')} of {lines} {will_run} again only once "
               f"{these} restored")  # fmt: skip
    if plan.outdated:
        packages, own = count(plan.outdated, "package"), "its" if plan.outdated == 1 else "their"
        again = undo.command("update", plan.rerun, "--again")
        yield (f"{packages} {will_run} with {own} former recipe or inputs; with those that the job "
               f"has now: {again}")  # fmt: skip
    yield from wording.accepted_before(plan.accepted)
    yield from wording.makers(plan.makers, will_run, plan.request.target.job)
    yield from wording.readers(plan.readers, "to run {them} again, once these have changed",
                               did="read earlier files of these")  # fmt: skip
    if plan.failed.number:
        packages = count(plan.failed.number, "package")
        yield f"{packages} that failed read earlier files of these: {_retry(plan.failed)}"
    yield from plan.left_behind
    yield from fitting.not_taken(plan.misfits)


def _retry(failed: Listed) -> str:
    """Return the command that retries packages, or all failed ones of the job of the first."""
    is_whole = len(failed.first) == failed.number
    targets = failed.first if is_whole else (f"{failed.first[0].partition('/')[0]}:failed",)
    return undo.command("retry", targets)


ACTION = Action(
    name="set-status",
    help="Set the status of packages by hand, if their files allow it.",
    example="reco001/2/3/1 successful --reason 'checked by hand'",
    past="set the status of",
    options=SetStatusOptions,
    plan=plan_set_status,
    act=set_status,
    describe=describe,
    report=report,
    question="do that?",
    destroys=True,
    key="M",
    title="set-status: by hand",
)
