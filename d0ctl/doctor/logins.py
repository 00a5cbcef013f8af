"""Whether the daemon's ways to log in to nodes survive the session of the person who started it."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

from d0ctl.doctor.finding import RESTART, Finding
from d0ctl.model import Node
from d0ctl.nodes.transports import standing_login
from d0ctl.store import Store
from d0ctl.store.nodes import registry
from d0ctl.store.nodes.holder import process_id
from d0ctl.store.nodes.leases import LEASE, living_holder

ANSWER_S = 5.0
"""How long `klist` and `loginctl` may take."""

AGAIN = f"d0ctl daemon stop; {RESTART}"


def logins(store: Store) -> Iterator[Finding]:
    """Yield what a logout ends, or has ended: the daemon, its ssh agent, its tickets, logins."""
    far = [row for row in registry.nodes(store) if row.kind != "local"]
    holder = living_holder(store, LEASE)
    process = Path("/proc", str(process_id(holder)) if holder else "self")
    if holder:
        yield from session(process)
    if not far:
        return
    variables = environment(process)
    if not all(row.identity for row in far):
        yield from agent(variables)
    yield from tickets(variables)
    yield from standing(store, far)


def environment(process: Path) -> dict[str, str]:
    """Return the variables that a process was started with; none if it is gone."""
    try:
        variables = (process / "environ").read_bytes().decode(errors="surrogateescape").split("\0")
    except OSError:
        return {}
    return dict(word.split("=", 1) for word in variables if "=" in word)


def session(process: Path) -> Iterator[Finding]:
    """Yield a finding if systemd ends the daemon at logout."""
    try:
        group = (process / "cgroup").read_text()
    except OSError:
        return
    linger, again = "loginctl enable-linger", f"systemd-run --user --scope {RESTART}"
    if re.search(r"/session-[^/]+\.scope", group) and login_manager("KillUserProcesses") == "yes":
        yield Finding("login", "the daemon", "ends when you log out",
                      f"{linger}; d0ctl daemon stop; {again}")  # fmt: skip
    elif re.search(r"/user@\d+\.service", group) and login_manager("Linger") == "no":
        yield Finding("login", "the daemon", "ends when you log out", linger)


def login_manager(name: str) -> str:
    """Return a property of systemd's login manager, or of this user there; empty without one."""
    if not shutil.which("loginctl"):
        return ""
    who = ["show-user", str(os.getuid())] if name == "Linger" else ["show-session"]
    try:
        asked = subprocess.run(["loginctl", *who, f"--property={name}"], stdin=subprocess.DEVNULL,
                               capture_output=True, text=True, timeout=ANSWER_S)  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return asked.stdout.strip().rpartition("=")[2]


def agent(variables: Mapping[str, str]) -> Iterator[Finding]:
    """Yield whether the agent that holds the keys exists, and stays."""
    socket = variables.get("SSH_AUTH_SOCK", "")
    if not socket:
        return
    if not Path(socket).is_socket():
        yield Finding("login", "the ssh agent", f"of the daemon is gone: `{socket}`",
                      f"{AGAIN}   # in a shell that has an agent")  # fmt: skip
    elif _is_forwarded(socket):
        yield Finding("login", "the ssh agent", "is forwarded to here, and ends when you log out",
                      f"{AGAIN}   # in a shell with an agent of this machine")  # fmt: skip


def _is_forwarded(socket: str) -> bool:
    """Return whether sshd made the socket; the number in its name is that process."""
    found = re.search(r"/agent\.(\d+)$", socket)
    with suppress(OSError):
        return found is not None and "sshd" in Path("/proc", found[1], "comm").read_text()
    return False


def tickets(variables: Mapping[str, str]) -> Iterator[Finding]:
    """Yield whether the Kerberos tickets are valid, and stay valid; nothing if none are in use."""
    cache = variables.get("KRB5CCNAME", "")
    if not cache:
        return
    example = "`KRB5CCNAME=FILE:$HOME/.krb5cc`"
    if not _is_valid(variables):
        yield Finding("login", "Kerberos", f"has no valid ticket in `{cache}`",
                      f"KRB5CCNAME={cache} kinit")  # fmt: skip
    elif re.search(r"^(FILE:)?/tmp/krb5cc_\d+_\w+$", cache) or cache.startswith("KEYRING:session"):
        yield Finding("login", "Kerberos", f"tickets in `{cache}` end when you log out",
                      f"kinit; {AGAIN}   # both with {example}")  # fmt: skip


def _is_valid(variables: Mapping[str, str]) -> bool:
    """Return whether there is a valid ticket; also true if no tool can tell."""
    program = shutil.which("klist", path=variables.get("PATH"))
    if not program:
        return True
    try:
        asked = subprocess.run([program, "-s"], env=dict(variables), stdin=subprocess.DEVNULL,
                               capture_output=True, timeout=ANSWER_S)  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return True
    return asked.returncode == 0


def standing(store: Store, far: list[Node]) -> Iterator[Finding]:
    """Logins by `node login` that have ended."""
    for row in far:
        address = registry.address_of(row)
        folder = standing_login.folder_of(address, store.home.known_hosts)
        if folder.is_dir() and not standing_login.is_logged_in(address, folder):
            yield Finding("login", row.name, "the login by `d0ctl node login` has ended",
                          f"d0ctl node login {row.name}")  # fmt: skip
