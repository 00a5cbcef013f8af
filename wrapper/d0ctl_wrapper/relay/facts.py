"""Facts about the node: machine, user, disk."""

import binascii
import os
import pwd
import re
import sys
import time
from contextlib import suppress
from typing import Any, Dict, List

from d0ctl_wrapper.host import process
from d0ctl_wrapper.host.machine import machine_id, read
from d0ctl_wrapper.protocol.paths import to_text

_GPU = re.compile(r"\d+\Z|(GPU|MIG)-[A-Za-z0-9/-]{1,100}\Z", re.ASCII)
_DEVICE = re.compile(r"nvidia(\d+)\Z", re.ASCII)


def gather(base: bytes) -> "Dict[str, Any]":
    """Describe this node, and the disk that `base` is or will be on."""
    folder = read(to_text(_mark_beside(base)))
    return {**_machine(), **_user(), **_disk(base), "base": to_text(base), "folder": folder}


def mark_folder(base: bytes) -> None:
    """Give the folder around `base` an id, unless it has one.

    Nodes that report the same id have one folder, so they can share a cache. It stays without an
    id if that can't be written.
    """
    path = _mark_beside(base)
    if os.path.exists(path):
        return
    with suppress(OSError), open(path, "x", encoding="ascii") as file:
        file.write(binascii.hexlify(os.urandom(8)).decode())


def _mark_beside(base: bytes) -> bytes:
    return os.path.dirname(base) + b"/.folder"


def load() -> float:
    """Return the load of the last minute."""
    return os.getloadavg()[0]


def cpus() -> int:
    """Return the number of CPUs that this process may use."""
    return len(os.sched_getaffinity(0))


def gpus(asked: "int | None" = None) -> "List[str]":
    """Return the indices of the GPUs of this node; `asked` is the configured number.

    In an allocation of a batch system, the environment names them.
    """
    visible_devices = os.environ.get("CUDA_VISIBLE_DEVICES")
    if visible_devices is not None:
        found = [name for name in visible_devices.split(",") if _GPU.match(name)]
    else:
        devices = [device for device in map(_DEVICE.match, os.listdir("/dev")) if device]
        found = sorted((device.group(1) for device in devices), key=int)
    if asked is None or asked <= len(found):
        return found[:asked]
    return [str(number) for number in range(asked)]


def _machine() -> "Dict[str, Any]":
    now = time.time()
    system = os.uname()
    return {
        "time": now,
        "utc_offset": time.localtime(now).tm_gmtoff,
        "boot_id": process.boot_id(),
        "machine_id": machine_id(),
        "hostname": system.nodename,
        "system": system.sysname,
        "machine": system.machine,
        "os": _distribution(),
        "python": "%d.%d.%d" % sys.version_info[:3],
        "executable": sys.executable,
        "cpus": cpus(),
        "gpus": len(gpus()),
        "memory": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "load": load(),
    }


def _user() -> "Dict[str, Any]":
    try:
        entry = pwd.getpwuid(os.getuid())
    except KeyError:
        return {"user": str(os.getuid()), "home": os.environ.get("HOME", ""), "shell": ""}
    home = os.environ.get("HOME", entry.pw_dir)
    return {"user": entry.pw_name, "home": home, "shell": entry.pw_shell}


def free(base: bytes) -> "int | None":
    """Return the free bytes of the disk that `base` is on."""
    try:
        status = os.statvfs(base)
    except OSError:
        return None
    return status.f_bavail * status.f_frsize


def _disk(base: bytes) -> "Dict[str, Any]":
    existing = os.path.realpath(base)
    while not os.path.exists(existing):
        existing = os.path.dirname(existing)
    status = os.statvfs(existing)
    return {
        "disk_total": status.f_blocks * status.f_frsize,
        "disk_free": status.f_bavail * status.f_frsize,
        "filesystem": _filesystem(os.stat(existing).st_dev),
        "noexec": bool(status.f_flag & os.ST_NOEXEC),
    }


def _filesystem(device: int) -> str:
    """Return the type of the file system with this device number."""
    number = "%d:%d" % (os.major(device), os.minor(device))
    for line in read("/proc/self/mountinfo").splitlines():
        fields = line.split(" ")
        if fields[2] == number and "-" in fields:
            return fields[fields.index("-") + 1]
    return ""


def _distribution() -> str:
    for line in read("/etc/os-release").splitlines():
        name, _, value = line.partition("=")
        if name == "PRETTY_NAME":
            return value.strip("\"'")
    return ""
