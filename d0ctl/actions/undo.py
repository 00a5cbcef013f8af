"""Commands that undo what an action did."""

import shlex
from collections.abc import Iterable, Iterator, Sequence

from d0ctl.actions.action import Plan
from d0ctl.model import Phase
from d0ctl.select import MOST_NAMED, WILD, Selector
from d0ctl.select.condense import condense
from d0ctl.store import lifecycle
from d0ctl.store.views import selection
from d0ctl.units import count

MOST = 20
"""How many selectors of the command that undoes an action are printed."""

MOST_EXACT = 10_000
"""Of how many packages the command has exactly those that an action changes, as ranges."""


def command(verb: str, targets: Iterable[str], *more: str) -> str:
    """Return a command line for targets."""
    return shlex.join(["d0ctl", *verb.split(), *targets, *more])


def verb(command: str | None) -> str:
    """Return the action of such a command line; empty if there is none."""
    return shlex.split(command)[1] if command else ""


def paths(target: Selector) -> list[str]:
    """Return the paths of a selection, without states."""
    return list(dict.fromkeys(part.path for part in target.parts))


def changed(plan: Plan) -> list[str]:
    """Return the jobs that a plan changes, or the paths of the selectors with packages of it, which
    are not whole jobs; if these have other packages, too, those that it changes as ranges.
    """
    if plan.jobs:
        return list(plan.jobs)
    if exact := _exact(plan):
        return exact
    parts = _parts(plan)
    return list(dict.fromkeys(f"{part.path}/*" if part.depth == 1 else part.path for part in parts))


def in_state(plan: Plan, state: str) -> list[str]:
    """Return the packages of a plan by their state afterwards, if there are several states."""
    target = plan.request.target
    if plan.jobs:
        return list(plan.jobs)
    targets = list(dict.fromkeys(part.path for part in _parts(plan)))
    if target.is_one and target.level == "package":
        return targets
    return [f"{path}:{state}" for path in targets]


def _exact(plan: Plan) -> list[str]:
    """Return the packages that a plan changes, as ranges; nothing if its target has just these."""
    target: Selector = plan.request.target
    if plan.selected is None or not (target.is_filtered or plan.unchanged):
        return []
    found = lifecycle.paths(plan.selected, MOST_EXACT + 1)
    paths = [path for path, phase in found if phase in plan.phases]
    return ranges(paths) if len(paths) == plan.packages and len(found) <= MOST_EXACT else []


def ranges(paths: Iterable[str]) -> list[str]:
    """Return selectors for exactly these paths; neighbours form ranges."""
    return [str(part) for part in condense(paths)]


def of_cancel(plan: Plan, before: int) -> str | None:
    """Return the command that retries what a plan cancels; None if it would retry more.

    `before` counts those of the same parts that are canceled already.
    """
    return of_state("retry", plan, "canceled", before)


def of_state(
    verb: str, plan: Plan, state: str, before: int, filtered: bool = False, *more: str
) -> str | None:
    """Return the command for the packages that a plan brings into a state; None if that would
    change more.

    `before` counts those of the same parts that are in it already; `filtered` ones go by name.
    """
    if not before and not filtered:
        return command(verb, in_state(plan, state), *more)
    named = [change.path for change in plan.changes]
    return command(verb, named, *more) if len(named) == plan.packages else None


def lasting(undo: str | None, before: int) -> Iterator[str]:
    """Say why no command undoes that packages were canceled."""
    if before and undo is None:
        had = count(before, "package")
        yield f"can't be undone by one command: {had} had been canceled before"


def unheld(plan: Plan) -> Iterator[str]:
    """Say that held packages that were canceled start after an undo."""
    if plan.undo and (number := plan.phases.get(Phase.HELD)):
        was = count(number, "package was", "packages were")
        yield f"{was} held, and {'starts' if number == 1 else 'start'} after an undo"


def _parts(plan: Plan) -> Sequence[Selector]:
    """Return the parts of a selection with packages that a plan changes.

    The others would match nothing afterwards, or packages that another action has changed.
    """
    target: Selector = plan.request.target
    if len(target.parts) == 1 or plan.selected is None:
        return target.parts
    return selection.with_phases(plan.selected, target, plan.phases)


def sentence(plan: Plan) -> str:
    """Return the line that names the command that undoes an action; empty if nothing does."""
    target = plan.request.target
    if not plan.undo:
        return ""
    arguments = shlex.split(plan.undo)
    number = sum(word[0].isalpha() or word[0] in WILD for word in arguments[2:])
    if not isinstance(target, Selector) or number <= MOST:
        return f"to undo: {plan.undo}"
    begin = shlex.join(arguments[: 2 + MOST_NAMED])
    job = next((part.job for part in target.parts if not WILD & set(part.job)), "JOB")
    return (f"to undo: {begin} ... ({count(number, 'selector')}): the whole command "
            f"is `undo` of the first of `actions` in `d0ctl history {job} --json`")  # fmt: skip
