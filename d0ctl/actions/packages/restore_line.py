"""restore-line: bring back dropped lines, and run again what has succeeded without their files."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from shlex import quote
from typing import NamedTuple

from d0ctl.actions import undo, wording
from d0ctl.actions.action import (
    MOST_SHOWN,
    Action,
    Author,
    Change,
    Conflict,
    Plan,
    Request,
    Way,
)
from d0ctl.actions.option import Options, flag
from d0ctl.actions.packages._ended_before import EndedBefore, ended_before
from d0ctl.actions.packages._whole_lines import check_level
from d0ctl.actions.retryable import how_to_restore, removed_lines, staying
from d0ctl.actions.selection import jobs_of, rows
from d0ctl.errors import Refused
from d0ctl.model import Phase
from d0ctl.store import lifecycle
from d0ctl.store.connection import Row, Selection, Store
from d0ctl.store.files import earlier_readers
from d0ctl.store.jobs import audit, restore_line, retry
from d0ctl.store.jobs.restore_line import Rerun
from d0ctl.store.jobs.retry import Listed
from d0ctl.store.views import selection
from d0ctl.units import count, moment


class RegainingPackage(NamedTuple):
    """A package that gets inputs back; `waits` if one is still missing."""

    path: str
    gained: int
    had: int
    waits: bool


@dataclass(frozen=True, slots=True)
class RestoreLineOptions(Options):
    """Options of restore-line."""

    again: bool = flag(
        "--again", "Run again packages that succeeded without these files, and what read theirs."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreLinePlan(Plan):
    """What restore-line would do."""

    requested: tuple[int, ...] = field(repr=False, compare=False)
    """The ids of the lines that are named."""
    lines: tuple[str, ...] = ()
    """Selectors for exactly these lines."""
    removed: tuple[str, ...]  # from the job file
    also: int
    """How many packages come back because their inputs do."""
    staying: tuple[str, ...]  # what is said of packages of the lines that stay dropped
    also_restored: tuple[Change, ...]
    files: int
    files_restored: tuple[str, ...]
    regaining: tuple[RegainingPackage, ...]
    gaining: int
    again: tuple[int, ...] = field(repr=False, compare=False)
    """The packages that run again, as they have succeeded without these files."""
    running_again: tuple[Change, ...]
    rerun: Rerun
    """The packages that run again besides these, and files from outside that have changed since."""
    ended: EndedBefore
    """The packages that failed or were canceled before the drop, and are so again."""
    elsewhere: Listed
    """The packages of other jobs that have succeeded without these files, and stay as they are."""
    lacking: int
    """How many packages have succeeded before an update added these files to their inputs."""
    is_read: bool
    """Whether other packages read the files, or have read them."""


def plan_restore_line(
    store: Store, request: Request[RestoreLineOptions], now: float
) -> RestoreLinePlan:
    """Plan for the dropped lines, and for all that was dropped because of them."""
    jobs = [job.id for job in jobs_of(store, request.target)]
    check_level(request.target, "restore-line")
    selected = selection.choose(store, request.target, now=now)
    is_dropped = bool(lifecycle.lines(selected)["dropped"])
    is_canceled = Phase.CANCELED in lifecycle.phases(selected)
    lines_asked = lifecycle.line_ids(selected) if is_dropped else ()
    if not restore_line.keep_named(selected):
        raise _not_restorable(store, request, lines_asked, is_canceled)
    _check_not_ending(selected, request)
    own = restore_line.dropped_ids(selected)
    own_paths, requested = {row.path for row in rows(selected)}, lifecycle.line_ids(selected)
    lines = tuple(undo.ranges(lifecycle.paths_of_lines(selected, dropped=True)))
    restore_line.choose_restored(selected)
    _check_not_launched(selected, request, now)
    done = restore_line.done_without(selected)
    selected, rerun = restore_line.reruns_for(selected, [row["id"] for row in done], jobs)
    if (path := restore_line.repackaged(selected)) is not None:
        raise Refused(
            f"the files of package `{path}` have gone into other packages of its task, "
            "so it can't be restored",
            hint=f"d0ctl status {quote(str(request.target.parts[0]))}",
        )
    return replace(_plan(selected, request, requested, own, own_paths, done, rerun), lines=lines)


def _plan(
    selected: Selection, request: Request[RestoreLineOptions], requested: tuple[int, ...],
    own: frozenset[int], own_paths: set[str], done: Sequence[Row], rerun: Rerun,
) -> RestoreLinePlan:  # fmt: skip
    phases = lifecycle.phases(selected)
    back = [row for row in rows(selected) if row.phase == Phase.DROPPED]
    regaining = [RegainingPackage(row["path"], row["gained"], row["had"], bool(row["waits"]))
               for row in restore_line.regaining_inputs(selected)]  # fmt: skip
    lacking = restore_line.count_lacking(selected)
    elsewhere = restore_line.lacking_elsewhere(selected)
    return RestoreLinePlan(
        request=request,
        selected=selected,
        requested=requested,
        removed=restore_line.removed(selected),
        phases={p: n for p, n in phases.items() if p == Phase.DROPPED},
        packages=phases.get(Phase.DROPPED, 0),
        changes=tuple(row for row in back if row.path in own_paths)[:MOST_SHOWN],
        unchanged={p: n for p, n in phases.items() if p != Phase.DROPPED},
        also=len((back_ids := restore_line.dropped_ids(selected)) - own),
        staying=staying(selected.store, requested, len(own - back_ids)),
        also_restored=tuple(row for row in back if row.path not in own_paths)[:MOST_SHOWN],
        files=lifecycle.count_files(selected, dropped=True),
        files_restored=lifecycle.files(selected, MOST_SHOWN, dropped=True),
        regaining=tuple(regaining[:MOST_SHOWN]),
        gaining=len(regaining),
        again=tuple(row["id"] for row in done),
        running_again=tuple(Change(row["path"], row["phase"]) for row in done[:MOST_SHOWN]),
        rerun=rerun,
        ended=ended_before(selected, [job.id for job in jobs_of(selected.store, request.target)]),
        elsewhere=elsewhere,
        lacking=lacking,
        is_read=bool(
            regaining or lacking or elsewhere.number or retry.readers_done(selected).number
        ),
    )


def _not_restorable(
    store: Store, request: Request[RestoreLineOptions], lines: Sequence[int], is_canceled: bool
) -> Refused:
    """Return why nothing can be restored: of these dropped lines, or as none is dropped."""
    target = request.target
    if not lines:
        what = (
            f"line `{target.brief}` is not" if target.is_one else f"no line of `{target.brief}` is"
        )
        part = str(target.parts[0])
        retry = f"to retry its canceled packages: d0ctl retry '{part}/*:canceled'"
        return Refused(f"{what} dropped, so it can't be restored",
                       hint=retry if is_canceled else f"d0ctl status {quote(part)}")  # fmt: skip
    what = f"line `{target.brief}` was" if target.is_one else f"the lines `{target.brief}` were"
    hint = how_to_restore(store, lines) or f"`d0ctl history {target.job}` lists the dropped lines"
    return Refused(f"{what} dropped because of another line, and can only be restored with it",
                   hint=hint)  # fmt: skip


def _check_not_ending(selected: Selection, request: Request[RestoreLineOptions]) -> None:
    if ending := lifecycle.phases(selected).get(Phase.KILLING, 0):
        raise Refused(
            f"{wording.packages_are(ending)} still being killed in `{request.target.brief}`, "
            "so it can't be restored yet",
            hint=f"d0ctl status {quote(str(request.target.parts[0]))}",
        )


def _check_not_launched(
    selected: Selection, request: Request[RestoreLineOptions], now: float
) -> None:
    row = restore_line.launched_without(selected)
    if row is None or (row["phase"] == Phase.DONE and request.options.again):
        return
    at = f" at {moment(row['launched'], now)}" if row["launched"] is not None else ""
    line = "line" if request.target.is_one else "lines"
    again = undo.command("restore-line", undo.paths(request.target), "--again")
    is_own = row["path"].partition("/")[0] == request.target.parts[0].job
    when = "to run it again with them" if is_own else "to restore it, and leave that package"
    when = when if row["phase"] == Phase.DONE else "once it has ended"
    raise Conflict(
        f"can't restore {line} `{request.target.brief}`, because package `{row['path']}` "
        f"was launched without its files{at}",
        hint=f"{when}: {again}",
        entry=audit.last(selected),
    )


def bring_back(store: Store, plan: RestoreLinePlan, by: Author) -> None:
    """Restore the lines, and all that was dropped because of them."""
    restore_line.restore_and_run(
        plan.selection, plan.again, plan.requested,
        actor=by.actor, note=by.note_or("restored"), now=by.now,
    )  # fmt: skip


def describe(plan: RestoreLinePlan) -> Iterator[str]:
    """Say what would come back."""
    if plan.files and not plan.packages:
        yield f"would restore the files of `{plan.request.target.brief}`"
    elif plan.packages or not plan.staying:
        yield from wording.describe_packages(plan, "restore", named=plan.packages - plan.also)
    yield from wording.counted("also restored, because of restored inputs", plan.also, "package",
                               wording.phases(plan.also_restored))  # fmt: skip
    alone = "restored, and read by no other package"
    added = "added to the inputs of later packages" if plan.is_read else alone
    yield from wording.counted(added, plan.files, "file", plan.files_restored)
    regaining = [
        f"{gainer.path} gets {count(gainer.gained, 'input')} back beside {count(gainer.had)}"
        + (", and waits for missing files" if gainer.waits else "")
        for gainer in plan.regaining
    ]
    yield from wording.counted("reading them again", plan.gaining, "package", regaining)
    yield from wording.counted("to run again with them", len(plan.again), "package",
                               wording.phases(plan.running_again))  # fmt: skip
    yield from wording.makers(plan.rerun.makers, "would run", plan.request.target.job)
    yield from _lacking(plan)
    yield from _changed(plan)
    yield from plan.ended.lines(plan.request.target)


def report(plan: RestoreLinePlan) -> Iterator[str]:
    """Say what came back."""
    if plan.files and not plan.packages:
        yield f"restored the files of `{plan.request.target.brief}`"
    elif plan.packages or not plan.staying:
        yield from wording.report_packages(plan, "restore", "restored")
    yield from wording.unchanged(plan)
    if plan.also:
        yield f"{count(plan.also)} of them because of restored inputs"
    if plan.files and not plan.is_read:
        yield "no other package reads the restored files"
    if plan.gaining:
        reads = count(plan.gaining, "package reads", "packages read")
        yield f"{reads} the restored files again"
    if plan.again:
        runs = count(len(plan.again), "package that had succeeded without them runs",
                     "packages that had succeeded without them run")  # fmt: skip
        yield f"{runs} again"
    yield from wording.makers(plan.rerun.makers, "will run", plan.request.target.job)
    yield from _lacking(plan)
    yield from _changed(plan)
    yield from plan.ended.lines(plan.request.target)


def _lacking(plan: RestoreLinePlan) -> Iterator[str]:
    """Say which packages stay dropped, or are out of date by this, or once these have run."""
    yield from plan.staying
    yield from wording.readers(plan.elsewhere, "to run {them} again with these", " of other jobs",
                               did="run without these files")  # fmt: skip
    yield from wording.readers(plan.rerun.readers, "once these have changed", " of other jobs",
                               did="read files of those that run again")  # fmt: skip
    if plan.lacking:
        ran = count(plan.lacking, "package that ran before", "packages that ran before")
        are = "is" if plan.lacking == 1 else "are"
        again = undo.command("update", [plan.request.target.parts[0].job], "--again")
        yield f"{ran} these files were added {are} out of date again: `{again}`"
    yield from removed_lines(plan.removed)


def _changed(plan: RestoreLinePlan) -> Iterator[str]:
    """Say which files from outside have changed since the lines read them."""
    yield from wording.changed_sources(plan.rerun.anew)
    part = str(target) if (target := plan.request.target).is_one else target.parts[0].job
    for name, number in plan.rerun.earlier.items():
        yield earlier_readers.sentence(name, earlier_readers.EarlierReaders(number, part))


ACTION = Action(
    name="restore-line",
    help="Bring back dropped lines.",
    more_help="Once a package has succeeded without their files, this needs --again.",
    example="reco001/1/4",
    past="restored",
    options=RestoreLineOptions,
    plan=plan_restore_line,
    act=bring_back,
    undo=lambda plan: undo.command("kill-line", plan.lines, "--drop-outputs"),
    describe=describe,
    report=report,
    level="line",
    key="U",
    title="restore-line: undo the drop of a line",
    ways=(
        Way("bring it back"),
        Way("run again what has run without it", frozenset({"--again"})),
    ),
)
