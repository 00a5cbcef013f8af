"""The section `mail:` of a site file: the server, the recipients, and who gets which mail."""

import os
import re
import shlex
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from d0ctl.jobfile.language.field_types import (
    MAIL_MODE,
    POSITIVE_TIME,
    TEXT,
    TIME,
    BadValueError,
    FieldType,
    accepting,
    matching,
    one_of,
    split_names,
    whole,
)
from d0ctl.jobfile.sections.level import Level, Reading, kind_of
from d0ctl.jobfile.sections.policy import is_reason
from d0ctl.jobfile.yaml.document import Mapping as MappingNode
from d0ctl.jobfile.yaml.document import Node, Sequence
from d0ctl.jobfile.yaml.faults import did_you_mean, shown
from d0ctl.sitefile.addresses.webhook_address import read_webhook
from d0ctl.sitefile.fields import is_installed, list_value, named, values

MAIL_KEYS = split_names(
    "host port security certificates login sender cluster-admin grid-control routes digest rate "
    "mode recipients command notifier webhook command-timeout"
)
WAYS = split_names("command notifier webhook")
"""What gets each event; a site has one of them."""
PERSON_KEYS = split_names("address digest rate mode")
FOR_RECIPIENTS = split_names("cluster-admin grid-control routes recipients")
"""Keys that say who gets mail; a command gets all events."""

ROLES = split_names("researcher grid-control cluster-admin")
NOBODY = "nobody"
OTHERS = "*"
"""Stands for all clusters that have no key of their own."""

_ADDRESS = re.compile(
    r"[A-Za-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[A-Za-z0-9]([A-Za-z0-9.-]{0,180}[A-Za-z0-9])?", re.ASCII
)
_HOST = r"[A-Za-z0-9]([A-Za-z0-9_.:-]{0,250}[A-Za-z0-9])?"
HERE = frozenset({"localhost", "127.0.0.1", "::1"})


def is_address(text: str) -> bool:
    """Return whether a text is one plain address, without name, comment or line end."""
    return _ADDRESS.fullmatch(text) is not None


ADDRESS = FieldType(accepting(is_address), "an address such as `emmy@example.org`")
HOST = FieldType(matching(_HOST), "the name of a mail server")
SECURITY = FieldType(one_of("starttls", "tls", "none"), "`starttls`, `tls` or `none`")
PORT = FieldType(whole(1, 65535), "a whole number from 1 to 65535")
RATE = FieldType(whole(1, 10_000), "a whole number of mails an hour, 1 or more")


def check_secret(path: Path) -> None:
    """Raise BadValueError if others than the owner of a file may read it."""
    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise BadValueError(f"{shown(str(path))} can't be read: {error.strerror}") from error
    if not stat.S_ISREG(mode):
        raise BadValueError(f"{shown(str(path))} is not a file")
    if stat.S_IMODE(mode) & 0o077:
        raise BadValueError(f"other users may read {shown(str(path))}: chmod go= {path}")


def read_login(path: Path) -> tuple[str, str]:
    """Return user and password, from two lines of a file that only its owner may read.

    Raises BadValueError if it has none.
    """
    check_secret(path)
    try:
        user, password, *_ = path.read_text().splitlines()
    except OSError as error:
        raise BadValueError(f"{shown(str(path))} can't be read: {error.strerror}") from error
    except ValueError as error:
        raise BadValueError(f"{shown(str(path))} needs two lines, user and password") from error
    return user, password


def _secret(text: str) -> str:
    _absolute(text)
    check_secret(Path(text))
    return text


def _there(text: str) -> str:
    _absolute(text)
    if not Path(text).is_file():
        raise BadValueError(f"there is no file {shown(text)}")
    return text


def _absolute(text: str) -> None:
    if not text.startswith("/"):
        raise BadValueError(f"{shown(text)} is not an absolute path")


def _webhook(text: str) -> str:
    if text.startswith("/"):
        check_secret(Path(text))
    read_webhook(text)
    return text


WEBHOOK = FieldType(_webhook, "a URL, or the absolute path of a file with one")
SECRET = FieldType(_secret, "the absolute path of a file")
CERTIFICATES = FieldType(_there, "the absolute path of a file")

_TYPES = {
    "host": HOST, "port": PORT, "security": SECURITY, "certificates": CERTIFICATES,
    "login": SECRET, "sender": ADDRESS, "digest": POSITIVE_TIME, "rate": RATE, "mode": MAIL_MODE,
    "command-timeout": TIME, "webhook": WEBHOOK,
}  # fmt: skip
_PERSON = {"address": ADDRESS, "digest": POSITIVE_TIME, "rate": RATE, "mode": MAIL_MODE}


