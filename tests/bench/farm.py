"""P13 on real nodes: workflow shapes on four sshd nodes of different speed, and by other tools.

Tasks sleep, so the nodes may share a machine. The other tools run on this machine and carry no
files; each of their tasks takes the fastest free slot, which they themselves know nothing of.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from d0ctl.schedule.rehearsal.records import File
from d0ctl.store import open_store
from tests.bench import makespan, workflow
from tests.bench.makespan import NODES, RECIPES, Shape
from tests.bench.measure import PROCESS_PATIENCE_S, Figure, Options
from tests.bench.peers import rate
from tests.bench.site import d0ctl, daemon, passing_home, ssh_nodes, wait_done
from tests.bench.workflow import Task
from tests.support import CACHE

BOUND_S = 20.0
"""Each shape is scaled to this lower bound."""

SLOTS = sum(node.cpus for node in NODES)

SPEEDS = sorted((node.speed for node in NODES for _ in range(node.cpus)), reverse=True)

NAP = """
import fcntl, sys, time
for number, speed in enumerate({speeds}):
    slot = open("{folder}/slot%d" % number, "w")
    try:
        fcntl.flock(slot, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        continue
    time.sleep(float(sys.argv[1]) / speed)
    break
else:
    sys.exit("more tasks at once than slots")
"""


def measure(options: Options) -> Iterator[Figure]:
    """Each shape's seconds over its bound, with HEFT and FIFO in rehearsal and the other tools."""
    if not options.full:
        return
    over_bound, over_plan = [], []
    for name in RECIPES:
        shape = scaled(makespan.read(makespan.made(name)))
        took, bound, plan = on_nodes(shape), makespan.bound(shape), makespan.heft(shape)
        over_bound.append(took / bound)
        over_plan.append(took / max(plan.ends))
        rehearsed = {
            "rehearsed": makespan.rehearsed(shape, is_informed=True),
            "HEFT": makespan.Planned(shape, plan).run().makespan_s,
            "HEFT's plan": max(plan.ends),
            "FIFO": makespan.rehearsed(shape),
        }
        notes = [f"{what} {seconds / bound:.2f}" for what, seconds in rehearsed.items()]
        notes += [f"{tool} {found}" for tool, found in _by_others(shape, bound)]
        yield Figure("P13", f"real nodes: {name}, over the bound", took / bound, "x",
                     note=", ".join(notes))  # fmt: skip
    yield Figure("P13", "real nodes: median over the bound", statistics.median(over_bound), "x")
    yield Figure("P13", "real nodes: median over HEFT's plan", statistics.median(over_plan),
                 "x", "1.06")  # fmt: skip


def scaled(shape: Shape) -> Shape:
    """The shape with the bound that is wanted; its files shrink as much."""
    by = BOUND_S / makespan.bound(shape)
    return Shape(
        [seconds * by for seconds in shape.seconds],
        shape.inputs,
        shape.outputs,
        shape.before,
        [File(int(file.size * by), file.cluster) for file in shape.files],
    )


def on_nodes(shape: Shape) -> float:
    """Seconds of the shape on nodes behind sshds, from the call of `submit` to the last commit."""
    with passing_home() as home, ssh_nodes(home, len(NODES), cpus=1):
        folder = home.root.parent
        for number, node in enumerate(NODES):
            words = (f"node{number}", f"cpus={node.cpus}", f"speed={node.speed}")
            subprocess.run(d0ctl(home, "node", "set", *words), check=True, capture_output=True)
        (folder / "farm.yaml").write_text(_job_text(shape, folder))
        with daemon(home, len(NODES)):
            began = time.monotonic()
            subprocess.run(d0ctl(home, "submit", folder / "farm.yaml"), check=True,
                           stdout=subprocess.DEVNULL)  # fmt: skip
            with open_store(home, read_only=True) as store:
                wait_done(store, len(shape.seconds))
            return time.monotonic() - began


def _job_text(shape: Shape, folder: Path) -> str:
    """The shape as a job file, a line for each task; files that no task makes are beside it."""
    makers = {file for made in shape.outputs for file in made}
    lines = ["job: bench", "stages:", "  - name: farm", "    lines:"]
    for seconds, read, made in zip(shape.seconds, shape.inputs, shape.outputs, strict=True):
        for file in set(read) - makers:
            with (folder / f"f{file}").open("w") as source:
                source.truncate(shape.files[file].size)
        by_node = "".join(
            f" */node{number}/*) sleep {seconds / node.speed:.3f};;"
            for number, node in enumerate(NODES)
        )
        making = "".join(f"; truncate -s {shape.files[file].size} f{file}" for file in made)
        inputs = [f"f{file}" if file in makers else str(folder / f"f{file}") for file in read]
        line = {"run": ["sh", "-c", f"case $PWD in{by_node} esac{making}"], "inputs": inputs,
                "outputs": [f"f{file}" for file in made],
                "runtime": f"{max(0.01, seconds):.2f}s"}  # fmt: skip
        lines.append(f"      - {json.dumps(line)}")
    return "\n".join([*lines, ""])


def _by_others(shape: Shape, bound: float) -> list[tuple[str, str]]:
    """What other tools took for the tasks, over the bound."""
    tools: dict[str, Callable[[Sequence[Task]], float]] = {
        "make": lambda tasks: workflow.make(tasks, SLOTS),
        "HyperQueue": lambda tasks: workflow.hyperqueue(tasks, SLOTS),
        "Snakemake": snakemake,
    }
    with tempfile.TemporaryDirectory(prefix="d0ctl-bench-") as folder:
        (Path(folder) / "nap.py").write_text(NAP.format(speeds=SPEEDS, folder=folder))
        tasks = _marks(shape, f"{sys.executable} -S -E {folder}/nap.py")
        return [(name, _over(bound, tasks, run)) for name, run in tools.items()]


def _over(bound: float, tasks: Sequence[Task], run: Callable[[Sequence[Task]], float]) -> str:
    found = rate(1, lambda _: run(tasks))
    return found if isinstance(found, str) else f"{1 / found / bound:.2f}"


def _marks(shape: Shape, nap: str) -> list[Task]:
    """The tasks, each with one empty file that says that it is done; makers before readers."""
    found: dict[int, Task] = {}
    waiting = dict(enumerate(shape.before))
    while waiting:
        for number in [one for one, before in waiting.items() if before <= found.keys()]:
            inputs = tuple(f"t{one}" for one in sorted(waiting.pop(number)))
            command = f"{nap} {shape.seconds[number]:.3f} && touch t{number}"
            found[number] = Task(f"t{number}", inputs, command)
    return list(found.values())


def snakemake(tasks: Sequence[Task]) -> float:
    """Seconds of Snakemake with its start, all files in one folder."""
    home = CACHE / "snakemake"
    if not home.exists():
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(home)]
        subprocess.run([*pip, "snakemake"], check=True, capture_output=True)
    with tempfile.TemporaryDirectory(prefix="d0ctl-bench-") as folder:
        rules = [f"rule all:\n input: {[one.output for one in tasks]!r}\n"]
        rules += [
            f"rule {one.output}:\n input: {list(one.inputs)!r}\n output: {one.output!r}\n"
            f" shell: {one.command!r}\n"
            for one in tasks
        ]
        (Path(folder) / "Snakefile").write_text("".join(rules))
        began = time.monotonic()
        subprocess.run(
            [sys.executable, "-m", "snakemake", f"-j{SLOTS}", "--quiet", "all"],
            check=True,
            capture_output=True,
            cwd=folder,
            env={"PYTHONPATH": str(home), "PATH": os.defpath, "HOME": folder},
            timeout=PROCESS_PATIENCE_S,
        )
        return time.monotonic() - began
