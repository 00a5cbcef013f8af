"""The section `software:` of a site file, which is the software catalogue."""

from typing import Any

from d0ctl.jobfile.language.field_types import LOOP_NAME, PATTERN, SIZE, TEXT, TIME, split_names
from d0ctl.jobfile.language.placeholders import RESERVED
from d0ctl.jobfile.sections.binaries import PROGRESS_TYPES
from d0ctl.jobfile.sections.level import Level, Reading, kind_of
from d0ctl.jobfile.sections.policy import read_policy
from d0ctl.jobfile.yaml.document import Mapping, Node, Scalar
from d0ctl.jobfile.yaml.faults import Position, shown
from d0ctl.sitefile.fields import CHECKSUM, PART, SERVICE, converted, entries, list_value, values
from d0ctl.sitefile.invoking_script import check_script
from d0ctl.sitefile.settings import read_hooks, read_log_rules
from d0ctl.sitefile.spec import SoftwareEntry

SOFTWARE_KEYS = split_names(
    "name version platform script shell parameters archive checksum size manifest needs runtime "
    "log-rules hooks progress check policy"
)

_TYPES = {
    "archive": TEXT, "checksum": CHECKSUM, "manifest": CHECKSUM, "size": SIZE, "runtime": TIME,
}  # fmt: skip

Found = list[tuple[SoftwareEntry, Position]]


def read_software(node: Node, reading: Reading) -> Found:
    """Read all entries, one for each platform, with the positions of their archives."""
    found: Found = []
    seen: set[tuple[str, str, str]] = set()
    for item in entries(node):
        if isinstance(item, Mapping):
            for entry, position in _entry(item, reading):
                if entry.key in seen:
                    where = f" for `{entry.platform}`" if entry.platform else ""
                    reading.fault(item.position, f"software `{entry.title}`{where} is listed twice")
                seen.add(entry.key)
                found.append((entry, position))
        else:
            message = f"an entry of `software` takes keys, as in `- name: x`, not {kind_of(item)}"
            reading.fault(item.position, message)
    return found


def _entry(node: Mapping, reading: Reading) -> Found:
    level = Level(node, "software", SOFTWARE_KEYS, reading)
    required = [_required(level, key) for key in ("name", "version")]
    shell = _shell(level)
    parameters = _parameters(level)
    common: dict[str, Any] = {
        **values(level, _TYPES),
        "shell": shell,
        "parameters": parameters,
        "script": _script(level, "script", shell, parameters),
        "check": _script(level, "check", "bash", parameters),
        "needs": list_value(level, "needs", SERVICE),
        "log_rules": _log_rules(level),
        "hooks": _hooks(level),
        "progress": _progress(level),
        "policy": _policy(level),
    }
    if "script" not in level and "archive" not in level:
        reading.fault(node.position, "software needs `script`, `archive` or both")
    name, version = required
    if name is None or version is None:
        return []
    platforms = list_value(level, "platform", PART) or ("",)
    position = level.position("archive")
    return [(SoftwareEntry(name, version, platform, **common), position) for platform in platforms]


def _required(level: Level, key: str) -> str | None:
    if key not in level:
        level.reading.fault(level.node.position, f"software needs `{key}`")
        return None
    scalar = level.scalar(key)
    found = converted(scalar, key, PART, level.reading) if scalar is not None else None
    return None if found is None else str(found)


def _shell(level: Level) -> str:
    scalar = level.scalar("shell")
    if scalar is None:
        return "bash"
    if scalar.text not in ("bash", "sh"):
        message = f"`shell` takes `bash` or `sh`, not {shown(scalar.text)}"
        level.reading.fault(scalar.position, message)
    return scalar.text


def _parameters(level: Level) -> dict[str, str]:
    """Read the names known in the script, with their default texts."""
    parameters = {}
    node = level.mapping("parameters")
    for name, (key, value) in (node.items if node else {}).items():
        if name in RESERVED or not LOOP_NAME.fullmatch(name):
            level.reading.fault(key.position, f"{shown(name)} is not a valid name for a parameter")
        elif isinstance(value, Scalar):
            parameters[name] = "" if value.is_nothing else value.text
        else:
            level.reading.scalar(value, f"`{name}`")
    return parameters


def _script(level: Level, key: str, shell: str, parameters: dict[str, str]) -> str | None:
    scalar = level.scalar(key)
    if scalar is None:
        return None
    check_script(scalar, shell, parameters, level.reading.faults)
    return scalar.text


def _log_rules(level: Level) -> tuple[dict[str, Any], ...]:
    node = level.get("log-rules")
    return () if node is None else tuple(read_log_rules(node, level.reading))


def _hooks(level: Level) -> dict[str, Any]:
    node = level.get("hooks")
    return {} if node is None else read_hooks(node, level.reading)


def _policy(level: Level) -> dict[str, dict[str, Any]]:
    node = level.get("policy")
    return {} if node is None else read_policy(node, level.reading)


def _progress(level: Level) -> dict[str, Any] | None:
    node = level.get("progress")
    if node is None:
        return None
    if isinstance(node, Scalar):
        log = converted(node, "progress", PATTERN, level.reading)
        return None if log is None else {"log": log}
    if not isinstance(node, Mapping):
        message = f"`progress` takes a text or a mapping, not {kind_of(node)}"
        level.reading.fault(node.position, message)
        return None
    inner = Level(node, "`progress`", PROGRESS_TYPES, level.reading)
    if ("log" in inner) == ("output" in inner) or ("of" in inner and "log" in inner):
        message = "`progress` takes `log: REGEX`, or `output: NAME` with or without `of: SIZE`"
        level.reading.fault(node.position, message)
    return values(inner, PROGRESS_TYPES)
