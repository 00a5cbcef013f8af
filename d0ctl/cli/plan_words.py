"""A plan in words: what it would do, and what was done."""

import shlex
from collections.abc import Iterator, Mapping, Sequence

from d0ctl import actions
from d0ctl.actions import Change, Changes, Plan
from d0ctl.store.jobs.results import MOST_COUNTED
from d0ctl.units import clean, count, duration, size

MOST_NAMED = 10

_VERB = {
    "hold": ("hold", "held"),
    "release": ("release", "released"),
    "pause": ("pause", "paused"),
    "resume": ("resume", "resumed"),
    "retry": ("retry", "retried"),
    "kill": ("kill", "killed"),
    "kill-line": ("kill", "killed"),
    "restore-line": ("restore", "restored"),
    "finish": ("finish", "finished"),
    "set-status": ("set", "set"),
    "remove": ("remove", "removed"),
}


def describe(plan: Plan) -> list[str]:
    """What the plan would do, a sentence a line."""
    return [clean(line) for line in _describe(plan)]


def report(plan: Plan) -> list[str]:
    """What was done, a sentence a line."""
    return [clean(line) for line in _report(plan)]


def _describe(plan: Plan) -> Iterator[str]:
    verb = plan.request.verb
    if verb == "remove":
        yield from _describe_removal(plan)
    elif verb == "priority":
        yield (f"would change the priority of {_jobs(plan)} to {plan.request.priority}: "
               f"{_idle(plan)}")  # fmt: skip
    elif plan.by_flag:
        yield f"would {_VERB[verb][0]} {_jobs(plan)}{_more(plan)}: {_idle(plan)}"
        if plan.grace is not None:
            yield _grace(plan)
    else:
        yield from _describe_packages(plan)


def _describe_packages(plan: Plan) -> Iterator[str]:
    request = plan.request
    word = "drop" if request.drop_outputs else _VERB[request.verb][0]
    if plan.packages:
        yield f"would {word} {count(plan.packages, 'package')}{_more(plan)}: {_phases(plan.phases)}"
        yield from _changes(plan.changes, plan.packages - plan.also)
    else:
        yield f"no package is left to {word} in `{request.target.brief}`"
    if plan.kept:
        yield f"unchanged: {_phases(plan.kept)}"
    yield from _hopeless(plan)
    yield from _accepting(plan)
    if request.drop_outputs:
        yield from _describe_drop(plan)
    elif request.verb == "restore-line":
        yield from _describe_restoration(plan)
    elif request.verb in ("kill", "kill-line", "finish"):
        if plan.grace is not None:
            yield f"{_grace(plan)}; killing it again is quicker"
        yield "consumers of what they were to make stay waiting"
        if request.target.level == "line" and not request.target.also:
            target = shlex.quote(request.target.path)
            yield f"to go on without it: d0ctl kill-line {target} --drop-outputs"


def _grace(plan: Plan) -> str:
    return f"a running binary has {duration(plan.grace or 0.0)} to end by itself"


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


def _describe_restoration(plan: Plan) -> Iterator[str]:
    if plan.also:
        yield f"back with it, as they lack nothing any more: {count(plan.also, 'package')}"
        yield from _changes(plan.also_dropped, plan.also)
    if plan.files:
        yield f"back in the input lists: {count(plan.files, 'file')}"
        yield from _few(plan.files_lost, plan.files)
    if plan.gaining:
        yield f"reading them again: {count(plan.gaining, 'package')}"
        told = [
            f"{gainer.path} gets {count(gainer.gained, 'input')} back beside {count(gainer.had)}"
            + (", and waits for what is not there" if gainer.waits else "")
            for gainer in plan.gainers
        ]
        yield from _few(told, plan.gaining)


def _describe_removal(plan: Plan) -> Iterator[str]:
    yield f"would remove {_jobs(plan)}: {count(plan.packages, 'package')} with all their history"
    if plan.files:
        files = count(plan.files, "file")
        yield f"would lose {files}, {size(plan.bytes)}, of which there is no other copy:"
        yield from named(plan.weights, plan.files)
    yield "their folders on the nodes are removed too"
    yield from _results(plan, "would be ")


def _results(plan: Plan, would: str) -> Iterator[str]:
    """What becomes of the delivered files of jobs that are removed."""
    if not plan.results:
        return
    files = count(plan.results, "file")
    files = f"at least {files}" if plan.results >= MOST_COUNTED else files
    if plan.request.keep_results:
        yield f"{files} in results/ {would}moved aside, to `JOB.1` or the next free number"
    else:
        yield f"{files} in results/ {would}removed; --keep-results moves them aside instead"


def named(weights: Sequence[tuple[str, int | None]], number: int) -> Iterator[str]:
    """The first of so many files, with their sizes."""
    shown = [
        f"{name}" + ("" if weight is None else f"  {size(weight)}") for name, weight in weights
    ]
    yield from _few(shown[:MOST_NAMED], number)


def _hopeless(plan: Plan) -> Iterator[str]:
    for why, number in (plan.hopeless or {}).items():
        yield f"refused: {count(number, 'package')}, because {why}"


def _accepting(plan: Plan) -> Iterator[str]:
    if plan.accepting:
        packages = count(plan.accepting, "package")
        yield f"first the outputs of {packages} are checked on their nodes; no binary runs"


