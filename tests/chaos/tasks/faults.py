"""What happens to agents and their task; each says whether there was something to do it to."""

import random
import signal
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from d0ctl.errors import ExitCode
from tests.chaos.field import Field
from tests.chaos.links import send_all
from tests.chaos.tasks import production
from tests.chaos.work import JOB
from tests.support.waiting import Pid, kill_all

PROGRAM = Path(__file__).with_name("agent.py")


def agents(field: Field) -> list[Pid]:
    """The processes that work on the task."""
    marks = (str(PROGRAM), "d0ctl.agents")
    found = [pid for pid in field.processes() if any(one in pid.command_line() for one in marks)]
    return sorted(found, key=lambda pid: pid.number)


def kill(some: Callable[[random.Random, list[Pid]], list[Pid]], field: Field,
         chance: random.Random) -> bool:  # fmt: skip
    """Agents are killed from outside."""
    there = agents(field)
    if there:
        kill_all(some(chance, there))
    return bool(there)


def trap(field: Field, chance: random.Random) -> bool:
    """The next agent is killed at a point of its own, and one that there is now."""
    field.orders.kill("agent", chance)
    return kill(one, field, chance)


def one(chance: random.Random, there: list[Pid]) -> list[Pid]:
    """Any of them."""
    return [chance.choice(there)]


def freeze(field: Field, chance: random.Random) -> bool:
    """An agent stops, perhaps for longer than it may keep its tasks."""
    there = agents(field)
    if not there:
        return False
    asleep = one(chance, there)
    send_all(asleep, signal.SIGSTOP)
    field.later(chance.uniform(0.2, 2.5), lambda: send_all(asleep, signal.SIGCONT))
    return True


def freeze_daemon(field: Field, chance: random.Random) -> bool:
    """The daemon stops, and the supervisor with it; its agents go on."""
    asleep = [field.pilot] if field.pilot else []
    send_all(asleep, signal.SIGSTOP)
    field.later(chance.uniform(0.2, 2.5), lambda: send_all(asleep, signal.SIGCONT))
    return bool(asleep)


def add_agents(field: Field, chance: random.Random) -> bool:
    """Another control process works on the same database for a while."""
    with (field.folder / "drivers.log").open("ab") as log:
        words = [sys.executable, str(PROGRAM), str(field.orders.folder), str(field.home.root)]
        other = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=log, stderr=log, cwd="/")
    field.later(chance.uniform(1, 3), partial(_end, other))
    return True


def _end(other: "subprocess.Popen[bytes]") -> None:
    other.kill()
    assert other.stdin is not None
    other.stdin.close()
    other.wait()


def kill_package(field: Field, chance: random.Random) -> bool:
    """A person kills a package; its files go into others."""
    paths = [path for path, phase in field.phases().items() if phase not in ("done", "dropped")]
    return (
        bool(paths) and field.call("kill", chance.choice(sorted(paths)), "--yes") == ExitCode.DONE
    )


def pause(field: Field, chance: random.Random) -> bool:
    """A person pauses the task for a while, by a command that may be killed itself."""
    if chance.random() < 0.3:
        field.orders.kill("call", chance)
    was_paused = field.call("task", "pause", JOB) == ExitCode.DONE
    field.later(chance.uniform(0.1, 1), lambda: field.call("task", "resume", JOB))
    return was_paused


def arrive(field: Field, chance: random.Random) -> bool:
    """Files arrive; a person has the task look until the command is through."""
    production.arrive(field)
    if chance.random() < 0.3:
        field.orders.kill("call", chance)
    field.requests.append("incexec")
    return True


def again(field: Field, chance: random.Random) -> bool:
    """When the task has ended, a person retries it once."""
    field.requests.append("retry")
    return True


TASK_FAULTS: dict[str, Callable[[Field, random.Random], bool]] = {
    "agent killed": partial(kill, one),
    "all agents killed": partial(kill, lambda _, there: there),
    "agent killed at a point": trap,
    "agent asleep": freeze,
    "daemon asleep": freeze_daemon,
    "agents of another process": add_agents,
    "package killed": kill_package,
    "task paused": pause,
    "files arrive": arrive,
    "task retried": again,
}
"""What is done for each kind of a plan, beside what happens to jobs."""
