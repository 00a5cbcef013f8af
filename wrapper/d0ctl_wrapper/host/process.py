"""Processes of the node, by /proc: whether they live, their parents and their marks."""

import os
import signal
from typing import Dict, NamedTuple

from d0ctl_wrapper.protocol.paths import read

_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")

SET_DEATH_SIGNAL = 1
SET_CHILD_SUBREAPER = 36


class Process(NamedTuple):
    """The state of one process in /proc."""

    parent: int
    session: int
    started: int
    is_zombie: bool


def become_reaper() -> bool:
    """Adopt orphans among the descendants of this process; return False if the system can't."""
    return call_c("prctl", SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0


def die_with_parent(parent: int) -> None:
    """Have this process killed when its parent ends, and exit if it has ended already."""
    call_c("prctl", SET_DEATH_SIGNAL, int(signal.SIGKILL), 0, 0, 0)
    if os.getppid() != parent:
        os._exit(0)


def call_c(name: str, *arguments: int) -> int:
    """Call a function of the C library; return -1 if that is not possible.

    `_ctypes` takes a third of the time that `ctypes` takes to import.
    """
    try:
        import _ctypes  # late: a job of a batch system calls it once, others before they fork

        library = _ctypes.dlopen(None, 0)  # type: ignore[arg-type]
        function = _ctypes.dlsym(library, name)
        return int(_ctypes.call_function(function, arguments))
    except (ImportError, OSError, AttributeError):
        return -1


def boot_id() -> str:
    """Return the id of this boot of the machine."""
    with open("/proc/sys/kernel/random/boot_id") as file:
        return file.read().strip()


def inspect(pid: int) -> "Process | None":
    """Return the state of one process, or None."""
    try:
        text = read(b"/proc/%d/stat" % pid)
    except (FileNotFoundError, ProcessLookupError):
        return None
    fields = text[text.rindex(b")") + 2 :].split()
    return Process(int(fields[1]), int(fields[3]), int(fields[19]), fields[0] in (b"Z", b"X"))


def is_alive(pid: int, started: int) -> bool:
    """Return whether the process that started at this clock tick is alive."""
    process = inspect(pid)
    return process is not None and process.started == started and not process.is_zombie


def table() -> "Dict[int, Process]":
    """Return all processes except zombies."""
    pids = [int(name) for name in os.listdir("/proc") if name.isdigit()]
    found = ((pid, inspect(pid)) for pid in pids)
    return {pid: process for pid, process in found if process and not process.is_zombie}


def descendants(processes: "Dict[int, Process]", ancestor: int) -> "set[int]":
    """Return the processes below `ancestor`."""
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
    """Find the processes below `ancestor`, by the kernel's lists of children if it keeps any."""
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
    """Read the children of a process; raise FileNotFoundError if the kernel keeps no lists."""
    children: "set[int]" = set()
    folder = "/proc/%d/task" % pid
    try:
        # A folder has two links, and this one another for each thread; most processes have one.
        threads = [str(pid)] if os.stat(folder).st_nlink == 3 else os.listdir(folder)
    except (FileNotFoundError, ProcessLookupError):
        return children
    for thread in threads:
        try:
            names = read(b"/proc/%d/task/%d/children" % (pid, int(thread)))
        except ProcessLookupError:
            continue
        except FileNotFoundError:
            if os.path.exists("/proc/%d/task/%s" % (pid, thread)):
                raise
            continue
        children.update(int(name) for name in names.split())
    return children


class Usage(NamedTuple):
    """CPU seconds of a living process and its reaped children, and its memory in bytes."""

    cpu: float
    rss: int


def usage(pid: int) -> "Usage | None":
    """Return the usage of one process, or None."""
    try:
        text = read(b"/proc/%d/stat" % pid)
    except (FileNotFoundError, ProcessLookupError):
        return None
    fields = text[text.rindex(b")") + 2 :].split()
    return Usage(sum(int(field) for field in fields[11:15]) / _TICKS, int(fields[21]) * _PAGE)


def bytes_read(pid: int) -> int:
    """Return the bytes that a process has read from anything; 0 if unknown."""
    try:
        return int(read(b"/proc/%d/io" % pid).split(b"\n")[0].partition(b":")[2])
    except (OSError, ValueError):
        return 0


def memory(pid: int) -> int:
    """Return the memory of one process, with its share of shared pages; slow for a large one."""
    try:
        lines = read(b"/proc/%d/smaps_rollup" % pid).split(b"\n")
        return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(b"Pss:"))
    except OSError:
        found = usage(pid)
        return found.rss if found is not None else 0


def marks(pid: int) -> "tuple[bytes, bytes] | None":
    """Return base and attempt from the environment of a process; None if it has no such marks."""
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
    """Signal a process, which may have ended or belong to another user by now."""
    try:
        os.kill(pid, number)
    except (ProcessLookupError, PermissionError):
        pass
