"""A batch system in a site, and a package that waits in one of its allocations."""

from typing import Any

from tests.support.site import Site
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


def check_end(batch: Site, attempt: Any, *states: str) -> None:
    """Check how the first pilot ended, and that an attempt in it says so.

    If its wrapper could still report the SIGTERM that it got before, the attempt says that.
    """
    ((state,),) = batch.ask("select reason from pilot where id = 1")
    assert state in states
    assert attempt["message"] in (f"pilot `batch-1` has ended: {state}", BY_SIGTERM)


def pilots(batch: Site) -> list[str]:
    """The states of all pilots so far."""
    return [row[0] for row in batch.ask("select state from pilot order by id")]
