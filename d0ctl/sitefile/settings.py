"""The sections of a site file that are stored as JSON and read where they are needed.

To add a section, write a reader here or in a module beside it, and add it to `SETTINGS`: the store
keeps its result, `site show` prints it, `store.nodes.site.setting` returns it.
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
    POSITIVE_TIME,
    TEXT,
    TIME,
    FieldType,
    matching,
    one_of,
    split_names,
    whole,
)
from d0ctl.jobfile.sections.file_commands import (
    MERGE_NAMES,
    TRANSFER_KEYS,
    TRANSFER_NAMES,
    check_command,
)
from d0ctl.jobfile.sections.level import Level, Reading, kind_of
from d0ctl.jobfile.sections.policy import read_policy
from d0ctl.jobfile.yaml.document import Mapping as MappingNode
from d0ctl.jobfile.yaml.document import Node, Scalar
from d0ctl.jobfile.yaml.faults import shown
from d0ctl.sitefile.bad_nodes import read_bad_nodes, read_exclusion
from d0ctl.sitefile.defaults import STANDARD
from d0ctl.sitefile.fields import AMOUNT, entries, is_installed, named, values
from d0ctl.sitefile.mail import read_mail
from d0ctl.sitefile.people.researchers import read_researchers
from d0ctl.sitefile.people.shares import read_shares, read_throttles
from d0ctl.sitefile.platforms import read_platforms
from d0ctl.sitefile.queues.event_queue import read_event_queue
from d0ctl.sitefile.transfer.stores import read_stores
from d0ctl.taskfile.timeouts import read_timeouts
from d0ctl.units import format_time

LOG_RULE_KEYS = split_names("match reason passive")
HOOK_KEYS = split_names("before after end timeout")
TASK_KEYS = split_names("timeouts")

_REASON = matching(r"log-message|site:[a-z0-9][a-z0-9-]*")
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*", re.ASCII)
_SUFFIX = re.compile(r"(\.[A-Za-z0-9_-]+)+", re.ASCII)
_URL = re.compile(r"(https?|file)://\S+", re.ASCII)


REASON = FieldType(_REASON, "`log-message` or `site:NAME`")
NICENESS = FieldType(whole(0, 19), "a whole number from 0 to 19")
STREAMS = FieldType(whole(1, 6), "a whole number from 1 to 6")
PROCESSES = FieldType(whole(1, 16), "a whole number from 1 to 16")
ENGINE = FieldType(one_of("apptainer", "podman", "docker"), "`apptainer`, `podman` or `docker`")

DEFAULTS = {
    "looping": TIME, "lease": TIME, "unreachable-after": TIME, "nice": NICENESS, "grace": TIME,
    "partial-grace": TIME,
    "reserve": AMOUNT, "control-reserve": AMOUNT, "patience": TIME, "swap": AMOUNT,
    "yield-cpu": FRACTION,
    "archive-after": TIME, "task-agents": PROCESSES,
    "keep-logs": TIME, "keep-failed": TIME, "inventory-every": TIME,
    "transfer-idle": TIME, "transfer-timeout": TIME, "transfer-retry": TIME,
    "share-half-life": POSITIVE_TIME,
    "max-alike-failures": COUNT, "container": ENGINE,
    "link-streams": STREAMS, "node-streams": STREAMS, "direct-streams": FLAG,
    "reuse-files": FLAG,
}  # fmt: skip
LIKELY_UNITS = {
    "looping": "m", "unreachable-after": "m", "inventory-every": "m", "archive-after": "d",
    "keep-logs": "d", "keep-failed": "d", "share-half-life": "d",
}  # fmt: skip
"""What a number without a unit was probably meant in, for times that are hardly a few seconds."""


def read_code_server(node: Node, reading: Reading) -> str | None:
    """Read the location of archives: an absolute folder of this machine, or a prefix of URLs."""
    scalar = reading.scalar(node, "`code-server`")
    if scalar is None:
        return None
    if _URL.fullmatch(scalar.text):
        return scalar.text.rstrip("/")
    if "://" in scalar.text:
        message = (
            f"`code-server` takes a folder, or an http, https or file URL, not {shown(scalar.text)}"
        )
        reading.fault(scalar.position, message)
        return None
    folder = posixpath.normpath(local_files.absolute(reading.directory, scalar.text))
    if not local_files.is_directory(folder):
        reading.fault(scalar.position, f"there is no folder {shown(folder)}")
    return folder


def read_classifier(node: Node, reading: Reading) -> str | None:
    """Read the name of the plug-in that gives failures a reason."""
    scalar = reading.scalar(node, "`classifier`")
    if scalar is None:
        return None
    return scalar.text if is_installed("classifier", scalar, reading) else None


def read_broker(node: Node, reading: Reading) -> str | None:
    """Read the name of the plug-in that ranks or refuses nodes."""
    scalar = reading.scalar(node, "`broker`")
    if scalar is None:
        return None
    return scalar.text if is_installed("broker", scalar, reading) else None


def read_log_rules(node: Node, reading: Reading) -> list[dict[str, Any]]:
    """Read which lines of a log mean a failure."""
    found = [_log_rule(item, reading) for item in entries(node)]
    return [rule for rule in found if rule]


def _log_rule(node: Node, reading: Reading) -> dict[str, Any]:
    if isinstance(node, Scalar):
        node = MappingNode(node.position, items={"match": (node, node)})
    if not isinstance(node, MappingNode):
        message = f"a log rule takes a regular expression or keys, not {kind_of(node)}"
        reading.fault(node.position, message)
        return {}
    level = Level(node, "a log rule", LOG_RULE_KEYS, reading)
    if "match" not in level:
        reading.fault(node.position, "a log rule needs `match`")
    return values(level, {"match": PATTERN, "reason": REASON, "passive": FLAG})


def read_hooks(node: Node, reading: Reading) -> dict[str, Any]:
    """Read the texts that run before and after each binary, and at the end."""
    level = _keys(node, "hooks", HOOK_KEYS, reading)
    if level is None:
        return {}
    return values(level, {"before": TEXT, "after": TEXT, "end": TEXT, "timeout": TIME})


def read_defaults(node: Node, reading: Reading) -> dict[str, Any]:
    """Read the defaults of jobs; a lease must end before its node counts as unreachable."""
    level = _keys(node, "defaults", tuple(DEFAULTS), reading)
    if level is None:
        return {}
    for key, unit in LIKELY_UNITS.items():
        level.warn_of_seconds(key, unit)
    defaults = {key.replace("_", "-"): value for key, value in values(level, DEFAULTS).items()}
    limits = {**STANDARD, **defaults}
    if limits["lease"] >= limits["unreachable-after"]:
        position = level.position("lease" if "lease" in level else "unreachable-after")
        limit = format_time(limits["unreachable-after"])
        reading.fault(
            position, f"`lease` must be shorter than `unreachable-after`, which is {limit}"
        )
    return defaults


def read_transfer(node: Node, reading: Reading) -> dict[str, dict[str, str]]:
    """Read the commands that fetch and store files, by the scheme of their locators."""
    found = {}
    for key, value in named(node, "transfer", reading):
        if not _SCHEME.fullmatch(key.text):
            message = f"{shown(key.text)} is not a scheme such as `root` or `https`"
            reading.fault(key.position, message)
        elif level := _keys(value, key.text, TRANSFER_KEYS, reading):
            found[key.text] = _commands(level)
    return found


def _commands(level: Level) -> dict[str, str]:
    found = {}
    for key in TRANSFER_KEYS:
        scalar = level.scalar(key)
        if scalar is not None:
            check_command(key, scalar, level.reading, TRANSFER_NAMES)
            found[key] = scalar.text
    return found


def read_merge(node: Node, reading: Reading) -> dict[str, str]:
    """Read the commands that merge files, by the suffix of their names."""
    commands_of = {}
    for key, value in named(node, "merge", reading):
        scalar = reading.scalar(value, f"`{key.text}`")
        if not _SUFFIX.fullmatch(key.text):
            message = f"{shown(key.text)} is not the end of a file name such as `.root`"
            reading.fault(key.position, message)
        elif scalar is not None:
            check_command(key.text, scalar, reading, MERGE_NAMES)
            commands_of[key.text.lower()] = scalar.text
    return commands_of


def read_tasks(node: Node, reading: Reading) -> dict[str, Any]:
    """Read what holds for all tasks: what happens to one that keeps a status for long."""
    level = _keys(node, "tasks", TASK_KEYS, reading)
    timeouts = None if level is None else level.get("timeouts")
    found = {} if timeouts is None else read_timeouts(timeouts, reading)
    return {"timeouts": found} if found else {}


def _keys(node: Node, what: str, known: tuple[str, ...], reading: Reading) -> Level | None:
    if isinstance(node, MappingNode):
        return Level(node, f"`{what}`", known, reading)
    reading.fault(node.position, f"`{what}` takes keys such as `{known[0]}`, not {kind_of(node)}")
    return None


SETTINGS: Mapping[str, Callable[[Node, Reading], Any]] = {
    "code-server": read_code_server,
    "log-rules": read_log_rules,
    "broker": read_broker,
    "classifier": read_classifier,
    "hooks": read_hooks,
    "defaults": read_defaults,
    "transfer": read_transfer,
    "stores": read_stores,
    "merge": read_merge,
    "policy": read_policy,
    "mail": read_mail,
    "event-queue": read_event_queue,
    "bad-nodes": read_bad_nodes,
    "exclusion": read_exclusion,
    "platforms": read_platforms,
    "researchers": read_researchers,
    "shares": read_shares,
    "throttles": read_throttles,
    "tasks": read_tasks,
}
"""The readers of the sections, whose results are stored as JSON."""
