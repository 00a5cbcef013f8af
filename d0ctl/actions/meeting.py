"""Reach a node: for the first time, once a person trusts its host keys, or to check it."""

import shlex
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing, suppress
from typing import Any, TypeVar

from d0ctl.actions.action import Person
from d0ctl.config import Home
from d0ctl.errors import D0Error, NodeUnreachable
from d0ctl.model import Node
from d0ctl.nodes import node_check
from d0ctl.nodes.link import Site, open_link
from d0ctl.nodes.node_check import Finding
from d0ctl.nodes.transports import hostkeys
from d0ctl.nodes.transports.resolve import by_hand
from d0ctl.nodes.transports.transport import Address
from d0ctl.store import opening
from d0ctl.store.connection import Store
from d0ctl.store.nodes import contact, registry
from d0ctl.store.nodes.holder import abandoned
from d0ctl.store.nodes.site import site_name
from d0ctl.units import listed

Reached = TypeVar("Reached")
Advice = Callable[[Sequence[str]], str]
"""What a person types or writes to trust the keys of these fingerprints."""

MOST_HOPS = 9
"""More unknown hosts than this on the way to a node are taken for a loop."""


def by_command(command: Sequence[str], option: Sequence[str] = ("--accept-key",)) -> Advice:
    """Return the advice to type a command with the fingerprints, each after the option."""
    return lambda keys: shlex.join([*command, *(word for key in keys for word in (*option, key))])


def meet(
    store: Store,
    address: Address,
    accepted: Sequence[str],
    advice: Advice,
    person: Person,
    *,
    on_accepted: Callable[[str, str], None] | None = None,
) -> dict[str, Any]:
    """Reach the node, trusting the keys that a person trusts, and return its facts.

    `on_accepted` gets the host and fingerprint of each key that is newly trusted.
    Raises NodeUnreachable: when it can't be reached, or when nobody trusts a key.
    """
    home = store.home
    site = Site(site_name(store), home.nodes, home.known_hosts, home.dropbox)

    def ask() -> dict[str, Any]:
        with closing(open_link(address, site, visit=True)) as link:
            return link.facts

    try:
        return _trusted(home, ask, address, accepted, advice, person, on_accepted)
    except NodeUnreachable as error:
        if address.destination and not (error.hint or error.details):
            error.hint = by_hand(address.destination, address.identity)
        raise


def check_named(store: Store, address: Address, named: Sequence[str]) -> None:
    """Raise NodeUnreachable if no host on the way to a node has a key of this fingerprint."""
    from d0ctl.nodes.transports.connect import trusted_keys

    trusted = trusted_keys(address, store.home.known_hosts)
    if strange := [fingerprint for fingerprint in named if fingerprint not in trusted]:
        raise NodeUnreachable(
            f"the host key of `{address.name}` is {next(iter(trusted), 'another')}, "
            f"which is trusted already, not {listed(strange, 'or')}",
            hint=f"d0ctl node drain {address.name}   # if that is the wrong machine",
        )


def check_accepted(home: Home, address: Address, accepted: Sequence[str], advice: Advice) -> None:
    """Raise NodeUnreachable if keys were given, but no host on the way to a node has any of them.

    A key that was trusted before was not compared with them.
    """
    from d0ctl.nodes.transports.connect import trusted_keys

    if not accepted or not address.destination:
        return
    trusted = trusted_keys(address, home.known_hosts)
    if set(trusted).isdisjoint(accepted):
        raise NodeUnreachable(
            f"the host key of `{address.name}` is {next(iter(trusted), 'another')}, "
            f"not {listed(accepted, 'or')}",
            hint=f"{advice(trusted[:1])}   # if that is right",
        )


def log_in(
    home: Home, address: Address, accepted: Sequence[str], advice: Advice, person: Person
) -> None:
    """Have a person log in to a node, at the terminal; d0ctl uses this login afterwards.

    Raises NodeUnreachable with the reason of ssh, or when nobody trusts a key.
    """
    from d0ctl.nodes.transports.connect import log_in

    _trusted(home, lambda: log_in(address, home.known_hosts), address, accepted, advice, person)
    check_accepted(home, address, accepted, advice)


def reach_login(
    home: Home, address: Address, accepted: Sequence[str], advice: Advice, person: Person
) -> None:
    """Reach the login node of a batch system, trusting the keys that a person trusts.

    Raises NodeUnreachable.
    """
    from d0ctl.nodes.transports.connect import connect

    def connect_once() -> None:
        connect(address, home.known_hosts).close()

    _trusted(home, connect_once, address, accepted, advice, person)
    check_accepted(home, address, accepted, advice)


def check(home: Home, row: Node, site: str) -> Generator[Finding, None, None]:
    """Check a node, and yield the findings; if it was down, it is tried at once.

    So it is up again, or the record says why it can't be reached now. If it was not, an answer is
    its last contact.
    """
    for finding in node_check.check(home, registry.address_of(row), site):
        if finding.what == node_check.REACH and (finding.ok or row.state == "down"):
            with suppress(D0Error), opening.writer(home) as store, store.writing():
                if row.id in abandoned(store):  # its packages were last known before this answer
                    contact.unknown(store, row.id, now=time.time())
                if finding.ok:
                    contact.note_contact(store, row.id, None, at=time.time())
                contact.try_now(store, row.id)
        yield finding


def _trusted(
    home: Home,
    reach: Callable[[], Reached],
    address: Address,
    accepted: Sequence[str],
    advice: Advice,
    person: Person,
    on_accepted: Callable[[str, str], None] | None = None,
) -> Reached:
    """Reach a node, asking for each key on the way that is not trusted yet."""
    shown: list[str] = []
    for _ in range(MOST_HOPS):
        try:
            return reach()
        except hostkeys.RevokedKey:
            raise
        except hostkeys.UntrustedKey as untrusted:
            shown.append(untrusted.key.fingerprint)
            _confirm(untrusted, accepted, advice(tuple(dict.fromkeys(shown))), person)
            hostkeys.accept(home.known_hosts, untrusted.name, untrusted.key)
            if on_accepted:
                on_accepted(untrusted.name, untrusted.key.fingerprint)
    raise NodeUnreachable(f"too many hops to `{address.destination}`")


def _confirm(
    untrusted: hostkeys.UntrustedKey, accepted: Sequence[str], line: str, person: Person
) -> None:
    """Return if a person trusts the key, by its fingerprint or by an answer at the terminal.

    `line` is the command that trusts it. Raises NodeUnreachable.
    """
    key = untrusted.key
    if key.fingerprint in accepted:
        return
    answer = person.confirms(str(untrusted), "trust this key?")
    if answer:
        return
    if answer is False:
        raise NodeUnreachable(f"the host key of `{untrusted.name}` was not accepted") from untrusted
    if accepted:
        raise NodeUnreachable(
            f"the host key of `{untrusted.name}` is {key.fingerprint}, "
            f"not {listed(accepted, 'or')}",
            hint=f"{line}   # if that is right",
        ) from untrusted
    raise NodeUnreachable(str(untrusted), hint=f"{line}   # if that is its key") from untrusted
