"""Faults between machines, and of whole machines: cut off, frozen, away, rebooted."""

import random
import signal
from contextlib import suppress

from tests.chaos import tamper
from tests.chaos.field import Field
from tests.support.sshd import Sshd
from tests.support.waiting import Pid, wait_until

BEYOND_S, WAKE_S = 4.5, 4.0
"""How long a node is away that is given up meanwhile; when it wakes, if it was asleep."""

WORK_S = 2.0
"""How long somebody waits for a node to be at work before it is cut off."""


def send_all(family: list[Pid], number: int) -> None:
    """Send a signal to those of these processes that are still there."""
    for pid in family:
        pid.kill(number)


def cut(field: Field, chance: random.Random) -> bool:
    """All connections of an sshd end."""
    sshd = _sshd(field, chance)
    if sshd.process is None:
        return False
    sshd.cut()
    return True


def freeze(field: Field, chance: random.Random) -> bool:
    """An sshd and its connections stand still for a while."""
    sshd = _sshd(field, chance)
    if sshd.process is None:
        return False
    frozen = [pid for pid in (Pid.of(sshd.pid), *sshd.connections()) if pid]
    send_all(frozen, signal.SIGSTOP)
    field.later(chance.uniform(0.2, 1.5), lambda: send_all(frozen, signal.SIGCONT))
    return True


def be_away(seconds: float, field: Field, chance: random.Random) -> bool:
    """An sshd is gone for a while; running packages of its node go on."""
    sshd = _sshd(field, chance)
    if sshd.process is None:
        return False
    sshd.stop()
    field.later(seconds, sshd.start)
    return True


def part(field: Field, chance: random.Random) -> bool:
    """A node at work is out of contact until it is given up, and perhaps asleep."""
    with suppress(TimeoutError):
        wait_until(lambda: _busy(field), WORK_S)
    busy = _busy(field)
    if not busy:
        return False
    name = chance.choice(busy)
    field.sshds[name].stop()
    if chance.random() < 0.7:
        asleep = field.of_node(name)
        send_all(asleep, signal.SIGSTOP)
        field.later(WAKE_S, lambda: send_all(asleep, signal.SIGCONT))
    field.later(BEYOND_S, field.sshds[name].start)
    return True


def _busy(field: Field) -> list[str]:
    """The nodes behind ssh that can be reached and have a wrapper that runs."""
    return [n for n, sshd in sorted(field.sshds.items()) if sshd.process and field.wrappers_of(n)]


def reboot(field: Field, chance: random.Random, is_power_cut: bool = False) -> bool:
    """A machine loses all its processes, and comes back with another boot id.

    In a power cut files that were just being written, and that nobody syncs, are empty then.
    """
    name = chance.choice(field.plan.nodes)
    sshd = field.sshds.get(name)
    if sshd:
        if sshd.process is None:
            return False
        sshd.close()
        field.later(chance.uniform(0, 0.5), sshd.start)
    else:
        field.kill_daemon()

    def dead() -> bool:
        found = field.of_node(name)
        for pid in found:
            pid.kill(signal.SIGKILL)
        return not found

    wait_until(dead, what=f"{name} is down")
    if is_power_cut:
        tamper.empty_new(field, name)
    field.boot(name)
    return True


def _sshd(field: Field, chance: random.Random) -> Sshd:
    return field.sshds[chance.choice(sorted(field.sshds))]