def _more(plan: Plan) -> str:
    """What a verb was given besides its target."""
    request = plan.request
    if request.verb == "set-status":
        return f" {request.status}"
    if request.verb == "finish":
        return " the hard way" if request.hard else ""
    if request.verb == "retry" and (wishes := list(_wishes(request.changes))):
        return f" with {', '.join(wishes)}"
    return ""


def _wishes(changes: Changes) -> Iterator[str]:
    if changes.memory is not None:
        yield f"{size(changes.memory)} of memory"
    if changes.disk is not None:
        yield f"{size(changes.disk)} of disk"
    if changes.cpus is not None:
        yield count(changes.cpus, "cpu")
    if changes.wall_time is not None:
        yield f"a wall time of {duration(changes.wall_time)}"
    if changes.nodes:
        yield f"{'node' if len(changes.nodes) == 1 else 'nodes'} {' or '.join(changes.nodes)}"
    yield from (f"{name}={value}" for name, value in changes.environment.items())
    yield from (f"{name}={value}" for name, value in changes.parameters.items())
    if changes.from_scratch:
        yield "nothing that earlier attempts kept"


def _jobs(plan: Plan) -> str:
    names = [f"`{name}`" for name in plan.jobs[:MOST_NAMED]]
    more = f" and {len(plan.jobs) - MOST_NAMED} more" if len(plan.jobs) > MOST_NAMED else ""
    return f"{'job' if len(plan.jobs) == 1 else 'jobs'} {', '.join(names)}{more}"


def _idle(plan: Plan) -> str:
    """What becomes of the packages of jobs whose flag is changed."""
    idle, live = count(plan.packages, "package"), count(plan.launched, "package")
    if plan.request.verb == "finish":
        ends = "ended on the nodes" if plan.request.hard else "left to end by themselves"
        return f"{_number(plan.packages)} would be canceled" + (
            f", {live} {ends}" if plan.launched else ""
        )
    if plan.request.verb in ("hold", "pause"):
        rest = f"{live} would be suspended" if plan.launched else "what runs goes on"
        return f"{idle} would not start; {rest}"
    if plan.request.verb == "priority":
        return f"{idle} may start earlier or later"
    return f"{idle} could go on"


def _phases(phases: Mapping[str, int] | None) -> str:
    return ", ".join(f"{count(n)} {phase}" for phase, n in (phases or {}).items())


def _changes(changes: tuple[Change, ...], number: int) -> Iterator[str]:
    yield from _few([f"{change.path}  {change.phase}" for change in changes], number)


def _few(lines: list[str] | tuple[str, ...], number: int) -> Iterator[str]:
    for line in lines[:MOST_NAMED]:
        yield f"  {line}"
    if number > MOST_NAMED:
        yield f"  and {count(number - min(len(lines), MOST_NAMED))} more"


def _report(plan: Plan) -> Iterator[str]:
    request = plan.request
    if request.verb == "priority":
        yield f"the priority of {_jobs(plan)} is now {request.priority}"
        return
    past = "dropped" if request.drop_outputs else _VERB[request.verb][1]
    if plan.jobs:
        yield f"{past} {_jobs(plan)}"
        yield from _report_jobs(plan)
        return
    if plan.packages:
        yield f"{past} {count(plan.packages, 'package')} of `{request.target.brief}`{_more(plan)}"
    elif plan.files:
        yield f"dropped the files of `{request.target.brief}`; no package was left to drop"
    else:
        yield f"no package was left to {_VERB[request.verb][0]} in `{request.target.brief}`"
    ending = _ending(plan)
    if ending:
        yield f"{count(ending, 'package is', 'packages are')} being ended on the nodes"
    if plan.launched and request.verb in ("pause", "resume"):
        asked = "be suspended" if request.verb == "pause" else "go on"
        yield f"{count(plan.launched, 'package is', 'packages are')} asked to {asked}"
    if plan.kept:
        yield f"unchanged: {_phases(plan.kept)}"
    yield from _hopeless(plan)
    yield from _accepting(plan)
    yield from _report_others(plan)


def _report_jobs(plan: Plan) -> Iterator[str]:
    if plan.request.verb == "remove":
        yield from _results(plan, "")
    elif plan.request.verb == "finish":
        yield f"{_number(plan.packages)} canceled" + (
            f", {count(plan.launched)} {'being ended' if plan.request.hard else 'running on'}"
            if plan.launched
            else ""
        )
    elif plan.request.verb == "pause" and plan.launched:
        yield f"{count(plan.launched, 'package is', 'packages are')} asked to be suspended"


def _number(packages: int) -> str:
    return count(packages, "package") if packages else "no package"


def _ending(plan: Plan) -> int:
    """How many packages are ended by their wrappers."""
    request = plan.request
    ends = request.verb in ("kill", "kill-line") or (request.verb == "finish" and request.hard)
    if not ends:
        return 0
    return sum(n for phase, n in (plan.phases or {}).items() if phase in actions.LIVE)


def _report_others(plan: Plan) -> Iterator[str]:
    """What became of packages that were not asked for."""
    if plan.request.verb == "restore-line":
        if plan.also:
            yield f"of them {count(plan.also)} as they lack nothing any more"
        if plan.gaining:
            reads = count(plan.gaining, "package reads", "packages read")
            yield f"{reads} their files again"
        return
    if plan.also:
        yield f"of them {count(plan.also)} for want of what they need"
    if plan.losing:
        starting = f", {count(plan.starting)} can start now" if plan.starting else ""
        goes = count(plan.losing, "package goes", "packages go")
        yield f"{goes} on without the files{starting}"
