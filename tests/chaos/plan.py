"""What happens when: schedules of faults, each made of one number, and pure."""

import random
from dataclasses import dataclass

PARTITION = "out of contact beyond the lease"
"""The one fault in which two attempts of a package may run at the same time."""

WEIGHTS = {
    "daemon killed": 4,
    "daemon killed at a point": 6,
    "second driver": 2,
    "process asleep": 3,
    "relay killed": 3,
    "relay killed at a point": 4,
    "wrapper killed": 3,
    "wrapper killed at a point": 5,
    "helper killed at a point": 1,
    "binary killed": 3,
    "kill and retry": 3,
    "message lost": 2,
    "message doubled": 2,
    "message delayed": 2,
    "message truncated": 2,
    "message forged": 2,
    "frame doubled": 1,
    "frame lost": 2,
    "frame delayed": 1,
    "frame halved": 2,
    "frame garbled": 1,
    "answer cut off": 2,
    "home full": 2,
    "drop-box full": 2,
    "node full": 2,
    "connections cut": 3,
    "sshd frozen": 2,
    "sshd away": 2,
    "node rebooted": 3,
    "power cut": 3,
    PARTITION: 5,
}
"""The kinds of faults, and how often each comes beside the others."""

SLURM_WEIGHTS = {
    "controller killed": 5,
    "slurmd killed": 4,
    "allocation cancelled": 4,
    "step killed": 4,
    "wrapper killed": 4,
    "binary killed": 3,
    "kill and retry": 2,
    "process asleep": 3,
    "daemon killed": 4,
    "daemon killed at a point": 5,
    "second driver": 2,
}
"""The same for a site whose packages run in allocations of Slurm."""

TASK_WEIGHTS = {
    "agent killed": 5,
    "all agents killed": 2,
    "agent killed at a point": 8,
    "agent asleep": 4,
    "daemon asleep": 2,
    "agents of another process": 4,
    "package killed": 2,
    "task paused": 2,
    "files arrive": 3,
    "task retried": 1,
    "daemon killed": 3,
    "daemon killed at a point": 2,
    "second driver": 2,
    "process asleep": 2,
    "wrapper killed": 2,
    "relay killed": 1,
    "home full": 1,
}
"""The same for a task, whose agents work on its packages."""

OF_PILOTS = ("allocation cancelled", "step killed")
"""Faults that only pilots can have: a package whose own job is cancelled has been killed."""

REMOTE = ("connections cut", "sshd frozen", "sshd away", PARTITION)
"""Faults that only a node behind ssh can have."""

SITES = (("localhost",), ("north",), ("localhost", "north"), ("north", "south"))

SLURM = "batch"
SLURM_SITES = ((SLURM,), ("localhost", SLURM))

MOST_LINES = 20
"""About how many lines the journal of an undisturbed run has."""


@dataclass(frozen=True, slots=True)
class Strike:
    """One fault: when the journal has so many lines, and so many seconds later.

    `seed` decides what the fault itself leaves open.
    """

    kind: str
    lines: int
    delay: float
    seed: int


@dataclass(frozen=True, slots=True)
class Schedule:
    """One run: its nodes, the faults in their order, and which calls of a user are killed."""

    seed: int
    nodes: tuple[str, ...]
    strikes: tuple[Strike, ...]
    killed_calls: frozenset[str]
    agents: int = 0
    """How many processes work on a task; 0 if a job is disturbed."""
    is_direct: bool = False
    """Whether packages have jobs of Slurm of their own, instead of pilots."""

    @property
    def has_slurm(self) -> bool:
        """Whether packages run in allocations of Slurm."""
        return SLURM in self.nodes

    @property
    def is_impatient(self) -> bool:
        """Whether this site gives nodes up after seconds."""
        return any(strike.kind == PARTITION for strike in self.strikes)


def calm(slurm: bool = False, tasks: bool = False) -> Schedule:
    """The schedule of an undisturbed run."""
    if tasks:
        return Schedule(0, ("localhost",), (), frozenset(), agents=2)
    return Schedule(0, (SLURM,) if slurm else ("localhost", "north"), (), frozenset())


def schedule(seed: int, slurm: bool = False, tasks: bool = False) -> Schedule:
    """The schedule of this number."""
    chance = random.Random(seed)
    if tasks:
        return _of_task(seed, chance)
    nodes = chance.choice(SLURM_SITES if slurm else SITES)
    all_weights = SLURM_WEIGHTS if slurm else WEIGHTS
    is_direct = slurm and seed % 2 == 1
    kinds = [
        kind for kind in all_weights
        if _suits(kind, nodes) and not (is_direct and kind in OF_PILOTS)
    ]  # fmt: skip
    weights = [all_weights[kind] for kind in kinds]
    drawn = chance.choices(kinds, weights, k=chance.randint(2, 5))
    strikes = [_strike(kind, chance) for kind in drawn]
    calls = [verb for verb in ("submit", "kill-line") if chance.random() < 0.3]
    ordered = sorted(strikes, key=lambda strike: strike.lines)
    return Schedule(seed, nodes, tuple(ordered), frozenset(calls), is_direct)


def _of_task(seed: int, chance: random.Random) -> Schedule:
    drawn = chance.choices([*TASK_WEIGHTS], [*TASK_WEIGHTS.values()], k=chance.randint(4, 8))
    strikes = sorted((_strike(kind, chance) for kind in drawn), key=lambda strike: strike.lines)
    calls = frozenset(["submit"] if chance.random() < 0.3 else [])
    return Schedule(seed, ("localhost",), tuple(strikes), calls, agents=chance.randint(2, 3))


def _suits(kind: str, nodes: tuple[str, ...]) -> bool:
    if kind == PARTITION:
        return len(nodes) > 1
    return kind not in REMOTE or "north" in nodes


def _strike(kind: str, chance: random.Random) -> Strike:
    lines = chance.randint(0, MOST_LINES)
    return Strike(kind, lines, chance.uniform(0, 0.3), chance.randrange(2**32))
