"""A plan in words, and how a verb shows it, asks, and carries it out."""

import shlex
from collections.abc import Iterator, Mapping

import typer

from d0ctl import verbs
from d0ctl.cli import session
from d0ctl.cli.output import can_ask, confirmed, emit, say
from d0ctl.errors import ExitCode
from d0ctl.format import clean, count
from d0ctl.verbs import Change, Plan, Request

MOST_NAMED = 10

_VERB = {
    "hold": ("hold", "held"),
    "release": ("release", "released"),
    "kill": ("kill", "killed"),
    "kill-line": ("kill", "killed"),
    "remove": ("remove", "removed"),
}


def carry_out(
    request: Request, *, note: str | None, dry_run: bool, yes: bool = True, question: str = ""
) -> None:
    """Show the plan or apply it; where `question` is given, a person on a terminal is asked."""
    with session.writer() as store:
        if dry_run:
            for line in describe(verbs.preview(store, request)):
                emit(line)
            return
        if question and not yes and can_ask():
            for line in describe(verbs.preview(store, request)):
                say(line)
            if not confirmed(question):
                say("nothing was done")
                raise typer.Exit(ExitCode.FAILED)
        plan = verbs.apply(store, request, actor=session.actor(), note=note)
    for line in report(plan):
        emit(line)


def describe(plan: Plan) -> list[str]:
    """What the plan would do, a sentence a line."""
    return [clean(line) for line in _describe(plan)]


def _describe(plan: Plan) -> Iterator[str]:
    verb, _ = _VERB[plan.request.verb]
    target = plan.request.target
    if plan.request.verb == "remove":
        yield from _describe_removal(plan)
        return
    if plan.by_flag:
        yield f"would {verb} {_jobs(plan)}: {_idle(plan)}"
        return
    word = "drop" if plan.request.drop_outputs else verb
    if plan.packages:
        yield f"would {word} {count(plan.packages, 'package')}: {_phases(plan.phases)}"
        yield from _changes(plan.changes, plan.packages - plan.also)
    else:
        yield f"nothing is left to {verb} in `{target}`"
    if plan.kept:
        yield f"as they are stay {_phases(plan.kept)}"
    if plan.request.drop_outputs:
        yield from _describe_drop(plan)
    elif plan.request.verb in ("kill", "kill-line"):
        yield "consumers of what they were to make stay waiting"
        if target.level == "line":
            yield f"to go on without it: d0ctl kill-line {shlex.quote(str(target))} --drop-outputs"


def _describe_drop(plan: Plan) -> Iterator[str]:
    if plan.also:
        yield f"dropped too, for want of what they need: {count(plan.also, 'package')}"
        yield from _changes(plan.also_dropped, plan.also)
    if plan.files:
        yield f"leaving every input list: {count(plan.files, 'file')}"
        yield from _few(plan.files_lost, plan.files)
    if plan.losing:
        yield f"going on without them: {count(plan.losing, 'package')}"
        told = [
            f"{loser.path} loses {count(loser.lost, 'input')}, keeps {count(loser.left)}"
            + (", and can start now" if loser.starts else "")
            for loser in plan.losers
        ]
        yield from _few(told, plan.losing)
    else:
        yield "no package waits for its files"


def _describe_removal(plan: Plan) -> Iterator[str]:
    yield f"would remove {_jobs(plan)}: {count(plan.packages, 'package')} with all their history"
    yield "their folders on the nodes go, too; what lies in results/ stays"


def _jobs(plan: Plan) -> str:
    names = [f"`{name}`" for name in plan.jobs[:MOST_NAMED]]
    more = f" and {len(plan.jobs) - MOST_NAMED} more" if len(plan.jobs) > MOST_NAMED else ""
    return f"{'job' if len(plan.jobs) == 1 else 'jobs'} {', '.join(names)}{more}"


def _idle(plan: Plan) -> str:
    start = count(plan.packages, "package")
    if plan.request.verb == "hold":
        return f"{start} would not start; what runs goes on"
    return f"{start} could go on"


def _phases(phases: Mapping[str, int] | None) -> str:
    return ", ".join(f"{count(n)} {phase}" for phase, n in (phases or {}).items())


def _changes(changes: tuple[Change, ...], number: int) -> Iterator[str]:
    yield from _few([f"{change.path}  {change.phase}" for change in changes], number)


def _few(lines: list[str] | tuple[str, ...], number: int) -> Iterator[str]:
    for line in lines[:MOST_NAMED]:
        yield f"  {line}"
    if number > MOST_NAMED:
        yield f"  and {count(number - min(len(lines), MOST_NAMED))} more"


def report(plan: Plan) -> list[str]:
    """What was done, a sentence a line."""
    return [clean(line) for line in _report(plan)]


def _report(plan: Plan) -> Iterator[str]:
    _, past = _VERB[plan.request.verb]
    if plan.jobs:
        yield f"{past} {_jobs(plan)}"
        if plan.request.verb == "remove":
            yield "what lies in results/ stays"
        return
    if plan.request.drop_outputs:
        past = "dropped"
    yield f"{past} {count(plan.packages, 'package')} of `{plan.request.target}`"
    live = sum(n for phase, n in (plan.phases or {}).items() if phase in verbs.LIVE)
    if live and plan.request.verb != "hold":
        yield f"{count(live, 'package is', 'packages are')} being ended on the nodes"
    if plan.kept:
        yield f"as they were stay {_phases(plan.kept)}"
    if plan.also:
        yield f"of them {count(plan.also)} for want of what they need"
    if plan.losing:
        starting = f", {count(plan.starting)} can start now" if plan.starting else ""
        goes = count(plan.losing, "package goes", "packages go")
        yield f"{goes} on without the files{starting}"