def read_mail(node: Node, reading: Reading) -> dict[str, Any]:
    """Read the section."""
    if not isinstance(node, MappingNode):
        reading.fault(node.position, f"`mail` takes keys such as `host`, not {kind_of(node)}")
        return {}
    level = Level(node, "`mail`", MAIL_KEYS, reading)
    mail = _dashed(values(level, _TYPES))
    level.warn_of_seconds("digest", "m")
    for role in ROLES[1:]:
        if (addresses := level.get(role)) is not None:
            mail[role] = _addresses(addresses, role, level)
    if (routes := level.get("routes")) is not None:
        mail["routes"] = _routes(routes, reading)
    if (people := level.get("recipients")) is not None:
        mail["recipients"] = _people(people, reading)
    if level.get("command") is not None:
        mail["command"] = _command(level)
    if (notifier := level.scalar("notifier")) is not None and is_installed(
        "notifier", notifier, reading
    ):
        mail["notifier"] = notifier.text
    _check(level, mail)
    return {key: value for key, value in mail.items() if value not in ([], {})}


def _dashed(found: Mapping[str, Any]) -> dict[str, Any]:
    return {key.replace("_", "-"): value for key, value in found.items()}


def _addresses(node: Node, role: str, level: Level) -> Any:
    """Read the addresses of a role, or those of each cluster."""
    if not isinstance(node, MappingNode):
        return list(list_value(level, role, ADDRESS))
    clusters = Level(node, f"`{role}`", node.items, level.reading)
    return {name: list(list_value(clusters, name, ADDRESS)) for name in clusters.keys}


def _routes(node: Node, reading: Reading) -> dict[str, list[str]]:
    routes = {}
    entries = list(named(node, "routes", reading))
    if not entries and isinstance(node, MappingNode):
        reading.fault(node.position, "`routes` is empty: name a reason, or remove it")
    for key, route in entries:
        if is_reason(key, reading):
            items = route.items if isinstance(route, Sequence) else [route]
            if not items:
                way_out = f"name who gets the mail, or `{NOBODY}`"
                reading.fault(route.position, f"the route of `{key.text}` is empty: {way_out}")
            routes[key.text] = [role for item in items if (role := _role(item, reading))]
    return routes


def _role(node: Node, reading: Reading) -> str | None:
    scalar = reading.scalar(node, "a route")
    if scalar is None:
        return None
    if scalar.text in (*ROLES, NOBODY) or is_address(scalar.text):
        return scalar.text
    known = ", ".join(f"`{role}`" for role in ROLES)
    meant = did_you_mean(scalar.text, (*ROLES, NOBODY))
    message = f"a route takes {known}, `{NOBODY}` or addresses, not {shown(scalar.text)}{meant}"
    reading.fault(scalar.position, message)
    return None


def _people(node: Node, reading: Reading) -> dict[str, dict[str, Any]]:
    people = {}
    for key, keys in named(node, "recipients", reading):
        if not isinstance(keys, MappingNode):
            message = f"{shown(key.text)} takes keys such as `mode`, not {kind_of(keys)}"
            reading.fault(keys.position, message)
            continue
        person = values(Level(keys, "a recipient", PERSON_KEYS, reading), _PERSON)
        if "address" not in person and not is_address(key.text):
            message = f"{shown(key.text)} is not an address, so it needs `address`"
            reading.fault(key.position, message)
        people[key.text] = person
    return {name: person for name, person in people.items() if person}


def _command(level: Level) -> list[str]:
    """Read a program and its arguments, which run without a shell."""
    found = list(list_value(level, "command", TEXT))
    if found and (message := _no_program(found[0])):
        level.reading.fault(level.position("command"), message)
    return found


def _no_program(path: str) -> str | None:
    """Return why a path names no program that may be run; None if it does."""
    if path.startswith("/") and os.access(path, os.X_OK):
        return None
    if path.startswith("/") and Path(path).is_file():
        return f"the program of `command` is not executable: chmod +x {shlex.quote(path)}"
    if path.startswith("/"):
        return f"the program of `command` does not exist: {shown(path)}"
    return f"`command` takes the absolute path of a program, not {shown(path)}"


def _check(level: Level, mail: Mapping[str, Any]) -> None:
    """Record a fault for keys that contradict each other or lack one."""
    if "host" in level and "sender" not in level:
        level.reading.fault(level.position("host"), "`mail` with a `host` needs a `sender`")
    ways = [key for key in WAYS if key in level]
    for key in ways[1:]:
        level.reading.fault(level.position(key), f"`{key}` replaces `{ways[0]}`: remove one")
    if not ways and "host" not in level:
        message = "`mail` needs a `host`, a `command`, a `notifier` or a `webhook`"
        level.reading.fault(level.node.position, message)
    recipients = [key for key in FOR_RECIPIENTS if key in level]
    if recipients and ways and "host" not in level:
        message = f"`{recipients[0]}` has no effect without a `host`: no mail is sent, and the "
        message += f"`{ways[0]}` gets all events"
        level.reading.faults.warnings.add(level.position(recipients[0]), message)
    is_unencrypted = mail.get("security") == "none" and mail.get("host") not in HERE
    if "login" in level and is_unencrypted:
        message = "with `security: none` the password would be sent unencrypted"
        level.reading.fault(level.position("login"), message)
    if "security" in level and "host" not in level:
        level.reading.fault(level.position("security"), "`security` needs a `host`")
