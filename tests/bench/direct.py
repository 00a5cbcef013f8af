"""P14: packages of `true` with jobs of their own, beside a plain array of the same Slurm."""

import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from d0ctl.store import open_store
from tests.bench.batch import NODES, PACKAGES, ROUNDS, SLOTS, around, calls, order
from tests.bench.bounds import rounds
from tests.bench.measure import PYTHON, Figure, Options
from tests.bench.site import d0ctl, daemon, job_file, passing_home, wait_done
from tests.bench.throughput import beside, medium
from tests.support.slurm import Slurm

MEMORY = 32
"""The MiB of a job: Slurm shares out the memory of its machines, too."""

SITE = """\
clusters:
  batch: {{kind: slurm, mode: direct, cpus: 1, memory: {memory}MiB, poll: 1s, python: {python},
          dir: {folder}}}
"""

PLAIN = (
    "sbatch", "--parsable", f"--array=0-{PACKAGES - 1}", "--nodes=1", "--ntasks=1",
    "--cpus-per-task=1", f"--mem={MEMORY}M", "--time=60", "--no-requeue", "--input=/dev/null",
    "--output=/dev/null", "--wrap=true",
)  # fmt: skip
"""What the daemon submits, with no wrapper."""

LOOKS_S = 1.0
"""How often the queue is read, as the daemon does."""


def measure(options: Options) -> Iterator[Figure]:
    """The rates of packages and of plain jobs, which take turns, and calls of tools."""
    ours, plain, others, looks = [], [], [], []
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="d0ctl-bench-")))
        slurm = stack.enter_context(Slurm(folder / "slurm", NODES, SLOTS))
        for number in rounds(ROUNDS, options.within_s * 0.7):
            plain.append(_plain(slurm))
            rate, called, read = _ours(slurm, folder / str(number))
            ours.append(rate)
            others.append(called)
            looks.append(read)
    what = f"{PACKAGES} packages with jobs of their own, {NODES} machines of {SLOTS} CPUs"
    yield medium("P14", what, ours, "plain array x0.8")
    yield from beside("P14", f"{PACKAGES} plain jobs, sbatch --array", ours, "the plain array",
                      [*plain])  # fmt: skip
    yield Figure("P14", "  calls of tools for jobs of their own, without the queue",
                 float(max(others)), "", "10")  # fmt: skip
    yield Figure("P14", "  calls for the queue, one a second", float(max(looks)), "")


def _plain(slurm: Slurm) -> float:
    """Jobs a second of an array, from submission until none is in the queue."""
    began = time.monotonic()
    slurm.call(*PLAIN)
    while slurm.call("squeue", "--noheader"):
        time.sleep(LOOKS_S)
    return PACKAGES / (time.monotonic() - began)


def _ours(slurm: Slurm, folder: Path) -> tuple[float, int, int]:
    """Packages a second, from submission to the last commit, and how often tools were called."""
    folder.mkdir()
    with ExitStack() as stack:
        home = stack.enter_context(passing_home())
        variables = around(folder, slurm)
        site = folder / "site.yaml"
        site.write_text(SITE.format(memory=MEMORY, python=PYTHON, folder=folder / "shared"))
        order(d0ctl(home, "site", "apply", site, "--yes"), variables)
        stack.enter_context(daemon(home, 1, variables))
        store = stack.enter_context(open_store(home, read_only=True))
        before = calls(folder)
        began = time.monotonic()
        order(d0ctl(home, "submit", job_file(folder, PACKAGES)), variables)
        wait_done(store, PACKAGES)
        rate = PACKAGES / (time.monotonic() - began)
        called = calls(folder) - before
        return rate, called["other"], called["queue"]
