"""Commands that undo what an action did."""

import shlex
from collections.abc import Iterable, Iterator, Sequence

from d0ctl.actions.action import Plan
from d0ctl.model import LIVE, Phase
from d0ctl.select import MOST_NAMED, WILD, Selector
from d0ctl.select.condense import condense
from d0ctl.store import lifecycle
from d0ctl.store.views import selection
from d0ctl.units import count

MOST = 20
"""How many selectors of the command that undoes an action are printed."""

MOST_EXACT = 10_000
"""Of how many packages the command has exactly those that an action changes, as ranges."""

MOST_FILTERED = 100_000
"""Of how many, if a filter has selected them: their paths without it may name others."""

EXACT = frozenset({"acknowledge"})
"""Actions whose undo names exactly the packages, also if no filter has selected them."""

_TOO_MANY = f"can't be undone by one command: it would name more than {MOST_FILTERED:,} packages"


def command(verb: str, targets: Iterable[str], *more: str) -> str:
    """Return a command line for targets."""
    return shlex.join(["d0ctl", *verb.split(), *targets, *more])


def verb(command: str | None) -> str:
    """Return the action of such a command line; empty if there is none."""
    return shlex.split(command)[1] if command else ""


def paths(target: Selector) -> list[str]:
    """Return the paths of a selection, without states."""
    return list(dict.fromkeys(part.path for part in target.parts))


def of_changed(verb: str, plan: Plan, *more: str, has_others: bool = False) -> str | None:
    """Return the command for the jobs or packages that a plan changes; None if they are too many to
    be named.

    `has_others`: the command would change other packages of the same paths.
    """
    targets = list(plan.jobs) or packages(plan, has_others=has_others)
    if plan.request.action.is_flag and not plan.jobs:
        targets = [target if "/" in target else f"{target}/*" for target in targets]
    return command(verb, targets, *more) if targets else None


def packages(plan: Plan, *, has_others: bool = False, state: str = "") -> list[str]:
    """Return the paths of the selectors with packages that a plan changes; if these have other
    packages, too, those that it changes as ranges, in a state; nothing if these are too many.
    """
    target: Selector = plan.request.target
    is_needed = has_others or target.is_filtered
    if plan.selected is not None and (is_needed or plan.unchanged):
        most = MOST_FILTERED if is_needed else MOST_EXACT
        changes = {**plan.phases, Phase.KILLING: 0}  # those are ended by the kill before
        number = sum(changes.values())
        if number <= most:
            changed = [phase for phase, of_phase in changes.items() if of_phase]
            paths = lifecycle.paths_in(plan.selected, changed, number + 1)
            if len(paths) == number:
                return ranges(paths, state)
        if is_needed:
            return []
    return list(dict.fromkeys(part.path for part in _parts(plan)))


def in_state(plan: Plan, state: str) -> list[str]:
    """Return the packages of a plan by their state afterwards, if there are several states."""
    target = plan.request.target
    if plan.jobs:
        return list(plan.jobs)
    targets = list(dict.fromkeys(part.path for part in _parts(plan)))
    if target.is_one and target.level == "package":
        return targets
    return [f"{path}:{state}" for path in targets]


def ranges(paths: Iterable[str], state: str = "") -> list[str]:
    """Return selectors for exactly these paths; neighbours form ranges, of packages in a state."""
    return [f"{part}:{state}" if state and not part.is_one else str(part)
            for part in condense(paths)]  # fmt: skip


def of_cancel(plan: Plan, before: int) -> str | None:
    """Return the command that retries what a plan cancels; None if it would retry more.

    `before` counts those of the same parts that are canceled already.
    """
    return of_state("retry", plan, "canceled", before)


def of_state(verb: str, plan: Plan, state: str, before: int, *more: str) -> str | None:
    """Return the command for the packages that a plan brings into a state; None if that would
    change more.

    `before` counts those of the same parts that are in it already.
    """
    if not before and not plan.request.target.is_filtered:
        return command(verb, in_state(plan, state), *more)
    named = packages(plan, has_others=True, state=state) if plan.selected is not None else []
    return command(verb, named, *more) if named else None


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
        is_large = isinstance(target, Selector) and plan.packages > MOST_FILTERED
        is_exact = is_large and (target.is_filtered or plan.request.action.name in EXACT)
        return _TOO_MANY if is_exact else ""
    arguments = shlex.split(plan.undo)
    number = sum(word[0].isalpha() or word[0] in WILD for word in arguments[2:])
    if not isinstance(target, Selector) or number <= MOST:
        return f"to undo{_once_killed(plan)}: {plan.undo}"
    begin = shlex.join(arguments[: 2 + MOST_NAMED])
    job = next((f" {part.job}" for part in target.parts if not WILD & set(part.job)), "")
    return (f"to undo: {begin} ... ({count(number, 'selector')}): the whole command "
            f"is `undo` of the first of `actions` in `d0ctl history{job} --json`")  # fmt: skip


def _once_killed(plan: Plan) -> str:
    """Say that packages which are being killed have to end before an undo."""
    if verb(plan.undo) not in ("restore-line", "retry"):
        return ""
    ending = by_wrappers(plan)
    return f" once {'it has' if ending == 1 else 'they have'} ended" if ending else ""


def by_wrappers(plan: Plan) -> int:
    """Return how many packages their wrappers end."""
    by_wrapper = set(LIVE) - {Phase.UNREACHABLE, Phase.TRANSFERRING}
    return sum(number for phase, number in plan.phases.items() if phase in by_wrapper)
