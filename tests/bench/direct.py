"""P14: packages of `true` with jobs of their own, beside a plain array of the same Slurm.

The CPU time is that of all processes below this one: Slurm's, the daemon, its relay, the jobs.
"""

import os
import resource
import statistics
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from d0ctl.store import open_store
from d0ctl_wrapper.host.process import become_reaper, below
from tests.bench.batch import NODES, PACKAGES, ROUNDS, SLOTS, around, calls, order
from tests.bench.bounds import rounds
from tests.bench.measure import PYTHON, Figure, Options, cpu_of
from tests.bench.site import d0ctl, daemon, job_file, passing_home, wait_done
from tests.bench.throughput import beside, medium
from tests.support.slurm import Slurm
from tests.support.waiting import wait_until

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
    "--output=/dev/null",
)  # fmt: skip
"""What the daemon submits, with no wrapper."""

BARE = f"exec {PYTHON} -I -S -c pass"
"""The least that a wrapper in Python could do."""

STEP = "slurmstepd-wlm"
"""The process of Slurm for each job."""

LOOKS_S = 1.0
"""How often the queue is read, as the daemon does."""


def measure(options: Options) -> Iterator[Figure]:
    """The rates of packages and of plain jobs, which take turns, and calls of tools."""
    ours, plain, others, looks = [], [], [], []
    cpu: dict[str, list[float]] = {"plain": [], "python": [], "ours": []}
    become_reaper()  # of steps of Slurm, which have no parent
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="d0ctl-bench-")))
        slurm = stack.enter_context(Slurm(folder / "slurm", NODES, SLOTS))
        for number in rounds(ROUNDS, options.within_s * 0.7):
            with _spent(cpu["plain"]):
                plain.append(_plain(slurm, "true"))
            with _spent(cpu["python"]):
                _plain(slurm, BARE)
            rate, called, read = _ours(slurm, folder / str(number), cpu["ours"])
            ours.append(rate)
            others.append(called)
            looks.append(read)
    what = f"{PACKAGES} packages with jobs of their own, {NODES} machines of {SLOTS} CPUs"
    yield medium("P14", what, ours, "plain array x0.8")
    yield from beside("P14", f"{PACKAGES} plain jobs, sbatch --array", ours, "the plain array",
                      [*plain])  # fmt: skip
    yield from _of_cpu({name: statistics.median(found) for name, found in cpu.items()})
    yield Figure("P14", "  calls of tools for jobs of their own, without the queue",
                 float(max(others)), "", "10")  # fmt: skip
    yield Figure("P14", "  calls for the queue, one a second", float(max(looks)), "")


def _of_cpu(cpu: dict[str, float]) -> Iterator[Figure]:
    """The CPU time of a package, and that of a plain job as a part of it."""
    for what, name in (("package with a job of its own", "ours"), ("plain job", "plain"),
                       ("plain job of a bare python", "python")):  # fmt: skip
        yield Figure("P14", f"  CPU a {what}", cpu[name] * 1000, "ms")
    yield Figure("P14", "  CPU of a plain job as a part of a package's", cpu["plain"] / cpu["ours"],
                 "", "0.8")  # fmt: skip
    yield Figure("P14", "  CPU of a plain job as a part of a bare python's",
                 cpu["plain"] / cpu["python"], "")  # fmt: skip


@contextmanager
def _spent(seconds: list[float]) -> Iterator[None]:
    """Add the CPU seconds a job of all processes below this one."""
    before = _so_far()
    yield
    seconds.append((_so_far() - before) / PACKAGES)


def _so_far() -> float:
    """CPU seconds of all processes below this one, once no step of Slurm is left."""
    wait_until(lambda: not any(_is_left(pid) for pid in below(os.getpid())), 60, "steps end")
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    living = sum(cpu_of(pid, reaped=True) for pid in below(os.getpid()))
    return usage.ru_utime + usage.ru_stime + living


def _is_left(pid: int) -> bool:
    """Whether a process is a step of Slurm that has not ended; one that has is reaped."""
    try:
        is_step = Path(f"/proc/{pid}/comm").read_text().strip() == STEP
        return is_step and os.waitpid(pid, os.WNOHANG) == (0, 0)
    except (OSError, ChildProcessError):
        return False


def _plain(slurm: Slurm, command: str) -> float:
    """Jobs a second of an array, from submission until none is in the queue."""
    began = time.monotonic()
    slurm.call(*PLAIN, f"--wrap={command}")
    while slurm.call("squeue", "--noheader"):
        time.sleep(LOOKS_S)
    return PACKAGES / (time.monotonic() - began)


def _ours(slurm: Slurm, folder: Path, seconds: list[float]) -> tuple[float, int, int]:
    """Packages a second, from submission to the last commit, and how often tools were called.

    Their CPU time is added to `seconds`.
    """
    folder.mkdir()
    with ExitStack() as stack:
        home = stack.enter_context(passing_home())
        variables = around(folder, slurm)
        site = folder / "site.yaml"
        site.write_text(SITE.format(memory=MEMORY, python=PYTHON, folder=folder / "shared"))
        order(d0ctl(home, "site", "apply", site, "--yes"), variables)
        order(d0ctl(home, "node", "remove", "localhost"), variables)
        stack.enter_context(daemon(home, 1, variables))
        store = stack.enter_context(open_store(home, read_only=True))
        before = calls(folder)
        with _spent(seconds):
            began = time.monotonic()
            order(d0ctl(home, "submit", job_file(folder, PACKAGES)), variables)
            wait_done(store, PACKAGES)
            rate = PACKAGES / (time.monotonic() - began)
            wait_until(lambda: not slurm.call("squeue", "--noheader"), 60, "all jobs have ended")
        called = calls(folder) - before
        return rate, called["other"], called["queue"]
