"""One run of a task under way: its agents die, and a user does what users do."""

from d0ctl.errors import ExitCode
from d0ctl.store import open_store
from tests.chaos import checks
from tests.chaos.checks import Results
from tests.chaos.play import Player
from tests.chaos.tasks import checks as of_tasks
from tests.chaos.tasks import production
from tests.chaos.work import JOB
from tests.support.rows import count

ENDED = ("done", "finished", "exhausted", "failed", "broken", "aborted")


class TaskPlayer(Player):
    """Plays a schedule of agents."""

    def _part(self, expected: Results | None) -> None:
        site, outcome = self.site, self.outcome
        site.stop_daemon()
        outcome.problems += [f"process {pid} is left" for pid in site.wait_gone()]
        outcome.problems += of_tasks.check(site)
        outcome.packages = len(site.phases())
        outcome.attempts = len(checks.attempts(site))
        outcome.doubles = of_tasks.counted_twice(site)
        outcome.points = len(site.orders.fired())

    def _tend(self) -> None:
        """Restart a daemon that has died; resume the task, and do what a person has asked for."""
        self._restart()
        self.status = production.status(self.site)
        if self.status == "paused" and self.site.undo():
            self.site.call("task", "resume", JOB)
        requests = self.site.requests
        if "incexec" in requests and self.site.call("task", "incexec", JOB) == ExitCode.DONE:
            requests[:] = [one for one in requests if one != "incexec"]
        elif "retry" in requests and self.status in ENDED:
            self.site.call("task", "retry", JOB)
            requests[:] = [one for one in requests if one != "retry"]

    def _call(self, verb: str, lasts: float | None = None) -> int:
        file = production.write(self.site)
        return self.site.call("task", "submit", str(file), lasts=lasts)

    def _has_ended(self) -> bool:
        self.status = production.status(self.site)
        return self.status in ENDED and not self.site.requests

    def _is_quiet(self) -> bool:
        with open_store(self.site.home, read_only=True) as store:
            busy = count(store, "package", phase="running") + count(
                store, "package", phase="killing"
            )
        return not busy and super()._is_quiet() and self._has_ended()
