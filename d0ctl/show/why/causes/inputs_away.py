"""Inputs of a package of which only nodes that are down have copies, and how it gets them."""

from collections.abc import Iterator, Sequence

from d0ctl.model import Phase
from d0ctl.select import parse
from d0ctl.show.why.common import MOST, Explanation, GroupPart, gone_for_good, transfer_text
from d0ctl.show.why.subject import Subject
from d0ctl.store.connection import Store
from d0ctl.store.nodes.registry import capacities, launched_on
from d0ctl.store.views import browse, dependencies
from d0ctl.store.views.dependencies import Transfer
from d0ctl.units import listed

MOST_NAMED = 3
"""How many files on a node that is down are named."""


def add(subject: Subject) -> int:
    """Add its inputs of which only nodes that are down have copies; return their number."""
    files, number = dependencies.inputs_away(subject.store, subject.package.id, MOST)
    subject.explanation.facts += facts_about(files, number)
    advise(subject, files)
    return number


def add_first(store: Store, part: GroupPart, explanation: Explanation) -> None:
    """Name a package of a part for each node that is down and alone has inputs of it.

    Some of the first packages are looked at, unless the answer is about such a package.
    """
    if "nodes_down" in explanation.details:
        return
    named = set[str | None]()
    for phase in (Phase.READY, Phase.ASSIGNED):
        for row in part.sample([phase], MOST):
            files, number = dependencies.inputs_away(store, row.id, MOST)
            if named.issuperset(file.source for file in files):
                continue
            named |= {file.source for file in files}
            reasons = listed([*facts_about(files, number)])
            explanation.facts.append(f"`{row.path}` is {phase}, but {reasons}")
            explanation.commands.append(f"d0ctl why {row.path}")


def advise(subject: Subject, files: Sequence[Transfer]) -> None:
    """Add commands that help while nodes are down that have inputs."""
    if not files:
        return
    explanation = subject.explanation
    first_of = {file.source: file for file in reversed(files)}
    away = list(dict.fromkeys(file.source for file in files))
    explanation.details["nodes_down"] = away
    rooms = capacities(subject.store)
    idle = [room.name for room in rooms if not launched_on(subject.store, room.id)]
    for source in away:
        explanation.commands.append(f"d0ctl node check {source}")
        _make_again(subject, first_of[source])
        if source in idle:
            explanation.commands.append(gone_for_good(str(source)))


def _make_again(subject: Subject, file: Transfer) -> None:
    """Add how an input is made again on another node, if it can be."""
    if file.maker:
        again = made_elsewhere(subject.store, file.maker, file.name, subject.now)
        subject.explanation.commands += [again] if again else []


def made_elsewhere(store: Store, maker: str, name: str, now: float) -> str | None:
    """Return the command by which a file is made again while the nodes that have it are down.

    It is None if the command would be refused, or no other node would take the maker now.
    """
    from d0ctl.store.jobs import retry  # late: few nodes are down
    from d0ctl.store.nodes.fitting import runs_again

    package = browse.package(store, parse(maker))
    if not runs_again(store, package.id, now=now) or retry.unmakable(store.select([package.id])):
        return None
    return f"d0ctl set-status {maker} unscheduled   # makes `{name}` again elsewhere"


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
