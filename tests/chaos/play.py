"""Play one schedule: start, submit, strike, keep it going as a user would, and check."""

import random
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from d0ctl.errors import ExitCode
from d0ctl.store import open_store
from tests.chaos import checks, work
from tests.chaos.checks import Results
from tests.chaos.faults import FAULTS
from tests.chaos.field import Field
from tests.chaos.plan import Schedule, Strike
from tests.support.rows import count
from tests.support.waiting import wait_until

PATIENCE_S = 90.0
"""How long a run may take, and how long a part of it."""

LOOK_S = 0.04
"""How often the run is looked at."""

FINAL = ("done", "dropped")


@dataclass
class Outcome:
    """What came of a run: the faults that hit and those that found nothing, and what is wrong."""

    seed: int
    slurm: bool = False
    tasks: bool = False
    results: Results = field(default_factory=dict)
    hit: Counter[str] = field(default_factory=Counter)
    missed: Counter[str] = field(default_factory=Counter)
    packages: int = 0
    points: int = 0
    restarts: int = 0
    attempts: int = 0
    doubles: int = 0
    overlaps: int = 0
    allowed: int = 0
    seconds: float = 0.0
    problems: list[str] = field(default_factory=list)
    report: str = ""


def play(schedule: Schedule, expected: Results | None) -> Outcome:
    """Play a schedule in a folder of its own, of which nothing stays."""
    from tests.chaos.tasks.player import TaskPlayer  # which is made of this module

    player = TaskPlayer if schedule.agents else Player
    outcome = Outcome(schedule.seed, schedule.has_slurm, bool(schedule.agents))
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="d0ctl-chaos-") as folder:
        site = Field(Path(folder), schedule)
        try:
            player(site, outcome).play(expected)
        except Exception as error:  # the others are to be played, whatever is wrong with this
            outcome.problems.append(f"{type(error).__name__}: {error}")
        finally:
            if outcome.problems:
                site.undo(everything=True)  # a full disk would keep its database from being read
                outcome.report = tell(site)
            site.close()
    outcome.seconds = time.monotonic() - began
    return outcome


def tell(site: Field) -> str:
    """What one wants to see of a run that went wrong."""
    parts = [
        f"{site.plan}",
        f"{site.phases()}",
        *(f"{number}: {words}" for number, words in checks.attempts(site).items()),
        site.journal.path.read_text(),
        site.journal.held(),
        *site.orders.fired(),
        site.log()[-8000:],
    ]
    return "\n".join(parts)


class Player:
    """One run under way."""

    def __init__(self, site: Field, outcome: Outcome) -> None:
        self.site = site
        self.outcome = outcome
        self.schedule = site.plan
        self.phases: dict[str, str] = {}
        self.chance = random.Random(site.plan.seed)

    def play(self, expected: Results | None) -> None:
        """Do all of it, and note what is wrong in the end."""
        self.site.start_pilot()
        self._insist("submit")
        for strike in self.schedule.strikes:
            self._wait(lambda s=strike: self._is_due(s))  # type: ignore[misc]
            self._pass(strike.delay)
            self._strike(strike)
        self._wait(self._is_done)
        self._wait(self._is_quiet)
        self._part(expected)

    def _part(self, expected: Results | None) -> None:
        """Stop the daemon, and look at what is left."""
        site, outcome = self.site, self.outcome
        outcome.results = checks.results(site)
        site.stop_daemon()
        outcome.problems += [f"process {pid} is left" for pid in site.wait_gone()]
        outcome.problems += checks.check(site, expected)
        outcome.packages, outcome.attempts = work.PACKAGES, len(checks.attempts(site))
        outcome.doubles = len(list(checks.counted_twice(site)))
        outcome.overlaps = len(site.journal.notes("double"))
        outcome.allowed = outcome.overlaps - len(list(checks.overlaps(site)))
        outcome.points = len(site.orders.fired())

    def _strike(self, strike: Strike) -> None:
        has_hit = FAULTS[strike.kind](self.site, random.Random(strike.seed))
        (self.outcome.hit if has_hit else self.outcome.missed)[strike.kind] += 1

    def _is_due(self, strike: Strike) -> bool:
        return self.site.journal.length() >= strike.lines or self._has_ended()

    def _pass(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        self._wait(lambda: time.monotonic() >= until)

    def _wait(self, condition: Callable[[], bool]) -> None:
        """Wait for something, and meanwhile do what a user does who wants the job done."""
        until = time.monotonic() + PATIENCE_S
        pause = threading.Event()
        self._tend()
        while not condition():
            if time.monotonic() > until:
                raise TimeoutError(f"not within {PATIENCE_S:g} s: {condition}")
            pause.wait(LOOK_S)
            self._tend()

    def _tend(self) -> None:
        """Restart a daemon that has died; drop the bad line; retry what was killed."""
        site = self.site
        self._restart()
        phases = self.phases = site.phases()
        if phases.get(work.BAD) == "failed":
            self._insist("kill-line")
        for path, phase in phases.items():
            if phase == "canceled" and path != work.BAD:
                site.call("retry", path)

    def _restart(self) -> None:
        """Undo what is due, and restart a daemon that has died."""
        site = self.site
        site.undo()
        if site.pilot is None or not site.pilot.lives():
            self.outcome.restarts += 1
            site.start_pilot(plainly=self.chance.random() < 0.1)

    def _insist(self, verb: str) -> None:
        """Type a command until it is through, the first time perhaps without hearing its end."""
        if verb in self.schedule.killed_calls and not self.outcome.hit[f"{verb} killed"]:
            self.outcome.hit[f"{verb} killed"] += 1
            if self.chance.random() < 0.5:
                self.site.orders.kill("call", self.chance)
                self._call(verb)
            else:
                self._call(verb, self.chance.uniform(0.2, 0.6))
        wait_until(lambda: self._is_through(verb), PATIENCE_S, f"{verb} is through")

    def _is_through(self, verb: str) -> bool:
        self.site.undo()
        return self._call(verb) in (ExitCode.DONE, ExitCode.REFUSED)

    def _call(self, verb: str, lasts: float | None = None) -> int:
        if verb == "kill-line":
            words = ["kill-line", work.BAD_LINE, "--drop-outputs", "--yes"]
            return self.site.call(*words, lasts=lasts)
        code = self.site.call("submit", str(work.write(self.site.folder)), lasts=lasts)
        submitted = len(self.site.phases())
        assert submitted in (0, work.PACKAGES), f"a submission of {submitted} packages"
        return code

    def _has_ended(self) -> bool:
        return bool(self.phases) and all(phase in FINAL for phase in self.phases.values())

    def _is_done(self) -> bool:
        return self._has_ended() and self.site.undo() and not self._pilots()

    def _pilots(self) -> int:
        """How many jobs of Slurm have not ended."""
        if self.site.engine is None:
            return 0
        return len(self.site.engine.call("squeue", "--noheader").splitlines())

    def _is_quiet(self) -> bool:
        """Whether nothing is on its way any more, of messages, results or orders to end."""
        folders = [self.site.home.dropbox / "new"]
        folders += [self.site.base_of(name) / "spool" / "new" for name in self.site.sshds]
        with open_store(self.site.home, read_only=True) as store:
            open_transfers = count(store, "transfer")
            if self.site.sshds and count(store, "node", kind="ssh", state="down"):
                return False  # what runs there is ended once the daemon has it back
        return not any(any(one.glob("*")) for one in folders) and not open_transfers
