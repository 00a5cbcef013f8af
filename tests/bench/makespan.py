"""P13: makespan of workflow shapes in rehearsal, beside a lower bound, HEFT and FIFO."""

import json
import statistics
import subprocess
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from msgspec import Struct

from d0ctl.schedule import critical_path
from d0ctl.schedule.choice import Decision
from d0ctl.schedule.costs import FILE_S, LINK_RATE
from d0ctl.schedule.rehearsal.records import Conditions, File, Task
from d0ctl.schedule.rehearsal.run import Rehearsal, rehearse
from d0ctl.schedule.resources import NodeRoom, Requirement
from tests.bench.measure import PROCESS_PATIENCE_S, Figure, Options
from tests.support import CACHE

RECIPES = ("Blast", "Bwa", "Cycles", "Epigenomics", "Genome", "Montage", "Seismology", "Soykb")

TASKS = 200

TRANSFER_PART = 0.1
"""All inputs over one link would take this part of the work divided by the CPUs."""

NODES = tuple(
    NodeRoom(number, f"n{number}", number + 1, cpus, 0, speed=speed)
    for number, (cpus, speed) in enumerate(((8, 2.0), (8, 1.0), (4, 1.0), (4, 0.5)), 1)
)

MAKE = """
import random, sys
from pathlib import Path
import numpy, wfcommons.wfchef.recipes as recipes
from wfcommons import WorkflowGenerator
random.seed(7), numpy.random.seed(7)
recipe = getattr(recipes, sys.argv[1] + "Recipe").from_num_tasks(int(sys.argv[2]))
WorkflowGenerator(recipe).build_workflow().write_json(Path(sys.argv[3]))
"""


class Shape(Struct):
    """A workflow: the seconds of its tasks, what they read, make and come after."""

    seconds: list[float]
    inputs: list[list[int]]
    outputs: list[list[int]]
    before: list[set[int]]
    files: list[File]


def measure(options: Options) -> Iterator[Figure]:
    """Each shape's makespan over its bound, with HEFT and FIFO; then the median."""
    ours = []
    try:
        shapes = {name: read(made(name)) for name in RECIPES}
    except (OSError, subprocess.SubprocessError) as error:
        yield Figure("P13", "makespan of workflow shapes", None, "x", note=f"skipped: {error}")
        return
    for name, shape in shapes.items():
        least = bound(shape)
        found = rehearsed(shape, is_informed=True) / least
        plan = heft(shape)
        carried_out = Planned(shape, plan).run().makespan_s
        note = (f"HEFT {carried_out / least:.3f} (planned {max(plan.ends) / least:.3f}),"
                f" FIFO {rehearsed(shape) / least:.2f}")  # fmt: skip
        ours.append(found)
        yield Figure("P13", f"{name}, {len(shape.seconds)} tasks, over the bound", found, "x",
                     note=note)  # fmt: skip
    yield Figure("P13", "median over the bound", statistics.median(ours), "x", "1.15")


def _folder() -> Path:
    """The folder with WfCommons, from PyPI."""
    folder = CACHE / "wfcommons"
    if not folder.exists():
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(folder)]
        subprocess.run([*pip, "wfcommons"], check=True, capture_output=True)
    return folder


def made(recipe: str) -> Path:
    """Return the instance of a recipe, which is made once."""
    path = CACHE / f"shape-{recipe}-{TASKS}.json"
    if not path.exists():
        subprocess.run([sys.executable, "-c", MAKE, recipe, str(TASKS), str(path)], check=True,
                       capture_output=True, env={"PYTHONPATH": str(_folder())},
                       timeout=PROCESS_PATIENCE_S)  # fmt: skip
    return path


def read(path: Path) -> Shape:
    """Read an instance; the sizes of its files are scaled to the speed of the links."""
    workflow: dict[str, Any] = json.loads(path.read_text())["workflow"]
    specification = workflow["specification"]
    took = {task["id"]: max(0.1, task["runtimeInSeconds"])
            for task in workflow["execution"]["tasks"]}  # fmt: skip
    sizes = {file["id"]: file["sizeInBytes"] for file in specification["files"]}
    tasks = specification["tasks"]
    numbers = {task["id"]: number for number, task in enumerate(tasks)}
    makers = {name: number for number, task in enumerate(tasks) for name in task["outputFiles"]}
    names = list(
        dict.fromkeys(
            name for task in tasks for name in (*task["outputFiles"], *task["inputFiles"])
        )
    )
    places = {name: place for place, name in enumerate(names)}
    reads = [[name for name in dict.fromkeys(task["inputFiles"]) if makers.get(name) != number]
             for number, task in enumerate(tasks)]  # fmt: skip
    seconds = [took[task["id"]] for task in tasks]
    cpus = sum(node.cpus for node in NODES)
    most = TRANSFER_PART * sum(seconds) / cpus * LINK_RATE
    scale = most / max(1, sum(sizes.get(name, 0) for of_task in reads for name in of_task))
    return Shape(
        seconds,
        [[places[name] for name in of_task] for of_task in reads],
        [[places[name] for name in task["outputFiles"]] for task in tasks],
        [{makers[name] for name in of_task if name in makers}
         | {numbers[parent] for parent in task["parents"]}
         for of_task, task in zip(reads, tasks, strict=True)],
        [File(int(sizes.get(name, 0) * scale), None if name in makers else 1) for name in names],
    )  # fmt: skip


