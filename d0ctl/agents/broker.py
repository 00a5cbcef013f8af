"""The task broker: where the outputs of a task are merged, if its task file does not say."""

import json
from collections.abc import Sequence

from msgspec.structs import replace

from d0ctl.agents.agent import Clock
from d0ctl.jobfile.spec import JobSpec
from d0ctl.show.tasks import task_notes
from d0ctl.store.connection import Store
from d0ctl.store.nodes.catalogue import Catalogue
from d0ctl.store.nodes.fitting import Nodes, requirement_of_spec
from d0ctl.store.nodes.standstill import node_views
from d0ctl.store.tasks import merging, state, task_broker
from d0ctl.store.tasks.generation import on_nodes
from d0ctl.store.tasks.state import Task

STATUSES = ("ready", "scouting", "running", "finishing", "prepared")
"""The statuses of tasks that it works on."""

REST_S = 60.0
"""How long it waits for a node if no other cluster can get the files."""


def placed(store: Store, task: Task, spec: JobSpec, contents: Sequence[int], now: float) -> JobSpec:
    """Return packages that merge files with the nodes of the destination of their task."""
    lines = list(spec.stages[0].lines)
    first = lines[0].packages[0]
    if task.rules.nodes or first.nodes:
        return spec
    nodes = tuple(json.loads(task.destination_nodes or "[]"))
    if task_broker.is_gone(store, task) or not nodes:
        asked = requirement_of_spec(first, Catalogue(store), id=0, ready=1)
        against = Nodes(store, now=now).against(asked)
        able = {name for name, why in against.items() if why is None}
        choice = task_broker.choose(store, task, contents, able)
        if choice is None:
            return spec
        with store.writing():
            task_broker.keep(store, task, choice.best, task_notes.destination(choice))
        nodes = choice.best.nodes
    stage = replace(spec.stages[0], lines=tuple([on_nodes(line, nodes) for line in lines]))
    return replace(spec, stages=(stage, *spec.stages[1:]))


def act(store: Store, task: Task, clock: Clock) -> bool:
    """Choose another cluster for packages that merge; return whether there is one."""
    able = {view.name for view in node_views(store)}
    found = task_broker.choose(store, task, merging.in_merge(store, task), able)
    with store.writing():
        if found is None:
            why = task_notes.no_destination(task.destination or "")
            state.wait(store, task, why, until=clock() + REST_S)
            return False
        task_broker.keep(store, task, found.best, task_notes.destination(found))
    return True


def wants(store: Store, task: Task, now: float) -> bool:
    """Return whether the nodes are gone where the outputs of a task are merged."""
    return not task.rules.nodes and task_broker.is_gone(store, task)
