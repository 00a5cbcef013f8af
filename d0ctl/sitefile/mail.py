"""The only place that reads `mail:` of a site file: who is told what, by which server."""

import os
import re
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from d0ctl.jobfile.language.field_types import (
    MAIL_MODE,
    SPAN,
    TEXT,
    TIME,
    Kind,
    WrongError,
    whole,
    words,
)
from d0ctl.jobfile.sections.level import Level, Reading, kind_of
from d0ctl.jobfile.sections.policy import is_reason
from d0ctl.jobfile.yaml.document import Mapping as MappingNode
from d0ctl.jobfile.yaml.document import Node, Sequence
from d0ctl.jobfile.yaml.faults import did_you_mean, shown
from d0ctl.sitefile.fields import many, named, values

MAIL_KEYS = words(
    "host port security certificates login sender cluster-admin grid-control routes digest rate "
    "mode recipients command command-timeout"
)
PERSON_KEYS = words("address digest rate mode")
ROLES = words("researcher grid-control cluster-admin")
NOBODY = "nobody"
OTHERS = "*"
"""Stands for all clusters that are not named."""

_ADDRESS = re.compile(
    r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9]([A-Za-z0-9.-]{0,180}[A-Za-z0-9])?", re.ASCII
)
_HOST = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.:-]{0,250}[A-Za-z0-9])?", re.ASCII)
_SECURITY = words("starttls tls none")
_HERE = frozenset({"localhost", "127.0.0.1", "::1"})


def is_address(text: str) -> bool:
    """Whether mail can go there: one plain address, without name, comment or line end."""
    return _ADDRESS.fullmatch(text) is not None


def _matching(check: Callable[[str], object]) -> Callable[[str], str]:
    def convert(text: str) -> str:
        if not check(text):
            raise ValueError
        return text

    return convert


ADDRESS = Kind(_matching(is_address), "an address such as `emmy@example.org`")
HOST = Kind(_matching(_HOST.fullmatch), "the name of a mail server")
SECURITY = Kind(_matching(_SECURITY.__contains__), "`starttls`, `tls` or `none`")
PORT = Kind(whole(1, 65535), "a whole number from 1 to 65535")
RATE = Kind(whole(1, 10_000), "a whole number of mails an hour, 1 or more")


def check_secret(path: Path) -> None:
    """Raise WrongError unless only the owner of a file may read it."""
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise WrongError(f"{shown(str(path))} can't be read: {error.strerror}") from error
    if not stat.S_ISREG(mode):
        raise WrongError(f"{shown(str(path))} is no file")
    if stat.S_IMODE(mode) & 0o077:
        raise WrongError(f"others may read {shown(str(path))}: chmod go= {path}")


def _secret(text: str) -> str:
    _absolute(text)
    check_secret(Path(text))
    return text


def _there(text: str) -> str:
    _absolute(text)
    if not Path(text).is_file():
        raise WrongError(f"there is no file {shown(text)}")
    return text


def _absolute(text: str) -> None:
    if not text.startswith("/"):
        raise WrongError(f"{shown(text)} is no absolute path")


SECRET = Kind(_secret, "the absolute path of a file")
CERTIFICATES = Kind(_there, "the absolute path of a file")

_KINDS = {
    "host": HOST, "port": PORT, "security": SECURITY, "certificates": CERTIFICATES,
    "login": SECRET, "sender": ADDRESS, "digest": SPAN, "rate": RATE, "mode": MAIL_MODE,
    "command-timeout": TIME,
}  # fmt: skip
_PERSON = {"address": ADDRESS, "digest": SPAN, "rate": RATE, "mode": MAIL_MODE}


