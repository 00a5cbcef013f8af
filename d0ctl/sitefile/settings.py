"""The sections of a site file that are kept as they are, for those who go by them.

Whoever needs another section writes a reader here or beside, and names it in `SETTINGS`: the
store keeps what it returns, `site show` prints it, `store.site.setting` gives it back.
"""

import posixpath
import re
from collections.abc import Callable, Mapping
from typing import Any

from d0ctl.jobfile import local_files
from d0ctl.jobfile.language.field_types import (
    COUNT,
    FLAG,
    FRACTION,
    PATTERN,
    SIZE,
    TEXT,
    TIME,
    Kind,
    whole,
    words,
)
from d0ctl.jobfile.language.script import compile_script
from d0ctl.jobfile.language.shell import Context
from d0ctl.jobfile.language.template import LoopName, Scope
from d0ctl.jobfile.sections.level import Level, Reading, kind_of
from d0ctl.jobfile.sections.policy import read_policy
from d0ctl.jobfile.yaml.document import Mapping as MappingNode
from d0ctl.jobfile.yaml.document import Node, Scalar
from d0ctl.jobfile.yaml.faults import shown
from d0ctl.sitefile.bad_nodes import read_bad_nodes, read_exclusion
from d0ctl.sitefile.defaults import STANDARD
from d0ctl.sitefile.fields import entries, named, values
from d0ctl.sitefile.mail import read_mail
from d0ctl.units import format_time

LOG_RULE_KEYS = words("match reason passive")
HOOK_KEYS = words("before after end timeout")
TRANSFER_KEYS = words("fetch store")

_REASON = re.compile(r"log-message|site:[a-z0-9][a-z0-9-]*", re.ASCII)
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*", re.ASCII)
_URL = re.compile(r"(https?|file)://\S+", re.ASCII)


def _reason(value: str) -> str:
    if not _REASON.fullmatch(value):
        raise ValueError
    return value


REASON = Kind(_reason, "`log-message` or `site:NAME`")
NICENESS = Kind(whole(0, 19), "a whole number from 0 to 19")

DEFAULTS = {
    "looping": TIME, "lease": TIME, "unreachable-after": TIME, "nice": NICENESS, "grace": TIME,
    "partial-grace": TIME,
    "reserve": SIZE, "control-reserve": SIZE, "patience": TIME, "swap": SIZE, "yield-cpu": FRACTION,
    "keep-logs": TIME, "keep-failed": TIME, "transfer-idle": TIME, "transfer-timeout": TIME,
    "max-alike-failures": COUNT,
}  # fmt: skip


def read_code_server(node: Node, reading: Reading) -> str | None:
    """Read where archives lie: an absolute folder of this machine, or the head of URLs."""
    scalar = reading.scalar(node, "`code-server`")
    if scalar is None:
        return None
    if _URL.fullmatch(scalar.text):
        return scalar.text.rstrip("/")
    if "://" in scalar.text:
        message = (
            f"`code-server` takes a folder, or an http, https or file URL, not {shown(scalar.text)}"
        )
        reading.fault(scalar.place, message)
        return None
    folder = posixpath.normpath(local_files.absolute(reading.directory, scalar.text))
    if not local_files.is_directory(folder):
        reading.fault(scalar.place, f"there is no folder {shown(folder)}")
    return folder


def read_log_rules(node: Node, reading: Reading) -> list[dict[str, Any]]:
    """Read what in a log means failure."""
    found = [_log_rule(item, reading) for item in entries(node)]
    return [rule for rule in found if rule]


def _log_rule(node: Node, reading: Reading) -> dict[str, Any]:
    if isinstance(node, Scalar):
        node = MappingNode(node.place, items={"match": (node, node)})
    if not isinstance(node, MappingNode):
        reading.fault(node.place, "a log rule is a regular expression or has keys")
        return {}
    level = Level(node, "a log rule", LOG_RULE_KEYS, reading)
    if "match" not in level:
        reading.fault(node.place, "a log rule needs `match`")
    return values(level, {"match": PATTERN, "reason": REASON, "passive": FLAG})


def read_hooks(node: Node, reading: Reading) -> dict[str, Any]:
    """Read what runs before and after each binary, and at the end."""
    level = _keys(node, "hooks", HOOK_KEYS, reading)
    if level is None:
        return {}
    return values(level, {"before": TEXT, "after": TEXT, "end": TEXT, "timeout": TIME})


def read_defaults(node: Node, reading: Reading) -> dict[str, Any]:
    """Read what counts where a job says nothing; a lease ends before its node is given up."""
    level = _keys(node, "defaults", tuple(DEFAULTS), reading)
    if level is None:
        return {}
    found = {key.replace("_", "-"): one for key, one in values(level, DEFAULTS).items()}
    whole = {**STANDARD, **found}
    if whole["lease"] >= whole["unreachable-after"]:
        place = level.place("lease" if "lease" in level else "unreachable-after")
        told = format_time(whole["unreachable-after"])
        reading.fault(place, f"`lease` must be shorter than `unreachable-after`, which is {told}")
    return found


def read_transfer(node: Node, reading: Reading) -> dict[str, dict[str, str]]:
    """Read the commands that fetch and store files, by the scheme of their locators."""
    found = {}
    for key, value in named(node, "transfer", reading):
        if not _SCHEME.fullmatch(key.text):
            message = f"{shown(key.text)} is no scheme such as `root` or `https`"
            reading.fault(key.place, message)
        elif level := _keys(value, key.text, TRANSFER_KEYS, reading):
            found[key.text] = _commands(level)
    return found


def _commands(level: Level) -> dict[str, str]:
    found = {}
    for key in TRANSFER_KEYS:
        scalar = level.scalar(key)
        if scalar is not None:
            _judge_command(key, scalar, level.reading)
            found[key] = scalar.text
    return found


def _judge_command(key: str, scalar: Scalar, reading: Reading) -> None:
    """Note a command that lacks its file, or has it where a shell reads it as more."""
    scope = Scope({"source": LoopName(0), "dest": LoopName(1)})
    script = compile_script(scalar, scope, reading.faults, "sh")
    there = {hole.mark.name for hole in script.holes}
    for name in ("source", "dest"):
        if name not in there:
            reading.fault(scalar.place, f"`{key}` needs `{{{name}}}`")
    for hole in script.holes:
        if hole.context is not Context.BARE:
            message = f"`{hole.mark.text}` is quoted by itself and can't stand inside quotes"
            reading.fault(hole.place, message)


def _keys(node: Node, what: str, known: tuple[str, ...], reading: Reading) -> Level | None:
    if isinstance(node, MappingNode):
        return Level(node, f"`{what}`", known, reading)
    reading.fault(node.place, f"`{what}` takes keys such as `{known[0]}`, not {kind_of(node)}")
    return None


SETTINGS: Mapping[str, Callable[[Node, Reading], Any]] = {
    "code-server": read_code_server,
    "log-rules": read_log_rules,
    "hooks": read_hooks,
    "defaults": read_defaults,
    "transfer": read_transfer,
    "policy": read_policy,
    "mail": read_mail,
    "bad-nodes": read_bad_nodes,
    "exclusion": read_exclusion,
}
"""The sections, and how each is read; what a reader returns is kept as JSON."""
