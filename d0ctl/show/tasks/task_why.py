"""Why a task has its status, and what it waits for."""

from collections.abc import Iterator

from d0ctl.show.why import group
from d0ctl.show.why.common import MOST, Explanation
from d0ctl.show.why.package import chosen_node
from d0ctl.show.why.phases import task_in_vain
from d0ctl.store.connection import Store
from d0ctl.store.nodes.holder import any_driver
from d0ctl.store.nodes.site import IN_VAIN
from d0ctl.store.tasks import children, generation, state, task_broker, throttler
from d0ctl.store.tasks.state import Task
from d0ctl.store.tasks.throttler import Queue
from d0ctl.store.tasks.views import DatasetView, datasets
from d0ctl.store.tasks.views import task as summary
from d0ctl.store.views import browse
from d0ctl.units import count, duration, listed

MEANING = {
    "defined": "its datasets are looked up next",
    "pending": "a dataset is not available at present",
    "ready": "its files are known, and packages are made next",
    "scouting": "its first packages measure what the others will need",
    "running": "packages are made of its files",
    "finishing": "no more packages are made, and those that exist end first",
    "prepared": "its outputs are merged, if its file says so, and then checked",
    "aborting": "its packages end",
}
"""What the agents do with a task, or wait for."""


MERGES = {
    "prepared": "to be merged",
    "merging": "being merged",
    "failed": "not made, or not merged",
}
"""What the statuses of files to merge mean."""


def why(store: Store, number: int, now: float) -> Explanation:
    """Explain the status of a task."""
    task = state.task(store, number)
    assert task is not None
    name = task.name
    reason = task.waits or task.note or MEANING.get(task.status, "")
    actor = f" by {task.actor}" if task.actor and task.status == "paused" else ""
    answer = f"task `{name}` is {task.status}{actor}{f': {reason}' if reason else ''}"
    explanation = Explanation(name, task.status, answer, task.status)
    task_in_vain.add(store, task, explanation)
    explanation.commands.append(f"d0ctl task status {name}")
    if task.is_ended:
        if task.made:
            _of_job(store, task, explanation, now)
        return explanation
    if not any_driver(store):
        explanation.facts.append("no process drives packages and tasks")
        explanation.commands.append("d0ctl daemon start")
    rule = state.timeout(store, task)
    if rule is not None and now >= task.since + rule["after"]:
        explanation.facts.append(
            f"it may need you: it is {task.status} for {duration(now - task.since)}"
        )
    for dataset in datasets(store, number):
        explanation.facts += _of_dataset(dataset)
    if (whole := summary(store, name)).destination:
        explanation.facts.append(
            f"its outputs are merged at `{whole.destination}`: {whole.destination_why}"
        )
    if task.next_look > now:
        explanation.facts.append(f"the agents look at it again in {duration(task.next_look - now)}")
    if task.generates:
        explanation.facts += _of_packages(store, task, now)
        explanation.commands.append(f"d0ctl why {name}")
        if task.rules.waits_for_input and not generation.has_pickable(store, task):
            explanation.commands.append(f"d0ctl task finish {name}")
        if task.is_held:
            explanation.commands.append(f"d0ctl release {name}")
    return explanation


def _of_job(store: Store, task: Task, explanation: Explanation, now: float) -> None:
    """Say what became of the packages of a task that has ended, if not all were successful."""
    if task.status in IN_VAIN:
        packages = group.job(store, browse.job(store, task.name), now)
        explanation.facts += [packages.answer, *packages.facts]
        explanation.stderr = packages.stderr
    explanation.commands.append(f"d0ctl why {task.name}")


def _of_dataset(dataset: DatasetView) -> Iterator[str]:
    if dataset.type in ("input", "lib") and dataset.status not in ("ready", "done"):
        why = f": {dataset.note}" if dataset.note else ""
        yield f"dataset `{dataset.name}` is {dataset.status}{why}"
    if dataset.type.startswith("tmpl_"):
        for status, said in MERGES.items():
            if number := dataset.files.get(status):
                yield f"{count(number, 'file')} of dataset `{dataset.name}` {_are(number)} {said}"
    for status in ("missing", "lost", "broken", "failed"):
        if (number := dataset.files.get(status)) and dataset.type == "input":
            yield f"{count(number, 'file')} of dataset `{dataset.name}` {_are(number)} {status}"


def _are(number: int) -> str:
    return "is" if number == 1 else "are"


def _of_packages(store: Store, task: Task, now: float) -> Iterator[str]:
    """Say what keeps a task from making more packages."""
    queue = throttler.queue(store, task)
    waits = "waits" if queue.queued == 1 else "wait"
    yield f"{count(queue.queued, 'package')} of it {waits} for nodes, {queue.launched:,} on nodes"
    most = task.rules.max_packages
    if task.is_held:
        yield "its job is held or paused, so no packages are made"
    elif most is not None and task.made >= most:
        yield f"its rule `max-packages: {most}` is reached"
    elif makers := children.makers(store, task):
        yield f"it gets more files from task `{'`, `'.join(makers)}`"
    elif not generation.has_pickable(store, task):
        looks = "it looks for new ones each minute until you finish it"
        ends = looks if task.rules.waits_for_input else "it ends when they have ended"
        yield f"each of its files has a package or a result: {ends}"
    elif not task.rules.at_once and queue.is_enough:
        yield f"more packages are made when {queue.most // 2:,} or fewer wait{_others(queue)}"
    yield from _of_nodes(queue)
    for choice in throttler.node_choices(store, task, MOST):
        yield chosen_node(choice, now, subject="packages of it")
    for cluster in task_broker.busy(store, queue.able)[:MOST]:
        yield (f"cluster `{cluster.name}` has {count(cluster.packages, 'package')} and"
               f" {count(cluster.transfers, 'transfer')} to do")  # fmt: skip


def _others(queue: Queue) -> str:
    others = queue.sharers - 1
    takes = "takes" if others == 1 else "take"
    return f", as {count(others, 'other task')} of its share {takes} turns" if others > 0 else ""


def _of_nodes(queue: Queue) -> Iterator[str]:
    """Say which nodes take its packages, and why others take none."""
    if not queue.nodes:
        return
    able = [f"`{name}`" for name in queue.able]
    if len(able) > MOST:
        able[MOST:] = [f"{len(able) - MOST:,} more"]
    if able:
        yield f"{listed(able)} could run {count(queue.slots, 'package')} of it at once"
    else:
        yield "no node takes its packages: d0ctl node list"
    against = [(name, why) for name, why in queue.nodes.items() if why is not None]
    for name, why in against[:MOST]:
        yield f"node `{name}` takes none: {why}"
    if len(against) > MOST:
        yield f"{count(len(against) - MOST, 'more node')} likewise"
