"""The check of a node: it tries everything that a production will do there."""

import re
import shlex
import time
import uuid
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, suppress
from typing import Any

from msgspec import Struct

from d0ctl.access import NETWORK_DISKS
from d0ctl.config import Home
from d0ctl.errors import D0Error, NodeUnreachable
from d0ctl.nodes.link import Frame, Link, Site, base_of, open_link, reach
from d0ctl.nodes.ship import CannotKeep
from d0ctl.nodes.transports.resolve import by_hand
from d0ctl.nodes.transports.transport import PATH_HINT, Address, Transport, refusal
from d0ctl.schedule.resources import is_nearly_full
from d0ctl.units import size

OLDEST_PYTHON = (3, 6)
MOST_SKEW_S = 5.0
"""A clock that is off by more than this misleads people who read logs."""

PROOF_S = 20.0
"""How long each step of the test of detached processes may take."""

AFTER_DROP_S = 2.0
"""How long the login manager of a node may take to kill processes after a connection drops."""

REMOVALS, REMOVE_AGAIN_S = 5, 0.5
"""How often to remove the files of a check: its relay may write some more meanwhile."""

REACH = "reach"
"""The check that comes first: without it, nothing else can be checked."""

KNOWN_SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "tcsh", "csh", "fish"})


class Finding(Struct, frozen=True):
    """The result of one check; `ok` is None for information."""

    ok: bool | None
    what: str
    detail: str
    advice: str = ""


def check(home: Home, address: Address, site: str) -> Generator[Finding, None, None]:
    """Check a node, and yield the findings one by one.

    Nothing is left there, also if the check fails or is broken off.
    """
    proof = f"check-{uuid.uuid4().hex[:12]}"
    nodes_site = Site(f"{site}/{proof}", home.nodes, home.known_hosts, home.dropbox)

    def connect() -> Link:
        return open_link(address, nodes_site, aside=True)

    began = time.monotonic()
    try:
        link = connect()
    except D0Error as error:
        where = address.destination
        advice = error.hint or (by_hand(where, address.identity) if where else "")
        yield Finding(False, REACH, str(error), advice)
        if isinstance(error, CannotKeep):
            with suppress(D0Error):
                _remove(address, nodes_site)
        return
    is_clean = False
    try:
        yield Finding(True, REACH, f"relay ready after {time.monotonic() - began:.1f} s")
        yield from _facts(link, address)
        yield _clock(link)
        found, is_clean = _detached(link, connect)
        yield from found
    finally:
        link.close()
        if not is_clean:
            with suppress(D0Error), closing(connect()) as last:
                _clean(last)


def _facts(link: Link, address: Address) -> Iterator[Finding]:
    facts = link.facts
    yield Finding(None, "host", f"{facts['hostname']}, user {facts['user']}, {facts['os']}")
    shell = facts["shell"].rpartition("/")[2]
    yield Finding(shell in KNOWN_SHELLS or None, "login shell", facts["shell"] or "none known")
    is_recent = _is_recent(facts["python"])
    yield Finding(
        is_recent,
        "python",
        f"{facts['python']} ({facts['executable']})",
        "" if is_recent else _again(address, "python", "PATH"),
    )
    yield Finding(None, "platform", f"{facts['system']} {facts['machine']}")
    load = "unknown" if facts["load"] is None else f"{facts['load']:.1f}"
    yield Finding(None, "cpus", f"{facts['cpus']}, load {load}")
    yield Finding(None, "memory", size(facts["memory"]))
    yield from _disk(facts, address)


def _is_recent(version: str) -> bool:
    """Return whether a version of python is new enough; an unreadable version is not."""
    found = re.match(r"(\d{1,4})\.(\d{1,4})", version, re.ASCII)
    return found is not None and (int(found[1]), int(found[2])) >= OLDEST_PYTHON


def _again(address: Address, option: str, metavar: str) -> str:
    """Return how to reach a node that exists in another way."""
    if address.job:
        return f"set `{option}` of `pilots` in the site file"
    name = shlex.quote(address.name)
    again = f"d0ctl node remove {name}, then d0ctl node add {name} ... --{option} {metavar}"
    return f"{again}, or `{option}` in the site file"


def _disk(facts: dict[str, Any], address: Address) -> Iterator[Finding]:
    free, total = facts["disk_free"], facts["disk_total"]
    has_space = bool(total) and free is not None and not is_nearly_full(free, total)
    limit = "" if has_space else ": nearly full" if total else ": unknown"
    elsewhere = _again(address, "dir", "DIR")
    yield Finding(
        has_space,
        "disk",
        f"{size(free)} of {size(total)} free{limit}",
        "" if has_space else f"free some, or use another disk: {elsewhere}",
    )
    kind = facts["filesystem"]
    if facts["noexec"]:
        yield Finding(
            False,
            "file system",
            f"{kind}, noexec: binaries can't run there",
            f"use a disk that allows it: {elsewhere}",
        )
    elif kind in NETWORK_DISKS:
        yield Finding(
            None,
            "file system",
            f"{kind}: works, but is slower than a local disk",
            f"use a local disk: {elsewhere}",
        )
    else:
        yield Finding(True, "file system", kind)


