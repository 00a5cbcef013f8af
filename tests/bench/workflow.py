"""P11: Montage with real files on this machine, beside HyperQueue and make on the same work."""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from d0ctl.store import open_store
from d0ctl.store.nodes import registry
from tests.bench.bounds import rounds
from tests.bench.measure import PROCESS_PATIENCE_S, Figure, Options
from tests.bench.peers import hyperqueue_folder, rate
from tests.bench.site import d0ctl, daemon, passing_home, wait_done
from tests.bench.throughput import Spent, beside, medium, spent_so_far, split
from tests.support import debian_program

SLOTS = os.cpu_count() or 1

ROUNDS = 3
"""Each tool runs as often, taking turns, if there is time for it."""

MERGES = 6
"""How many tasks of the workflow are there once."""

HYPERQUEUE = """
import json, sys, time
from hyperqueue import Job, LocalCluster
from hyperqueue.cluster import WorkerConfig
tasks = json.load(open(sys.argv[1]))
with LocalCluster() as cluster:
    cluster.start_worker(WorkerConfig(cores=int(sys.argv[2])))
    client = cluster.client()
    began = time.time()
    job, makers = Job(), {}
    for output, inputs, command in tasks:
        makers[output] = job.program(
            ["sh", "-c", command], deps=[makers[name] for name in inputs], cwd=sys.argv[3]
        )
    client.wait_for_jobs([client.submit(job)])
    print(time.time() - began)
"""


@dataclass(frozen=True, slots=True)
class Task:
    """A task of a workflow: a shell command that makes one file of others."""

    output: str
    inputs: tuple[str, ...]
    command: str


def montage(count: int) -> list[Task]:
    """The shape of Montage with about so many tasks, makers before readers.

    Projections; differences of neighbours, 2.5 for each projection; two merges of all of those; a
    correction of each projection by the merge; and four merges of the corrections.
    """
    width = max(2, (count - MERGES) * 2 // 9)
    projections = [Task(f"p{n}.fits", (), f"echo {n} > p{n}.fits") for n in range(width)]
    differences = [
        _cat(f"d{n}.fits", f"p{n % width}.fits", f"p{(n + 1 + n // width) % width}.fits")
        for n in range(width * 5 // 2)
    ]
    fit = _merge("fit.tbl", "d*.fits", differences)
    model = _cat("model.tbl", "fit.tbl")
    corrections = [_cat(f"b{n}.fits", f"p{n}.fits", "model.tbl") for n in range(width)]
    table = _merge("images.tbl", "b*.fits", corrections)
    mosaic = _merge("mosaic.fits", "b*.fits", [*corrections, table])
    last = [_cat("shrunken.fits", "mosaic.fits"), _cat("mosaic.jpg", "shrunken.fits")]
    return [*projections, *differences, fit, model, *corrections, table, mosaic, *last]


def _cat(output: str, *inputs: str) -> Task:
    return Task(output, inputs, f"cat {' '.join(inputs)} > {output}")


def _merge(output: str, pattern: str, makers: Sequence[Task]) -> Task:
    return Task(output, tuple(task.output for task in makers), f"cat {pattern} | wc > {output}")


def measure(options: Options) -> Iterator[Figure]:
    """The rates, medians of rounds in which the tools take turns, and the ratio."""
    tasks = montage(options.packages // 2)
    tools: dict[str, Callable[[int], float]] = {
        "HyperQueue": lambda _: hyperqueue(tasks),
        f"make -j{SLOTS}": lambda _: make(tasks),
    }
    ours, others = [], {name: list[float | str]() for name in tools}
    for _ in rounds(ROUNDS, options.within_s * 0.7):
        ours.append(on_this_machine(tasks))
        for name, run in tools.items():
            others[name].append(rate(len(tasks), run))
    rates = [rate for rate, _ in ours]
    what = f"Montage of {len(tasks)}"
    yield medium("P11", f"{what}, local node", rates, "HyperQueue x1")
    yield from split(len(tasks), ours[rates.index(statistics.median_low(rates))][1], "P11")
    for name, found in others.items():
        yield from beside("P11", f"peer: {name}, {what}", rates, name, found)


def on_this_machine(tasks: Sequence[Task]) -> tuple[float, Spent]:
    """Tasks a second on the local node, from the call of `submit` to the last commit; and CPU."""
    with passing_home() as home:
        with open_store(home) as store:
            registry.add_localhost(store)
        path = home.root.parent / "montage.yaml"
        path.write_text(job_text(tasks))
        with daemon(home, 1) as pid:
            before = spent_so_far(pid)
            began = time.monotonic()
            subprocess.run(d0ctl(home, "submit", path), check=True, stdout=subprocess.DEVNULL)
            with open_store(home, read_only=True) as store:
                wait_done(store, len(tasks))
            took = time.monotonic() - began
            return len(tasks) / took, spent_so_far(pid) - before


def job_text(tasks: Sequence[Task]) -> str:
    """The tasks as a job file, a line each."""
    lines = ["job: bench", "stages:", "  - name: montage", "    lines:"]
    for task in tasks:
        words = {"run": ["sh", "-c", task.command], "outputs": task.output}
        lines.append(f"      - {json.dumps({**words, 'inputs': task.inputs})}")
    return "\n".join([*lines, ""])


def hyperqueue(tasks: Sequence[Task], slots: int = SLOTS) -> float:
    """Seconds of HyperQueue, all files in one folder."""
    with tempfile.TemporaryDirectory(prefix="d0ctl-bench-") as folder:
        path = Path(folder) / "tasks.json"
        path.write_text(json.dumps([(one.output, one.inputs, one.command) for one in tasks]))
        work = Path(folder) / "work"
        work.mkdir()
        done = subprocess.run(
            [sys.executable, "-c", HYPERQUEUE, str(path), str(slots), str(work)],
            check=True,
            capture_output=True,
            text=True,
            cwd=folder,
            env={"PYTHONPATH": str(hyperqueue_folder()), "PATH": os.defpath},
            timeout=PROCESS_PATIENCE_S,
        )
        return float(done.stdout.split()[-1])


def make(tasks: Sequence[Task], slots: int = SLOTS) -> float:
    """Seconds of make, all files in one folder."""
    program = debian_program("make", "make")
    with tempfile.TemporaryDirectory(prefix="d0ctl-bench-") as folder:
        rules = [f"{one.output}: {' '.join(one.inputs)}\n\t@{one.command}\n" for one in tasks]
        goals = f"all: {' '.join(one.output for one in tasks)}\n"
        (Path(folder) / "Makefile").write_text(goals + "".join(rules))
        began = time.monotonic()
        command = [str(program), f"-j{slots}", "--silent", "all"]
        subprocess.run(command, check=True, cwd=folder, timeout=PROCESS_PATIENCE_S)
        return time.monotonic() - began
