"""A round of the agents over all tasks that are due."""

import logging
import time
from collections.abc import Callable, Collection, Mapping
from typing import NamedTuple

from d0ctl.agents import broker, closer, feeder, generator, merger, scouts, watchdog
from d0ctl.agents.agent import Clock
from d0ctl.errors import D0Error
from d0ctl.show.tasks import task_notes
from d0ctl.store.connection import Store
from d0ctl.store.tasks import content_follower, state
from d0ctl.store.tasks.state import Task

log = logging.getLogger("d0ctl")


class Agent(NamedTuple):
    """An agent by the statuses of the tasks that it works on."""

    statuses: Collection[str]
    act: Callable[[Store, Task, Clock], bool]
    wants: Callable[[Store, Task, float], bool]
    """Whether it may have something to do, asked before the task is locked."""


AGENTS: Mapping[str, Agent] = {
    "watchdog": Agent(watchdog.STATUSES, watchdog.act, watchdog.wants),
    "feeder": Agent(feeder.STATUSES, feeder.act, feeder.wants),
    "generator": Agent(generator.STATUSES, generator.act, generator.wants),
    "merger": Agent(merger.STATUSES, merger.act, merger.wants),
    "broker": Agent(broker.STATUSES, broker.act, broker.wants),
    "scouts": Agent(scouts.STATUSES, scouts.act, scouts.wants),
    "closer": Agent(closer.STATUSES, closer.act, closer.wants),
}
"""The agents that work on one task at a time, in the order of a task's life. The watchdog is first:
others leave a task that waits for a time, and it is not due any more in that round."""

REST_S = 10.0
"""How long a task is left alone after an error."""


def take(store: Store, stops: Callable[[], bool] = bool, clock: Clock = time.time) -> bool:
    """Let each agent work once on each task that is due; return whether any has changed one."""
    changed = content_follower.follow(store, now=clock())
    for name, agent in AGENTS.items():
        for number in state.in_status(store, agent.statuses, now=clock()):
            if stops():
                return False
            known = state.task(store, number)
            if (
                known is not None
                and known.status in agent.statuses
                and agent.wants(store, known, clock())
            ):
                changed = _work(store, number, name, agent, clock) or changed
    return changed


def _work(store: Store, number: int, name: str, agent: Agent, clock: Clock) -> bool:
    """Have an agent work on a task, unless another process does; an error only delays the task."""
    with state.locked(store, number, now=clock()) as task:
        if task is None or task.status not in agent.statuses:
            return False
        try:
            return agent.act(store, task, clock)
        except D0Error as error:
            why = task_notes.agent_failed(name, error)
            log.error("%s of task %s: %s", name, task.name, error)
        except Exception as error:
            why = task_notes.agent_failed(name, error)
            log.exception("%s of task %s failed and is tried again", name, task.name)
        with store.writing():
            state.wait(store, task, why, until=clock() + REST_S)
        return False
