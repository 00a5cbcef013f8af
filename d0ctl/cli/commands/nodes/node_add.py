"""How a node becomes one of ours: its keys are trusted by a person, then it says what it is."""

import re
import shlex
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from d0ctl.cli.terminal.output import can_ask, confirmed, say
from d0ctl.errors import BadUsage, NodeUnreachable
from d0ctl.nodes.link import Site, open_link
from d0ctl.nodes.transports import hostkeys
from d0ctl.nodes.transports.transport import Address
from d0ctl.store.connection import Store
from d0ctl.store.lifecycle import keep_action
from d0ctl.store.nodes import contact, registry
from d0ctl.store.nodes.site import site_name
from d0ctl.units import clean, listed

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,62}", re.ASCII)
_PLAIN = re.compile(r"[A-Za-z0-9._/-]+", re.ASCII)

MOST_HOPS = 9
"""More unknown hosts on one way than this are taken for a circle."""


def address(
    name: str,
    destination: str | None,
    identity: str | None,
    directory: str | None,
    python: str | None,
    via: str,
    *,
    local: bool,
) -> Address:
    """The address that these words give. Raises BadUsage."""
    if not _NAME.fullmatch(name):
        raise BadUsage(f"`{name}` can't be a node's name", hint="letters, digits, `.`, `_` and `-`")
    if destination and local:
        raise BadUsage(f"`{name}` is either this machine or `{destination}`",
                       hint="leave out --local, or the destination")  # fmt: skip
    if not destination and not local:
        raise BadUsage(f"where is `{name}`?", hint=f"d0ctl node add {name} [user@]host   "
                       f"# or --local for this machine")  # fmt: skip
    if via not in ("auto", "fabric", "openssh"):
        raise BadUsage(f"--via is auto, fabric or openssh, not `{via}`")
    for option, path in (("--dir", directory), ("--python", python)):
        if path and not _PLAIN.fullmatch(path):
            raise BadUsage(f"{option} `{path}` is no path of letters, digits and `._/-` alone")
    if directory and not directory.startswith("/"):
        raise BadUsage(f"--dir `{directory}` is not absolute")
    if identity and not Path(identity).expanduser().is_file():
        raise BadUsage(f"--identity: there is no file `{identity}`")
    return Address(
        name=name,
        kind="ssh" if destination else "local",
        destination=destination or "",
        identity=str(Path(identity).expanduser().absolute()) if identity else "",
        directory=directory or "",
        python=python or "",
        via=via,
    )


def meet(
    store: Store,
    address: Address,
    accepted: Sequence[str],
    command: Sequence[str],
    *,
    on_accepted: Callable[[str, str], None] | None = None,
) -> dict[str, Any]:
    """Reach the node, trusting the keys that a person trusts, and return what it says of itself.

    `command` is what a person types, less the fingerprints, to trust the keys that it shows.
    `on_accepted` gets the host and fingerprint of each key that is newly trusted.
    Raises NodeUnreachable: when it can't be reached, or when nobody trusts a key.
    """
    home = store.home
    site = Site(site_name(store), home.nodes, home.known_hosts, home.dropbox)
    shown: list[str] = []
    for _ in range(MOST_HOPS):
        try:
            with closing(open_link(address, site, visit=True)) as link:
                return link.facts
        except hostkeys.RevokedKey:
            raise
        except hostkeys.UntrustedKey as untrusted:
            shown.append(untrusted.key.fingerprint)
            _confirm(untrusted, accepted, _with_keys(command, shown))
            hostkeys.accept(home.known_hosts, untrusted.name, untrusted.key)
            if on_accepted:
                on_accepted(untrusted.name, untrusted.key.fingerprint)
    raise NodeUnreachable(f"the way to `{address.destination}` has no end")


def _confirm(untrusted: hostkeys.UntrustedKey, accepted: Sequence[str], line: str) -> None:
    """Return if a person trusts the key, by its fingerprint or by an answer at the terminal.

    `line` is the command that trusts it. Raises NodeUnreachable.
    """
    key = untrusted.key
    if key.fingerprint in accepted:
        return
    if can_ask():
        say(clean(str(untrusted)))
        if confirmed("trust this key?"):
            return
        raise NodeUnreachable(f"the host key of `{untrusted.name}` was not accepted") from untrusted
    if accepted:
        raise NodeUnreachable(
            f"the host key of `{untrusted.name}` is {key.fingerprint}, "
            f"not {listed(accepted, 'or')}",
            hint=f"{line}   # if that is right",
        ) from untrusted
    raise NodeUnreachable(str(untrusted), hint=f"{line}   # if that is its key") from untrusted


def _with_keys(command: Sequence[str], fingerprints: Sequence[str]) -> str:
    """The command line that trusts these keys as well."""
    option = () if command[:3] == ("d0ctl", "node", "accept-key") else ("--accept-key",)
    keys = [word for key in dict.fromkeys(fingerprints) for word in (*option, key)]
    return shlex.join([*command, *keys])


def add_command(
    address: Address, cpus: int | None, *, same_machine: bool = False
) -> tuple[str, ...]:
    """The words that add this node."""
    words = ["d0ctl", "node", "add", address.name, address.destination or "--local"]
    words += ["--same-machine"] if same_machine else []
    options = (("--identity", address.identity), ("--dir", address.directory),
               ("--python", address.python), ("--cpus", str(cpus or "")),
               ("--via", "" if address.via == "auto" else address.via))  # fmt: skip
    for option, value in options:
        words += [option, value] if value else []
    return tuple(words)


def keep(
    store: Store,
    address: Address,
    cpus: int | None,
    facts: dict[str, Any],
    actor: str,
    reason: str | None,
    *,
    same_machine: bool,
) -> None:
    """Add the node with what it said; whoever drives packages connects to it next.

    Raises Refused when another node is that machine already, unless a `same_machine` is meant.
    """
    now = time.time()
    if not same_machine:
        check_machine(store, address, cpus, facts)
    node = registry.add(store, address, cpus=cpus)
    with store.writing():
        contact.up(store, node, facts, now=now)
        contact.unknown(store, node, now=now)
        keep_action(store, verb="node add", target=address.name, actor=actor,
                    note=reason or address.destination, packages=0, now=now)  # fmt: skip


def check_machine(
    store: Store, address: Address, cpus: int | None, facts: Mapping[str, Any]
) -> None:
    """Raise Refused when another node is the machine at this address."""
    line = shlex.join(add_command(address, cpus, same_machine=True))
    registry.check_machine(store, address.name, is_local=address.kind == "local", facts=facts,
                        allow=f"{line}   # if that is meant")  # fmt: skip
