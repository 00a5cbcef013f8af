"""The only place that looks at processes: who lives, who descends from whom, who is marked."""

import os
import signal
from typing import Callable, Dict, NamedTuple

from d0ctl_wrapper.protocol.paths import read

try:
    import ctypes

    _prctl: "Callable[..., int] | None" = ctypes.CDLL(None).prctl
except (ImportError, OSError, AttributeError):
    _prctl = None

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")

SET_DEATH_SIGNAL = 1
SET_CHILD_SUBREAPER = 36


class Process(NamedTuple):
    """What /proc says about one process."""

    parent: int
    session: int
    started: int
    is_zombie: bool


def become_reaper() -> bool:
    """Make orphans among our descendants our children; false where the system can't."""
    return _prctl is not None and _prctl(SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0


def die_with_parent(parent: int) -> None:
    """Have this process killed as soon as the one that forked it ends, or has ended already."""
    if _prctl is not None:
        _prctl(SET_DEATH_SIGNAL, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != parent:
        os._exit(0)


def boot_id() -> str:
    """Name this boot of the machine."""
    with open("/proc/sys/kernel/random/boot_id") as file:
        return file.read().strip()


def look(pid: int) -> "Process | None":
    """Look at one process; None when there is none."""
    try:
        text = read(b"/proc/%d/stat" % pid)
    except (FileNotFoundError, ProcessLookupError):
        return None
    fields = text[text.rindex(b")") + 2 :].split()
    return Process(int(fields[1]), int(fields[3]), int(fields[19]), fields[0] in (b"Z", b"X"))


def is_alive(pid: int, started: int) -> bool:
    """Tell whether the process that started at this clock tick still runs."""
    process = look(pid)
    return process is not None and process.started == started and not process.is_zombie


def table() -> "Dict[int, Process]":
    """Look at all processes but the zombies."""
    pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    found = ((pid, look(pid)) for pid in pids)
    return {pid: process for pid, process in found if process and not process.is_zombie}


def descendants(processes: "Dict[int, Process]", ancestor: int) -> "set[int]":
    """Pick out all processes below `ancestor`."""
    children: "Dict[int, list[int]]" = {}
    for pid, process in processes.items():
        children.setdefault(process.parent, []).append(pid)
    found: "set[int]" = set()
    rest = [ancestor]
    while rest:
        below = children.pop(rest.pop(), [])
        found.update(below)
        rest.extend(below)
    return found


def below(ancestor: int) -> "set[int]":
    """Find all processes below `ancestor`, by the kernel's own lists of children where it can."""
    found: "set[int]" = set()
    rest = [ancestor]
    try:
        while rest:
            children = _children(rest.pop())
            rest.extend(children - found)
            found |= children
    except FileNotFoundError:
        return descendants(table(), ancestor)
    return found


def _children(pid: int) -> "set[int]":
    """Read the children of a process; raise FileNotFoundError where the kernel keeps no lists."""
    found: "set[int]" = set()
    try:
        threads = os.listdir("/proc/%d/task" % pid)
    except (FileNotFoundError, ProcessLookupError):
        return found
    for thread in threads:
        try:
            names = read(b"/proc/%d/task/%d/children" % (pid, int(thread)))
        except ProcessLookupError:
            continue
        except FileNotFoundError:
            if os.path.exists("/proc/%d/task/%s" % (pid, thread)):
                raise
            continue
        found.update(int(name) for name in names.split())
    return found


class Usage(NamedTuple):
    """What a living process has used: seconds of cpu, its waited-for children's too, and bytes."""

    cpu: float
    rss: int


def usage(pid: int) -> "Usage | None":
    """Measure one process; None when there is none."""
    try:
        text = read(b"/proc/%d/stat" % pid)
    except (FileNotFoundError, ProcessLookupError):
        return None
    fields = text[text.rindex(b")") + 2 :].split()
    return Usage(sum(int(field) for field in fields[11:15]) / _TICKS, int(fields[21]) * _PAGE)


def bytes_read(pid: int) -> int:
    """Count the bytes that a process has read, wherever; 0 when nobody says."""
    try:
        return int(read(b"/proc/%d/io" % pid).split(b"\n")[0].partition(b":")[2])
    except (OSError, ValueError):
        return 0


def memory(pid: int) -> int:
    """Measure the memory of one process, of shared pages its part only; slow for a large one."""
    try:
        lines = read(b"/proc/%d/smaps_rollup" % pid).split(b"\n")
        return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(b"Pss:"))
    except OSError:
        found = usage(pid)
        return found.rss if found is not None else 0


def marks(pid: int) -> "tuple[bytes, bytes] | None":
    """Read the base and the attempt that a process was started for, in its environment."""
    try:
        with open("/proc/%d/environ" % pid, "rb", buffering=0) as file:
            environment = file.read()
    except OSError:
        return None
    values = dict(entry.partition(b"=")[::2] for entry in environment.split(b"\0"))
    if b"D0CTL_ATTEMPT_ID" not in values or b"D0CTL_BASE" not in values:
        return None
    return values[b"D0CTL_BASE"], values[b"D0CTL_ATTEMPT_ID"]


def send(pid: int, number: int) -> None:
    """Signal a process that may be gone already, or that has become another user's."""
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        pass