def bound(shape: Shape) -> float:
    """The longest chain on the fastest node, or all work on all CPUs."""
    ranks = critical_path.ranks(shape.seconds, shape.before)
    capacity = sum(node.cpus * node.speed for node in NODES)
    return max(max(ranks) / max(node.speed for node in NODES), sum(shape.seconds) / capacity)


def rehearsed(shape: Shape, *, is_informed: bool = False) -> float:
    """Seconds by d0ctl's scheduler; without run times it is first come, first served."""
    wanted = _wanted(shape) if is_informed else [Requirement(1, 0, fetches=True)]
    return rehearse(NODES, wanted, _tasks(shape, is_informed), shape.files).makespan_s


def _wanted(shape: Shape) -> list[Requirement]:
    """A requirement for each task, the one with the longest way to the end first."""
    ranks = critical_path.ranks(shape.seconds, shape.before)
    return sorted(
        (
            Requirement(number, 0, seconds=seconds, rank=rank, fetches=True)
            for number, (seconds, rank) in enumerate(zip(shape.seconds, ranks, strict=True), 1)
        ),
        key=lambda one: -one.rank,
    )


def _tasks(shape: Shape, is_informed: bool) -> list[Task]:
    """The tasks, each with a requirement of its own or all with one."""
    return [
        Task(number if is_informed else 1, seconds, inputs, outputs, tuple(before))
        for number, (seconds, inputs, outputs, before) in enumerate(
            zip(shape.seconds, shape.inputs, shape.outputs, shape.before, strict=True), 1
        )
    ]


class Plan(Struct):
    """The node of each task, and when it begins and ends there."""

    nodes: list[int]
    begins: list[float]
    ends: list[float]


class Planned(Rehearsal):
    """A plan carried out on the links, caches and launches of a rehearsal.

    Each task goes to its node as soon as its inputs exist, and is run there in the order of the
    plan; a CPU is left free for no task that is not there yet.
    """

    def __init__(self, shape: Shape, plan: Plan) -> None:
        self.plan = plan
        super().__init__(NODES, _wanted(shape), _tasks(shape, True), shape.files, Conditions())

    def _schedule(self) -> None:
        demand = self.ready.demand()
        released = [task for one in demand for task in self.ready.oldest(one.id, one.ready)]
        for task in sorted(released, key=lambda one: self.plan.begins[one]):
            self._assign(Decision(task, self.plan.nodes[task], 0))

    def _start_next(self, node: int) -> None:
        live = self.nodes.live[node]
        live.queue = deque(sorted(live.queue, key=lambda one: self.plan.begins[one]))
        super()._start_next(node)


def heft(shape: Shape) -> Plan:
    """Plan by HEFT (Topcuoglu, Hariri and Wu, 2002), which fills gaps.

    It takes it that links carry any number of files at a time.
    """
    makers = {file: task for task, made in enumerate(shape.outputs) for file in made}
    ranks = critical_path.ranks(shape.seconds, shape.before)
    slots: list[tuple[NodeRoom, list[tuple[float, float]]]] = [
        (node, []) for node in NODES for _ in range(node.cpus)
    ]
    begins, ends, where = [0.0] * len(ranks), [0.0] * len(ranks), [0] * len(ranks)
    for task in sorted(range(len(ranks)), key=lambda one: -ranks[one]):
        arrivals = {node.id: _arrival(shape, makers, task, node.id, ends, where) for node in NODES}
        options = [
            (_gap(busy, arrivals[node.id], shape.seconds[task] / node.speed), place)
            for place, (node, busy) in enumerate(slots)
        ]
        _, place = min((begin + shape.seconds[task] / slots[one][0].speed, one)
                       for begin, one in options)  # fmt: skip
        node, busy = slots[place]
        begins[task] = options[place][0]
        ends[task] = begins[task] + shape.seconds[task] / node.speed
        where[task] = node.id
        busy.append((begins[task], ends[task]))
        busy.sort()
    return Plan(where, begins, ends)


def _arrival(
    shape: Shape,
    makers: dict[int, int],
    task: int,
    node: int,
    ends: Sequence[float],
    where: Sequence[int],
) -> float:
    """Return when all inputs of a task could be on a node."""
    arrival = max((ends[one] for one in shape.before[task]), default=0.0)
    for file in shape.inputs[task]:
        maker = makers.get(file)
        begin = 0.0 if maker is None else ends[maker]
        is_here = maker is not None and where[maker] == node
        takes = 0.0 if is_here else shape.files[file].size / LINK_RATE + FILE_S
        arrival = max(arrival, begin + takes)
    return arrival


def _gap(busy: Sequence[tuple[float, float]], earliest: float, seconds: float) -> float:
    """Return when a CPU is first free for some seconds."""
    free = 0.0
    for begin, end in busy:
        if max(free, earliest) + seconds <= begin:
            break
        free = end
    return max(free, earliest)
