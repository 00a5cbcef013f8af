"""kill-line: end lines, and on request let later packages continue without their outputs."""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from d0ctl.actions import undo, wording
from d0ctl.actions.action import MOST_SHOWN, Action, Author, Change, Conflict, Plan, Request, Way
from d0ctl.actions.option import Options, flag
from d0ctl.actions.packages._losing import NONE_LOSING, STAY, LosingPackages, losing_packages
from d0ctl.actions.packages._whole_lines import check_level, needing_elsewhere
from d0ctl.actions.packages.kill import WAIT, being_killed
from d0ctl.actions.selection import KILLABLE, jobs_of, rows, split_selected
from d0ctl.model import Phase
from d0ctl.store import lifecycle
from d0ctl.store.connection import Selection, Store
from d0ctl.store.jobs import audit, require, restore_line, retry
from d0ctl.store.jobs.audit import AuditEntry
from d0ctl.store.jobs.require import MOST_NAMED, Enough
from d0ctl.store.jobs.retry import NONE, Listed
from d0ctl.store.lifecycle import NONE_UNREAD, UnreadFiles
from d0ctl.store.views import selection
from d0ctl.units import count

RESTORE = "restore-line"
"""The action that undoes a drop."""


@dataclass(frozen=True, slots=True)
class KillLineOptions(Options):
    """Options of kill-line."""

    drop_outputs: bool = flag(
        "--drop-outputs", "Remove their files from the inputs of later packages."
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class KillLinePlan(Plan):
    """What kill-line would do; most of it is about dropped outputs."""

    is_awaited: bool = False
    """Whether other packages wait for these, if the outputs are not dropped."""
    requested: tuple[int, ...] = field(default=(), repr=False, compare=False)
    """The ids of the lines that are named."""
    lines: tuple[str, ...] = ()
    """Selectors for exactly those of them that are not dropped yet."""
    also: int = 0
    """How many packages are dropped because their inputs are."""
    also_dropped: tuple[Change, ...] = ()
    followed: tuple[Change, ...] = ()
    """The first successful packages that have no other input, so that their files are dropped."""
    following: int = 0
    """How many these are."""
    files: int = 0
    files_lost: tuple[str, ...] = ()
    losing: LosingPackages = NONE_LOSING
    is_lacked: bool = False
    """Whether packages have run without these files before, so that an undo needs --again."""
    readers: Listed = NONE
    """Packages that have succeeded with these files, and stay as they are."""
    launched: Listed = NONE
    """Launched packages that have these files, and go on with them."""
    lacking: frozenset[str] = frozenset()
    """The jobs of those that can't run again without these files."""
    needing: Listed = NONE
    """The lines of other jobs with those of them that require these files."""
    behind: Listed = NONE
    """Those that may need them, in jobs that have not followed new or removed lines yet."""
    unread: UnreadFiles = NONE_UNREAD
    """The inputs that are removed, as no other package is to read them."""
    enough: tuple[Enough, ...] = ()
    """Stages of which `require` then drops other lines."""
    held: tuple[str, ...] = ()
    """The jobs that start nothing until they are released."""
    paused: tuple[str, ...] = ()
    """Those that start nothing until they are resumed."""


def plan_kill_line(store: Store, request: Request[KillLineOptions], now: float) -> KillLinePlan:
    """Plan for whole lines, and with dropped outputs for all packages that can't run without."""
    target = request.target
    jobs = jobs_of(store, target)
    check_level(target, "kill-line", " --drop-outputs" * request.options.drop_outputs)
    selected = selection.choose(store, target, now=now)
    if not lifecycle.lines(selected)["undropped"]:
        subject = "line" if target.is_one else "every line of"
        raise Conflict(
            f"{subject} `{target.brief}` is already dropped",
            hint=f"d0ctl status {shlex.quote(str(target.parts[0]))}",
            entry=audit.last(selected),
        )
    lines = tuple(undo.ranges(lifecycle.paths_of_lines(selected, dropped=False)))
    if request.options.drop_outputs:
        return replace(
            _plan_drop(selected, request),
            lines=lines,
            held=tuple(job.name for job in jobs if job.hold),
            paused=tuple(job.name for job in jobs if job.pause),
        )
    split = split_selected(selected, KILLABLE | {Phase.FAILED}, hastens=True)
    is_awaited = lifecycle.is_awaited(split.selected)
    return KillLinePlan(request=request, packages=split.packages, is_awaited=is_awaited,
                        is_empty=not split.packages, lines=lines, **split._asdict())  # fmt: skip


def _plan_drop(selected: Selection, request: Request[KillLineOptions]) -> KillLinePlan:
    own = lifecycle.phases(selected)
    own_paths = {row.path for row in rows(selected)}
    requested = lifecycle.line_ids(selected)
    lifecycle.choose_without_inputs(selected)
    selected, enough = require.enough_without(selected)
    phases = lifecycle.phases(selected)
    stay = {p: n for p, n in phases.items() if p in (Phase.DONE, Phase.TRANSFERRING, Phase.DROPPED)}
    leaving = [row for row in rows(selected) if row.phase not in stay]
    followed = [row for row in rows(selected)
                if row.phase == Phase.DONE and row.path not in own_paths]  # fmt: skip
    following = stay.get(Phase.DONE, 0) - own.get(Phase.DONE, 0)
    everything = sum(phases.values())
    packages = everything - sum(stay.values())
    files = lifecycle.count_files(selected, dropped=False)
    launched = lifecycle.launched_readers(selected)
    return KillLinePlan(
        request=request,
        selected=selected,
        requested=requested,
        phases={p: n for p, n in phases.items() if p not in stay},
        packages=packages,
        changes=tuple(row for row in leaving if row.path in own_paths)[:MOST_SHOWN],
        unchanged=stay,
        also=everything - sum(own.values()) - following,
        also_dropped=tuple(row for row in leaving if row.path not in own_paths)[:MOST_SHOWN],
        followed=tuple(followed[:MOST_SHOWN]),
        following=following,
        files=files,
        files_lost=lifecycle.files(selected, MOST_SHOWN, dropped=False),
        losing=losing_packages(selected, enough=bool(enough)),
        is_lacked=restore_line.launched_without(selected) is not None,
        readers=retry.readers_done(selected),
        launched=retry.with_needs(selected.store, retry.listed(launched)),
        lacking=frozenset(row["path"].partition("/")[0] for row in launched if row["lacks"]),
        needing=retry.lines_needing_elsewhere(selected),
        behind=retry.lines_needing_elsewhere(selected, behind=True),
        unread=lifecycle.left_unread(selected),
        enough=enough,
        is_empty=not packages and not files,
    )


def kill_line(store: Store, plan: KillLinePlan, by: Author) -> None:
    """End the lines, and on request remove their files from all inputs."""
    if plan.request.options.drop_outputs:
        lifecycle.drop(plan.selection, plan.requested, actor=by.actor,
                       note=by.note_or("dropped"), now=by.now)  # fmt: skip
    else:
        lifecycle.kill(plan.selection, actor=by.actor, note=by.note_or("killed"), now=by.now)
        lifecycle.cancel_failed(plan.selection, actor=by.actor, note=by.note, now=by.now)


def undo_kill_line(plan: KillLinePlan) -> str | None:
    """Return the command that undoes it."""
    if not (paths := plan.lines) or plan.is_empty:
        return None
    if plan.request.options.drop_outputs:
        # By then, packages that go on, or run again, without these files may have succeeded.
        read = bool(plan.losing) or plan.is_lacked or plan.readers.number > 0 or bool(plan.enough)
        paths += tuple(path for stage in plan.enough for path in stage.paths)
        return undo.command(RESTORE, paths, *["--again"] * read)
    if (before := plan.unchanged.get(Phase.CANCELED, 0)) or plan.request.target.is_filtered:
        return undo.of_state("retry", plan, "canceled,failed", before)
    return undo.command("retry", [f"{path}:canceled,failed" for path in paths])


def describe(plan: KillLinePlan) -> Iterator[str]:
    """Say what kill-line would do."""
    if plan.request.options.drop_outputs:
        if plan.files and not plan.packages:
            of = plan.request.target.brief
            yield f"would drop the files of `{of}`; there is no package to drop"
        else:
            named, stay = plan.packages - plan.also, STAY[bool(plan.files)]
            yield from wording.describe_packages(plan, "drop", named=named, stay=stay)
        if not plan.is_empty:
            yield from _describe_drop(plan)
        return
    yield from wording.describe_packages(plan, "kill")
    if plan.packages and plan.is_awaited:
        yield WAIT
        yield from _way_on(plan)


def _way_on(plan: KillLinePlan) -> Iterator[str]:
    """Say how the job continues, which it does not by itself; name exactly these lines."""
    target = plan.request.target
    paths = plan.lines if target.is_filtered or target.also else (target.path,)
    if len(paths) <= MOST_NAMED:
        lines = "this line" if target.is_one else "these lines"
        command = shlex.join(["d0ctl", "kill-line", *paths, "--drop-outputs"])
        yield f"to continue without {lines}: {command}"


def _describe_drop(plan: KillLinePlan) -> Iterator[str]:
    yield from wording.counted("also dropped, because of dropped inputs", plan.also, "package",
                               wording.phases(plan.also_dropped))  # fmt: skip
    yield from wording.counted(
        "successful, and left without inputs, so that their files are dropped, too",
        plan.following, "package", wording.phases(plan.followed),
    )  # fmt: skip
    is_read = plan.losing or plan.readers.number or plan.launched.number
    alone = "dropped, and read by no other package"
    removed = "removed from the inputs of later packages" if is_read else alone
    yield from wording.counted(removed, plan.files, "file", plan.files_lost)
    yield from plan.losing.plan()
    for stage in plan.enough:
        ready = f", and {count(stage.starting, 'package')} will be ready" if stage.starting else ""
        yield f"then {stage.reason}: {_others(stage)} will be dropped{ready}"
    yield from _left(plan)
    yield from _starts_nothing(plan)


def _others(stage: Enough) -> str:
    return count(stage.lines, "other line of it", "other lines of it")


def _left(plan: KillLinePlan) -> Iterator[str]:
    """Say which packages have read the files, or go on with them, which lines of other jobs need
    them, and can't run again without, and which inputs nothing reads now.
    """
    refused = {path.partition("/")[0] for path in (*plan.needing.first, *plan.behind.first)}
    yield from wording.readers(plan.readers, "to run {them} again without", besides=refused)
    yield from wording.readers(
        plan.launched, "to run {them} again without, after the end", " already launched",
        besides=refused | plan.lacking, did="these files or what was made of them",
        then="will go on with them",
    )  # fmt: skip
    yield from needing_elsewhere(plan.needing, plan.behind)
    yield from wording.left_unread(plan.unread)


def _starts_nothing(plan: KillLinePlan) -> Iterator[str]:
    """Say which jobs start none of the packages that continue without the files."""
    if plan.losing.number or plan.enough:
        yield from wording.start_nothing(plan.held, plan.paused)


def report(plan: KillLinePlan) -> Iterator[str]:
    """Say what was killed or dropped."""
    drops = plan.request.options.drop_outputs
    if drops and plan.files and not plan.packages:
        yield f"dropped the files of `{plan.request.target.brief}`; there was no package to drop"
    else:
        verb, past = ("drop", "dropped") if drops else ("kill", "killed")
        yield from wording.report_packages(plan, verb, past)
    yield from being_killed(plan)
    yield from wording.unchanged(plan, STAY[bool(plan.files)])
    yield from undo.lasting(plan.undo, 0 if drops else plan.unchanged.get(Phase.CANCELED, 0))
    yield from () if drops else undo.unheld(plan)
    if not drops and plan.packages and plan.is_awaited:
        yield from _way_on(plan)
    if plan.also:
        yield f"{count(plan.also)} of them because of dropped inputs"
    if plan.following:
        left = count(plan.following, "successful package", "successful packages")
        yield f"the files of {left}, left without inputs, are dropped, too"
    yield from plan.losing.report()
    for stage in plan.enough:
        are = count(stage.starting, "package is ready now", "packages are ready now")
        starting = f"; {are}" if stage.starting else ""
        yield f"now {stage.reason}: {_others(stage)} dropped{starting}"
    yield from _left(plan)
    yield from _starts_nothing(plan)


def past(entry: AuditEntry) -> str:
    """Return the past tense, which depends on its undo."""
    return "dropped" if undo.verb(entry.undo) == RESTORE else "killed"


ACTION = Action(
    name="kill-line",
    help="End lines; with --drop-outputs, the job continues.",
    example="reco001/1/4 --drop-outputs --reason 'bad tape'",
    past=past,
    options=KillLineOptions,
    plan=plan_kill_line,
    act=kill_line,
    undo=undo_kill_line,
    describe=describe,
    report=report,
    level="line",
    question="do that?",
    destroys=True,
    key="D",
    title="kill-line: end or drop it",
    ways=(
        Way("drop the outputs, too", frozenset({"--drop-outputs"})),
        Way("only kill: later packages wait"),
    ),
)