def _clock(link: Link) -> Finding:
    asked = time.time()
    facts = _answer(link, {"kind": "stat", "id": "clock"}, "facts")["facts"]
    skew = facts["time"] - (asked + time.time()) / 2
    fine = abs(skew) <= MOST_SKEW_S
    offset = f"{abs(skew):.1f} s {'ahead of' if skew > 0 else 'behind'} this machine"
    if abs(skew) < 0.5:
        offset = "in step with this machine"
    return Finding(fine, "clock", offset, "" if fine else "run chrony or ntpd there")


def _detached(link: Link, connect: Callable[[], Link]) -> tuple[list[Finding], bool]:
    """Launch an attempt, drop the connection, and find out whether the attempt survives.

    Return also whether its files need no further removal.
    """
    feature = "detached processes"
    try:
        with closing(link):
            _launch(link)
        time.sleep(AFTER_DROP_S)
        with closing(connect()) as back:
            survived = back.attempts.get(1) == "running"
            remaining = _clean(back)
    except (NodeUnreachable, KeyError) as error:
        return [Finding(False, feature, f"not tested: {error}")], False
    if survived:
        return [Finding(True, feature, "survive when the connection drops"), *remaining], True
    advice = "as root there: loginctl enable-linger USER, or KillUserProcesses=no in logind.conf"
    killed = Finding(False, feature, "are killed when the connection drops", advice)
    return [killed, *remaining], True


def _launch(link: Link) -> None:
    binary = {
        "name": "sleep",
        "script": None,
        "shell": "sh",
        "argv": ["sleep", "600"],
        "inputs": [],
        "outputs": [],
    }
    launch = {
        "attempt": 1,
        "token": "0" * 64,
        "path": "check",
        "cpus": 1,
        "environment": {},
        "inputs": [],
        "binaries": [binary],
        "keep": [],
    }
    link.send({"kind": "launch", "attempts": [launch]})
    for frame in _frames(link):
        if frame["kind"] == "messages":
            return
        if frame["kind"] in ("refused", "dead"):
            raise NodeUnreachable(str(frame.get("message", "it did not start")))
    raise NodeUnreachable("the relay ended")


def _clean(link: Link) -> list[Finding]:
    """End the attempt, and remove all its files; return what prevents that."""
    link.send({"kind": "kill", "attempts": [1], "grace": 1.0})
    for frame in _frames(link):
        texts = [file["text"] for file in frame.get("files", ())]
        if frame["kind"] in ("absent", "dead") or any('"end"' in text for text in texts):
            break
    folder = shlex.quote(link.base.rpartition("/")[0])
    for _ in range(REMOVALS):
        with suppress(NodeUnreachable):
            said = _run(link.transport, f"exec rm -rf {folder}")[1]
            if lines := [line for line in said.splitlines() if _lacks_rm(line)]:
                remaining = f"files of this check remain in `{folder}`: {lines[0]}"
                return [Finding(False, "removal of files", remaining, PATH_HINT)]
            if not _run(link.transport, f"exec ls -d {folder}")[0]:
                return []
        time.sleep(REMOVE_AGAIN_S)
    return []


def _lacks_rm(line: str) -> bool:
    """Return whether a shell says that `rm` is not on the PATH."""
    return re.search(r"\brm\b", line) is not None and refusal(line).hint == PATH_HINT


def _remove(address: Address, site: Site) -> None:
    """Remove the folder of a check whose relay could not start."""
    with closing(reach(address, site)) as transport:
        folder = base_of(address, site, transport.home()).rpartition("/")[0]
        _run(transport, f"exec rm -rf {shlex.quote(folder)}")


def _run(transport: Transport, command: str) -> tuple[bytes, str]:
    """Return what a command prints on the node to stdout, and to stderr."""
    stream, output = transport.start(command), b""
    while data := stream.read():
        output += data
    stream.close()
    return output, stream.stderr()


def _answer(link: Link, question: Frame, kind: str) -> Frame:
    link.send(question)
    for frame in _frames(link):
        if frame["kind"] == kind:
            return frame
    raise NodeUnreachable("the relay ended before answering")


def _frames(link: Link) -> Iterator[Frame]:
    """Yield frames for as long as a step may take."""
    with link.bounded(PROOF_S):
        yield from link.frames()
