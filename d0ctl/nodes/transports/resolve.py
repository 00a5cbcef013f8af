"""The route to a destination, as OpenSSH resolves it by `ssh -G`, and a turn to log in there."""

import getpass
import math
import os
import re
import shlex
import shutil
import subprocess
import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from d0ctl.errors import NodeUnreachable
from d0ctl.sitefile.addresses.destination import Destination, parse

CONFIG_VARIABLE = "D0CTL_SSH_CONFIG"
"""The environment variable that names an ssh_config to use in place of the user's."""

RESOLVE_TIMEOUT_S = 20.0
"""How long `ssh -G` may take; it runs the user's `Match exec`."""

MOST_JUMPS = 8
"""More jump hosts than this count as a loop."""

DEFAULT_IDENTITIES = ("~/.ssh/id_ed25519", "~/.ssh/id_ecdsa", "~/.ssh/id_rsa")


class Hop(Struct, frozen=True):
    """One sshd on the route: its address, the user there, and the name of its host key."""

    asked: str
    host: str
    port: int
    user: str
    identities: tuple[Path, ...] = ()
    identities_only: bool = False
    agent: str = ""
    alias: str = ""
    proxy_command: str = ""
    connect_timeout: float | None = None

    @property
    def known_as(self) -> str:
        """Its name in a known_hosts file."""
        if self.alias:
            return self.alias.lower()
        host = self.host.lower()
        return host if self.port == 22 else f"[{host}]:{self.port}"

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.user}@{host}:{self.port}"


class Route(Struct, frozen=True):
    """The route to a node: the jump hosts in order, then the node itself."""

    jumps: tuple[Hop, ...]
    target: Hop

    @property
    def hops(self) -> tuple[Hop, ...]:
        """All sshds on the route, the node's own last."""
        return (*self.jumps, self.target)


def by_hand(destination: str, identity: str = "") -> str:
    """Return the command by which a person reaches a node without d0ctl, and what it is for."""
    key = ["-i", identity] if identity else []
    command = shlex.join(["ssh", *key, *parse(destination).arguments()])
    return f"{command}   # to see whether host and port are right"


def resolve(destination: str, identity: str = "", config: Path | None = None) -> Route:
    """Return the route to `destination`; an `identity` file is the only key that is tried there.

    `config` is an ssh_config in place of the user's, by default what `D0CTL_SSH_CONFIG` names.
    """
    config = config or config_from_environment()
    route = route_to(parse(destination), config, MOST_JUMPS)
    if not identity:
        return route
    only = (Path(identity).expanduser(),)
    return Route(route.jumps, replace(route.target, identities=only, identities_only=True))


def config_from_environment() -> Path | None:
    """Return the ssh_config that the environment names."""
    path = os.environ.get(CONFIG_VARIABLE)
    return Path(path) if path else None


def route_to(wanted: Destination, config: Path | None, most: int) -> Route:
    """Resolve `wanted`, then its jump hosts."""
    if most < 0:
        raise NodeUnreachable(f"the jumps to `{wanted.host}` form a circle: see your ssh_config")
    options = ask_ssh(wanted, config)
    target = hop_from(wanted, options)
    jumps = options.get("proxyjump", ["none"])[0]
    if jumps == "none":
        return Route((), target)
    first, *others = [parse(jump.removeprefix("ssh://")) for jump in jumps.split(",")]
    nearest = route_to(first, config, most - 1)
    # OpenSSH uses only the first jump's own proxy; each other one is reached through the previous
    direct = [replace(hop_from(jump, ask_ssh(jump, config)), proxy_command="") for jump in others]
    return Route((*nearest.hops, *direct), replace(target, proxy_command=""))


def ask_ssh(wanted: Destination, config: Path | None) -> Mapping[str, list[str]]:
    """Return the options for `wanted`, by name in lower case; none without an ssh program."""
    program = shutil.which("ssh")
    if not program:
        return {}
    option = ["-F", str(config)] if config else []
    try:
        done = subprocess.run(
            [program, "-G", *option, *wanted.arguments()],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=RESOLVE_TIMEOUT_S,
        )
    except subprocess.TimeoutExpired as error:
        raise NodeUnreachable(f"`ssh -G {wanted.host}` takes too long") from error
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
        raise NodeUnreachable(f"`ssh -G {wanted.host}` refuses: {reason}")
    options: dict[str, list[str]] = {}
    for line in done.stdout.splitlines():
        name, _, value = line.partition(" ")
        options.setdefault(name.lower(), []).append(value)
    return options


