"""A batch system in a site, and a package that waits in one of its allocations."""

from typing import Any

from tests.support.site import Site
from tests.support.slurm import Slurm
from tests.support.waiting import wait_until

KEYS = "cpus: 2, memory: 200MB, poll: 1s, idle: 2s"

BY_SIGTERM = "the node ended the wrapper by SIGTERM"

WAITING = """
job: night
stages:
  - name: wait
    lines:
      - run: >-
          echo $SLURM_JOB_ID$D0CTL_PILOT >> {folder}/began;
          until [ -e {folder}/go ]; do sleep 0.05; done; echo end > out.txt
        outputs: [out.txt]
"""


def apply(batch: Site, more: str = "") -> None:
    """Put the batch system into the site."""
    write(batch, f"kind: slurm, {KEYS}, dir: {batch.folder}/pilots{more}")


def write(batch: Site, keys: str) -> None:
    """Put a batch system with these keys into the site."""
    batch.write(f"clusters: {{batch: {{{keys}}}}}", "site.yaml")
    batch.ok("site", "apply", "site.yaml", "--yes")


def start(batch: Site, more: str = "") -> None:
    """Put the batch system into the site, start the daemon, and let a package begin."""
    apply(batch, more)
    batch.start_daemon()
    begin(batch)


def begin(batch: Site) -> None:
    """Submit a package that waits for the file `go`, and return once it runs."""
    batch.submit(WAITING.format(folder=batch.folder))
    wait_until(lambda: began(batch), what="the package runs")


def began(batch: Site) -> list[str]:
    """The jobs of the batch system in which the package has begun."""
    record = batch.folder / "began"
    return record.read_text().split() if record.exists() else []


def finish(batch: Site) -> None:
    """Let the package end, and return once it has."""
    (batch.folder / "go").touch()
    batch.wait(lambda: batch.look() == {"done": 1}, what="the package is done")


def runs_again(batch: Site) -> tuple[Any, Any]:
    """Wait until the package runs again, let it end, and return both attempts.

    The first was lost through no fault of its own, the second is successful.
    """
    wait_until(lambda: len(began(batch)) == 2, what="it runs again")
    finish(batch)
    first, second = batch.package("night/1/1/1")["attempts"]
    assert (first["reason"], second["outcome"]) == ("platform-failure", "successful")
    return first, second


def preempt(batch: Site, engine: Slurm) -> None:
    """Let an urgent job take the place of the package's job, and end when it has."""
    urgent = engine.call(
        "sbatch", "--parsable", "--partition=urgent", "--nodes=2", "--ntasks-per-node=1",
        "--cpus-per-task=4", "--output=/dev/null", "--wrap=sleep 600",
    )  # fmt: skip
    batch.wait(lambda: batch.ask("select 1 from attempt where ended > 0"), what="it is preempted")
    assert "PreemptTime=2" in engine.call("scontrol", "show", "job", began(batch)[0])
    engine.call("scancel", urgent.strip())


def check_end(batch: Site, attempt: Any, *states: str) -> None:
    """Check how the first pilot ended, and that an attempt in it says so.

    If its wrapper could still report the SIGTERM that it got before, the attempt says that.
    """
    ((state,),) = batch.ask("select reason from pilot where id = 1")
    assert state in states, state
    assert attempt["message"] in (f"pilot `batch-1` has ended: {state}", BY_SIGTERM)


def pilots(batch: Site) -> list[str]:
    """The states of all pilots so far."""
    return [row[0] for row in batch.ask("select state from pilot order by id")]
