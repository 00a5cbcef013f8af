"""Logins that a person has made, for hosts that ask for a password or a second factor.

An ssh master without a terminal holds such a login in the background. It stays when the daemon
ends, and everything that d0ctl starts on the node goes through it.
"""

import shutil
import subprocess
from pathlib import Path

from d0ctl.config import Home
from d0ctl.nodes.transports.openssh import MasterTransport, arguments_of, failure, ssh
from d0ctl.nodes.transports.resolve import config_from_environment, ssh_config
from d0ctl.nodes.transports.transport import CONNECT_TIMEOUT_S, IO_TIMEOUT_S, Address

ANSWER_S = 10.0
"""How long a master may take to answer."""


def transport(
    address: Address, known_hosts: Path, io_timeout: float = IO_TIMEOUT_S
) -> MasterTransport | None:
    """Return the connection by the standing login to a node's destination, if there is one."""
    folder = folder_of(address, known_hosts)
    return MasterTransport(address, folder, io_timeout) if is_logged_in(address, folder) else None


def folder_of(address: Address, known_hosts: Path) -> Path:
    """Return the folder of the home where the login to a destination is kept."""
    return Home(known_hosts.parent).login_to(address.destination)


def is_logged_in(address: Address, folder: Path) -> bool:
    """Return whether the master of a login is running."""
    return folder.is_dir() and _ask(address, folder, "check")


def begin(address: Address, known_hosts: Path) -> None:
    """Log in, with ssh's questions at the terminal, and keep the login.

    Raises NodeUnreachable with ssh's reason.
    """
    folder = folder_of(address, known_hosts)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(mode=0o700, parents=True)
    config = config_from_environment()
    (folder / "config").write_text(
        ssh_config(known_hosts, CONNECT_TIMEOUT_S, IO_TIMEOUT_S, config, is_attended=True)
    )
    log = folder / "log"
    master = ssh(
        folder, "-E", str(log), "-o", "ControlMaster=yes", "-f", "-N", *arguments_of(address)
    )
    ended = subprocess.run(master, cwd=folder, stdout=subprocess.DEVNULL)
    if ended.returncode:
        said = log.read_text(errors="replace") if log.exists() else ""
        shutil.rmtree(folder, ignore_errors=True)
        raise failure(address, said)


def end(address: Address, known_hosts: Path) -> bool:
    """End a login; return whether there was one."""
    folder = folder_of(address, known_hosts)
    was_there = folder.is_dir() and _ask(address, folder, "exit")
    shutil.rmtree(folder, ignore_errors=True)
    return was_there


def _ask(address: Address, folder: Path, order: str) -> bool:
    try:
        asked = subprocess.run(
            ssh(folder, "-O", order, *arguments_of(address)),
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=ANSWER_S,
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
    return asked.returncode == 0