def hop_from(wanted: Destination, options: Mapping[str, list[str]]) -> Hop:
    """Return the hop that these options describe, with OpenSSH's defaults for missing ones."""
    first = {name: values[0] for name, values in options.items()}
    hop = Hop(
        asked=wanted.host,
        host=first.get("hostname", wanted.host),
        port=int(first.get("port", wanted.port or 22)),
        user=first.get("user", wanted.user or getpass.getuser()),
        identities_only=first.get("identitiesonly") == "yes",
        agent=agent_socket(first.get("identityagent", "SSH_AUTH_SOCK")),
        alias=first.get("hostkeyalias", ""),
        connect_timeout=seconds(first.get("connecttimeout", "none")),
    )
    command = first.get("proxycommand", "none")
    return replace(
        hop,
        proxy_command="" if command == "none" else expand(command, hop),
        identities=tuple(
            Path(expand(name, hop)).expanduser()
            for name in options.get("identityfile", DEFAULT_IDENTITIES)
            if name != "none"
        ),
    )


def agent_socket(value: str) -> str:
    """Return the path of the agent's socket; empty for none."""
    if value == "none":
        return ""
    if value == "SSH_AUTH_SOCK":
        return os.environ.get("SSH_AUTH_SOCK", "")
    return os.path.expandvars(str(Path(value).expanduser()))


def seconds(value: str) -> float | None:
    """Return a time-out of the user's ssh_config, if it has one."""
    return float(value) if value.isdigit() and int(value) > 0 else None


def expand(text: str, hop: Hop) -> str:
    """Replace the `%` tokens of ssh_config that name the hop and the local user."""
    tokens = {
        "%": "%",
        "h": hop.host,
        "p": str(hop.port),
        "r": hop.user,
        "n": hop.asked,
        "k": hop.alias or hop.host,
        "u": getpass.getuser(),
        "d": str(Path.home()),
    }
    return re.sub(r"%(.)", lambda found: tokens.get(found[1], found[0]), text)


def ssh_config(
    known_hosts: Path,
    connect: float,
    io: float,
    config: Path | None,
    ciphers: str = "",
    *,
    is_attended: bool = False,
) -> str:
    """Return settings that apply to the node and, unlike options of a command, to each jump host.

    ssh takes the first value that it finds, so d0ctl's settings come before the user's.
    """
    config_file = config or config_from_environment()
    user = [config_file] if config_file else [Path("~/.ssh/config"), Path("/etc/ssh/ssh_config")]
    return "\n".join(
        [
            "Host *",
            f"UserKnownHostsFile {quoted(known_hosts)}",
            "GlobalKnownHostsFile /dev/null",
            "KnownHostsCommand none",
            "StrictHostKeyChecking yes",
            "VerifyHostKeyDNS no",
            "UpdateHostKeys no",
            "CheckHostIP no",
            f"BatchMode {'no' if is_attended else 'yes'}",
            "ControlPath none",
            "ControlMaster no",
            "ControlPersist no",
            "ClearAllForwardings yes",
            "PermitLocalCommand no",
            "RemoteCommand none",
            "RequestTTY no",
            "LogLevel ERROR",
            f"ConnectTimeout {math.ceil(connect)}",
            f"ServerAliveInterval {math.ceil(io / 4)}",
            "ServerAliveCountMax 3",
            *([f"Ciphers {ciphers}"] if ciphers else []),
            *(f"Include {quoted(path)}" for path in user),
            "",
        ]
    )


def quoted(path: Path) -> str:
    """Return a path as ssh_config reads it."""
    return '"' + str(path).replace("%", "%%") + '"'


AT_ONCE = 5
"""How many may log in to a gateway at once; sshd drops from ten on (`MaxStartups 10:30:100`)."""

_slots: defaultdict[str, threading.BoundedSemaphore] = defaultdict(
    lambda: threading.BoundedSemaphore(AT_ONCE)
)
_lock = threading.Lock()


@contextmanager
def login_slot(gateway: Hop) -> Iterator[None]:
    """Wait for a turn to log in to the first host on the route to a node, and keep it."""
    with _lock:
        slot = _slots[gateway.known_as]
    with slot:
        yield
