"""Inputs of a package of which only nodes that are down have copies, and how it gets them."""

from collections.abc import Iterator, Sequence
from typing import Protocol

from d0ctl.model import Phase
from d0ctl.select import union
from d0ctl.select.condense import condense
from d0ctl.show.why.common import MOST, Explanation, GroupPart, gone_for_good, transfer_text
from d0ctl.show.why.subject import Subject
from d0ctl.store.connection import Store
from d0ctl.store.nodes.registry import capacities, launched_on
from d0ctl.store.views import dependencies, selection
from d0ctl.store.views.dependencies import Transfer
from d0ctl.units import listed

MOST_NAMED = 3
"""How many files on a node that is down are named."""

MOST_MADE = 10_000
"""Of how many files the command names the makers that makes them again."""

MOST_SELECTORS = 20
"""How many selectors that command may have."""

MOST_READERS = 1000
"""Of how many packages of a job, or of a part, it makes inputs again."""

ELSEWHERE = "again elsewhere"
"""How it ends."""


def add(subject: Subject) -> int:
    """Add its inputs of which only nodes that are down have copies; return their number."""
    files, number = dependencies.inputs_away(subject.store, [subject.package.id], MOST)
    subject.explanation.facts += facts_about(files, number)
    advise(subject, files)
    return number


def add_first(store: Store, part: GroupPart, explanation: Explanation, now: float) -> None:
    """Name a package of a part for each node that is down and alone has inputs of it.

    Some of the first packages are looked at, unless the answer is about such a package.
    """
    if "nodes_down" in explanation.details or _name_first(store, part, explanation):
        _make_all(store, part, explanation, now)


def _name_first(store: Store, part: GroupPart, explanation: Explanation) -> bool:
    """Name these packages, and return whether there are any."""
    named = set[str | None]()
    for phase in (Phase.READY, Phase.ASSIGNED):
        for row in part.sample([phase], MOST):
            files, number = dependencies.inputs_away(store, [row.id], MOST)
            if named.issuperset(file.source for file in files):
                continue
            named |= {file.source for file in files}
            reasons = listed([*facts_about(files, number)])
            explanation.facts.append(f"`{row.path}` is {phase}, but {reasons}")
            explanation.commands.append(f"d0ctl why {row.path}")
    return bool(named)


def _make_all(store: Store, part: GroupPart, explanation: Explanation, now: float) -> None:
    """Add the command that makes such inputs of all packages of a part again, if there is one.

    It comes instead of that for the package that the answer is about, but beside that for an
    unreachable one, which may still run.
    """
    readers = part.sample([Phase.READY, Phase.ASSIGNED, Phase.COOLOFF], MOST_READERS)
    files, _ = dependencies.inputs_away(store, [row.id for row in readers], MOST_MADE)
    if not files or not (again := made_elsewhere(store, files, now)):
        return
    commands, beside = explanation.commands, part.counts.get(Phase.UNREACHABLE)
    old = [each for each in commands if each.endswith(ELSEWHERE) and (not beside or each == again)]
    at = commands.index(old[0]) if old else len(commands)
    commands[at : at + 1] = [again]


def advise(subject: Subject, files: Sequence[Transfer]) -> None:
    """Add commands that help while nodes are down that have inputs."""
    if not files:
        return
    explanation = subject.explanation
    away = list(dict.fromkeys(file.source for file in files))
    explanation.details["nodes_down"] = away
    rooms = capacities(subject.store)
    idle = [room.name for room in rooms if not launched_on(subject.store, room.id)]
    explanation.commands += [f"d0ctl node check {source}" for source in away]
    every, _ = dependencies.inputs_away(subject.store, [subject.package.id], MOST_MADE)
    if again := made_elsewhere(subject.store, every or files, subject.now):
        explanation.commands.append(again)
    explanation.commands += [gone_for_good(str(source)) for source in away if source in idle]


class Made(Protocol):
    """A file, and the path of the package that made it."""

    @property
    def name(self) -> str:
        """Its name."""

    @property
    def maker(self) -> str | None:
        """Its maker; None if it is from outside."""


def made_elsewhere(store: Store, files: Sequence[Made], now: float) -> str | None:
    """Return the command by which files are made again while the nodes that have them are down.

    It is None if the command would be refused or too long, if a file is from outside, or if no
    other node would take its maker now.
    """
    from d0ctl.store.jobs import retry  # late: few nodes are down
    from d0ctl.store.nodes.fitting import run_again

    makers = condense(dict.fromkeys(file.maker or "" for file in files))
    if not all(file.maker for file in files) or len(makers) > MOST_SELECTORS:
        return None
    ids = selection.ids(store, union(makers), now=now)
    if not run_again(store, [*ids], now=now) or retry.unmakable(store.select(ids)):
        return None
    made = f"`{files[0].name}`" if len(files) == 1 else f"these {len(files):,} files"
    command = f"d0ctl set-status {' '.join(map(str, makers))} unscheduled"
    return f"{command}   # makes {made} {ELSEWHERE}"


def facts_about(files: Sequence[Transfer], number: int) -> Iterator[str]:
    """Describe inputs that the node lacks: being copied, unless the node that has them is down."""
    away: dict[str | None, list[Transfer]] = {}
    for file in files:
        if is_away(file):
            away.setdefault(file.source, []).append(file)
        else:
            yield transfer_text(file.name, file.tries, file.last_error)
    for source, lost in away.items():
        names = [f"`{file.name}`" for file in lost[:MOST_NAMED]]
        more = (number if len(lost) == len(files) else len(lost)) - len(names)
        names += [f"{more:,} more"] if more > 0 else []
        noun = "file" if len(names) == 1 else "files"
        error = f": {lost[0].source_error}" if lost[0].source_error else ""
        yield f"{noun} {listed(names)} can't be copied: node `{source}` is down{error}"


def is_away(file: Transfer) -> bool:
    """Return whether an input can't be copied now, as the node that has it is down."""
    return file.source_state == "down"
