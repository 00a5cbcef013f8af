"""The faults: each does one thing to a field, and says whether there was something to do it to."""

import random
import signal
import subprocess
from collections.abc import Callable
from functools import partial

from d0ctl.errors import ExitCode
from tests.chaos import links, tamper, work
from tests.chaos.field import Field
from tests.chaos.links import send_all
from tests.chaos.plan import PARTITION
from tests.chaos.tasks.faults import TASK_FAULTS
from tests.support.slurm import CONTROLLER
from tests.support.waiting import Pid, descendants, kill_all

Fault = Callable[[Field, random.Random], bool]


def kill_daemon(field: Field, chance: random.Random) -> bool:
    """The daemon is killed from outside."""
    field.kill_daemon()
    return True


def trap_daemon(field: Field, chance: random.Random) -> bool:
    """The next daemon is killed at a point of its own, and the one there is now."""
    field.orders.kill("daemon", chance)
    field.kill_daemon()
    return True


def add_driver(field: Field, chance: random.Random) -> bool:
    """`d0ctl run` works for a while beside the daemon, or in its place."""
    second = field.second_driver()
    field.later(chance.uniform(0.5, 2), lambda: send_all([second], signal.SIGKILL))
    return True


def sleep(field: Field, chance: random.Random) -> bool:
    """One process, at random, stops for a while."""
    there = sorted(field.processes(), key=lambda pid: pid.number)
    if not there:
        return False
    asleep = [chance.choice(there)]
    send_all(asleep, signal.SIGSTOP)
    field.later(chance.uniform(0.2, 2.5), lambda: send_all(asleep, signal.SIGCONT))
    return True


def kill_relay(field: Field, chance: random.Random) -> bool:
    """The relay of a node is killed."""
    return _kill_one(chance, [field.relay(chance.choice(field.plan.nodes))])


def trap_relay(field: Field, chance: random.Random) -> bool:
    """The next relay is killed at a point of its own."""
    field.orders.kill("relay", chance)
    kill_relay(field, chance)
    return True


def kill_wrapper(field: Field, chance: random.Random) -> bool:
    """A wrapper is killed."""
    return _kill_one(chance, [Pid.of(pid) for pid in sorted(field.wrappers().values())])


def trap(role: str, field: Field, chance: random.Random) -> bool:
    """The next process of a role that a relay forks is killed at a point of its own."""
    field.orders.kill(role, chance)
    return True


def kill_binary(field: Field, chance: random.Random) -> bool:
    """A process of a binary is killed."""
    found = [pid for wrapper in field.wrappers().values() for pid in descendants(wrapper)]
    return _kill_one(chance, sorted(found, key=lambda pid: pid.number))


def kill_and_retry(field: Field, chance: random.Random) -> bool:
    """A person kills a package, by a command that may be killed itself; it is retried later."""
    paths = sorted(set(field.phases()) - {work.BAD})
    if not paths:
        return False
    if chance.random() < 0.4:
        field.orders.kill("call", chance)
    return field.call("kill", chance.choice(paths), "--yes") == ExitCode.DONE


def spoil(deed: str, field: Field, chance: random.Random) -> bool:
    """A frame between the next relay of a node and its control host has bad luck."""
    field.orders.spoil(deed, chance)
    kill_relay(field, chance)
    return True


def fill(name: str, field: Field, chance: random.Random) -> bool:
    """A disk is full for a while."""
    disk = field.disks[name]
    driver = [field.pilot] if field.pilot else []
    users = field.of_node(name) if name in field.sshds else driver
    disk.fill(users)
    field.later(chance.uniform(0.1, 1.0), lambda: disk.clear(field.processes()))
    return True


def fill_node(field: Field, chance: random.Random) -> bool:
    """The disk of a node is full for a while."""
    name = chance.choice(field.plan.nodes)
    return fill(name if name in field.sshds else "home", field, chance)


def kill_slurm(what: str, field: Field, chance: random.Random) -> bool:
    """The controller of Slurm, or the daemon of one of its machines, is killed, and comes back."""
    assert field.engine is not None
    engine = field.engine
    there = [name for name in engine.daemons if (name == CONTROLLER) == (what == CONTROLLER)]
    if not there:
        return False
    name = chance.choice(there)
    engine.kill(name)
    field.later(chance.uniform(0.2, 3.0), lambda: engine.start(name))
    return True


def cancel_allocation(field: Field, chance: random.Random) -> bool:
    """A running pilot is cancelled from outside."""
    assert field.engine is not None
    try:
        jobs = field.engine.call("squeue", "--noheader", "--states=R", "--format=%A").split()
        if jobs:
            field.engine.call("scancel", chance.choice(sorted(jobs)))
    except subprocess.CalledProcessError:  # the controller is away
        return False
    return bool(jobs)


def kill_step(field: Field, chance: random.Random) -> bool:
    """The way to a pilot breaks: the client of its step is killed."""
    steps = [pid for pid in field.processes() if "/srun " in pid.command_line()[:200]]
    return _kill_one(chance, sorted(steps, key=lambda pid: pid.number))


def _kill_one(chance: random.Random, found: list[Pid] | list[Pid | None]) -> bool:
    there = [pid for pid in found if pid]
    if not there:
        return False
    kill_all([chance.choice(there)])
    return True


FAULTS: dict[str, Fault] = {
    "daemon killed": kill_daemon,
    "daemon killed at a point": trap_daemon,
    "second driver": add_driver,
    "process asleep": sleep,
    "relay killed": kill_relay,
    "relay killed at a point": trap_relay,
    "wrapper killed": kill_wrapper,
    "wrapper killed at a point": partial(trap, "wrapper"),
    "helper killed at a point": partial(trap, "helper"),
    "binary killed": kill_binary,
    "kill and retry": kill_and_retry,
    "message lost": lambda field, chance: tamper.tamper(field, chance, tamper.lose),
    "message doubled": lambda field, chance: tamper.tamper(field, chance, tamper.double),
    "message delayed": lambda field, chance: tamper.tamper(field, chance, tamper.delay),
    "message truncated": lambda field, chance: tamper.tamper(field, chance, tamper.truncate),
    "message forged": tamper.forge,
    "frame doubled": partial(spoil, "double"),
    "frame lost": partial(spoil, "lose"),
    "frame delayed": partial(spoil, "delay"),
    "frame halved": partial(spoil, "halve"),
    "frame garbled": partial(spoil, "garble"),
    "answer cut off": partial(spoil, "cut"),
    "home full": partial(fill, "home"),
    "drop-box full": partial(fill, "drop-box"),
    "node full": fill_node,
    "connections cut": links.cut,
    "sshd frozen": links.freeze,
    "sshd away": partial(links.be_away, 0.8),
    "node rebooted": links.reboot,
    "power cut": partial(links.reboot, is_power_cut=True),
    PARTITION: links.part,
    "controller killed": partial(kill_slurm, CONTROLLER),
    "slurmd killed": partial(kill_slurm, "slurmd"),
    "allocation cancelled": cancel_allocation,
    "step killed": kill_step,
    **TASK_FAULTS,
}
"""What is done for each kind of a plan."""