def read_mail(node: Node, reading: Reading) -> dict[str, Any]:
    """Read who is told what, and how it gets there."""
    if not isinstance(node, MappingNode):
        reading.fault(node.place, f"`mail` takes keys such as `host`, not {kind_of(node)}")
        return {}
    level = Level(node, "`mail`", MAIL_KEYS, reading)
    found = _dashed(values(level, _KINDS))
    for role in ROLES[1:]:
        if (one := level.get(role)) is not None:
            found[role] = _addresses(one, role, level)
    if (routes := level.get("routes")) is not None:
        found["routes"] = _routes(routes, reading)
    if (people := level.get("recipients")) is not None:
        found["recipients"] = _people(people, reading)
    if level.get("command") is not None:
        found["command"] = _command(level)
    _judge(level, found)
    return {key: one for key, one in found.items() if one not in ([], {})}


def _dashed(found: Mapping[str, Any]) -> dict[str, Any]:
    return {key.replace("_", "-"): one for key, one in found.items()}


def _addresses(node: Node, role: str, level: Level) -> Any:
    """The addresses of a role, or of each cluster's."""
    if not isinstance(node, MappingNode):
        return list(many(level, role, ADDRESS))
    clusters = Level(node, f"`{role}`", node.items, level.reading)
    return {name: list(many(clusters, name, ADDRESS)) for name in clusters.keys}


def _routes(node: Node, reading: Reading) -> dict[str, list[str]]:
    found = {}
    entries = list(named(node, "routes", reading))
    if not entries and isinstance(node, MappingNode):
        reading.fault(node.place, "`routes` is empty: name a reason, or leave it out")
    for key, one in entries:
        if is_reason(key, reading):
            items = one.items if isinstance(one, Sequence) else [one]
            if not items:
                reading.fault(one.place, f"the route of `{key.text}` is empty: name who is told, "
                                         f"or `{NOBODY}`")  # fmt: skip
            found[key.text] = [role for item in items if (role := _role(item, reading))]
    return found


def _role(node: Node, reading: Reading) -> str | None:
    scalar = reading.scalar(node, "a route")
    if scalar is None:
        return None
    if scalar.text in (*ROLES, NOBODY) or is_address(scalar.text):
        return scalar.text
    known = ", ".join(f"`{role}`" for role in ROLES)
    meant = did_you_mean(scalar.text, (*ROLES, NOBODY))
    message = f"a route takes {known}, `{NOBODY}` or addresses, not {shown(scalar.text)}{meant}"
    reading.fault(scalar.place, message)
    return None


def _people(node: Node, reading: Reading) -> dict[str, dict[str, Any]]:
    found = {}
    for key, one in named(node, "recipients", reading):
        if not isinstance(one, MappingNode):
            message = f"{shown(key.text)} takes keys such as `mode`, not {kind_of(one)}"
            reading.fault(one.place, message)
            continue
        person = values(Level(one, "a recipient", PERSON_KEYS, reading), _PERSON)
        if "address" not in person and not is_address(key.text):
            message = f"{shown(key.text)} is no address, so it needs `address`"
            reading.fault(key.place, message)
        found[key.text] = person
    return {name: person for name, person in found.items() if person}


def _command(level: Level) -> list[str]:
    """A program and its arguments, which no shell sees."""
    found = list(many(level, "command", TEXT))
    if found and not (found[0].startswith("/") and os.access(found[0], os.X_OK)):
        told = f"`command` takes the absolute path of a program, not {shown(found[0])}"
        level.reading.fault(level.place("command"), told)
    return found


def _judge(level: Level, found: Mapping[str, Any]) -> None:
    """Note what does not go together."""
    if "host" in level and "sender" not in level:
        level.reading.fault(level.place("host"), "`mail` with a `host` needs a `sender`")
    if "host" not in level and "command" not in level:
        level.reading.fault(level.node.place, "`mail` needs a `host`, a `command` or both")
    open_way = found.get("security") == "none" and found.get("host") not in _HERE
    if "login" in level and open_way:
        message = "with `security: none` the password would be open on the network"
        level.reading.fault(level.place("login"), message)
    if "security" in level and "host" not in level:
        level.reading.fault(level.place("security"), "`security` needs a `host`")
