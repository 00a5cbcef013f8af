"""How a user wants the dashboard: keys, columns, theme and more, in a file that the user writes."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec import Struct
from textual.keys import Keys
from textual.keys import _character_to_key as name_of

from d0ctl.errors import BadJobFile, D0Error
from d0ctl.jobfile.language.field_types import flag
from d0ctl.jobfile.source import mapping_of
from d0ctl.jobfile.yaml.document import Mapping as Tree
from d0ctl.jobfile.yaml.document import Node, Scalar, Sequence
from d0ctl.jobfile.yaml.faults import Faults, did_you_mean, shown
from d0ctl_tui import themes
from d0ctl_tui.commands import COMMANDS, SCREENS
from d0ctl_tui.key_names import NAMES, sign_of
from d0ctl_tui.read import saved_views
from d0ctl_tui.terminal import CHOICES

LONGEST_S = 3600.0
"""The longest time between two updates."""

KEYS = ("theme", "interval", "slow", "read-only", "notices", "columns", "keys")

KNOWN = {key.value for key in Keys} | NAMES.keys()
"""The names of keys that are no single characters."""


class UserSettings(Struct, frozen=True):
    """What the file of the user says; None and empty if it does not say."""

    theme: str | None = None
    interval: float | None = None
    slow: bool = False
    read_only: bool = False
    notices: bool = True
    columns: tuple[str, ...] = CHOICES
    keys: Mapping[str, str] = {}


def load() -> UserSettings:
    """Read the file of this user, if there is one. Raises D0Error with every fault of it."""
    path = saved_views.folder() / "dashboard.yaml"
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return UserSettings()
    except (OSError, UnicodeDecodeError) as error:
        raise D0Error(f"{path}: the settings of the dashboard can't be read: {error}") from error
    return read(text, str(path))


def read(text: str, source: str) -> UserSettings:
    """Read the settings from a text. Raises BadJobFile with every fault."""
    faults = Faults(source, "the file of the dashboard")
    reader = _Reader(faults)
    found: dict[str, Any] = {}
    for key, (at, value) in mapping_of(text, faults, "`keys` and `columns`").items.items():
        if key not in KEYS:
            hint = did_you_mean(key, KEYS) or f"; it has {', '.join(KEYS)}"
            faults.add(at.position, f"there is no setting {shown(key)}{hint}")
            continue
        name = key.replace("-", "_")
        read_one = getattr(reader, name, reader.flag)
        found[name] = read_one(value)
    if faults:
        raise BadJobFile(faults.lines())
    return UserSettings(**found)


class _Reader(Struct):
    """Reads each setting, and records its faults."""

    faults: Faults

    def theme(self, node: Node) -> str:
        """Read the name of a theme."""
        name = self._text(node)
        if name not in themes.NAMES:
            self._fault(node, f"there is no theme {shown(name)}: {', '.join(themes.NAMES)}")
        return name

    def interval(self, node: Node) -> float:
        """Read the seconds between updates."""
        try:
            seconds = float(self._text(node))
        except ValueError:
            seconds = -1.0
        if not 0 <= seconds <= LONGEST_S:
            self._fault(node, "`interval` takes seconds up to 3600, as in `interval: 2`")
        return seconds

    def flag(self, node: Node) -> bool:
        """Read yes or no."""
        try:
            return flag(self._text(node))
        except ValueError:
            self._fault(node, f"{shown(self._text(node))} is neither `yes` nor `no`")
            return False

    def columns(self, node: Node) -> tuple[str, ...]:
        """Read the columns in their order."""
        found: list[str] = []
        for item in self._list(node):
            name = self._text(item)
            if name not in CHOICES:
                hint = did_you_mean(name, CHOICES) or f"; there are {', '.join(CHOICES)}"
                self._fault(item, f"there is no column {shown(name)}{hint}")
            elif name in found:
                self._fault(item, f"the column `{name}` is there twice: remove one")
            found.append(name)
        return tuple(found)

    def keys(self, node: Node) -> dict[str, str]:
        """Read the keys by command."""
        if not isinstance(node, Tree):
            self._fault(node, "`keys` takes commands with their keys, as in `keys: {kill: f8}`")
            return {}
        keys_set: dict[str, str] = {}
        for name, (at, value) in node.items.items():
            if name not in COMMANDS:
                hint = did_you_mean(name, COMMANDS) or ": `d0ctl tui --keys` lists all"
                self._fault(at, f"there is no command {shown(name)}{hint}")
                continue
            keys = [self._key(item) for item in self._list(value)]
            if not keys:
                self._fault(value, f"`{name}` needs a key, as in `{name}: f8`")
            keys_set[name] = ",".join(keys)
        for name, (at, _) in node.items.items():
            for other, key in _clashes(name, keys_set):
                self._fault(at, f"the key `{sign_of(key)}` of `{name}` is also that of `{other}`: "
                                f"give one of them another, as in `{other}: f8`")  # fmt: skip
        return keys_set

    def _key(self, node: Node) -> str:
        text = self._text(node)
        key = name_of(text) if len(text) == 1 else text
        if len(text) != 1 and key not in KNOWN:
            hint = _near(text) or ": type a character, `f5`, `ctrl+a`, `pageup` or such"
            self._fault(node, f"there is no key {shown(text)}{hint}")
        return key

    def _list(self, node: Node) -> list[Node]:
        return list(node.items) if isinstance(node, Sequence) else [node]

    def _text(self, node: Node) -> str:
        if isinstance(node, Scalar):
            return node.text
        self._fault(node, "this takes a word, not a list or keys")
        return ""

    def _fault(self, node: Node, message: str) -> None:
        self.faults.add(node.position, message)


def _near(text: str) -> str:
    """Return the key that is meant, also if it is written as the dashboard shows it."""
    written = next((key for key, sign in NAMES.items() if sign == text), "")
    return f": write `{written}`" if written else did_you_mean(text, KNOWN)


def _clashes(name: str, keys: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the other commands that have a key of a command on one of its screens."""
    own = set(keys.get(name, "").split(",")) - {""}
    seen = set()
    for table in SCREENS.values():
        if all(command.id != name for command in table):
            continue
        for command in table:
            taken = own & set(keys.get(command.id, command.keys).split(","))
            # of two that the user has set, the second one is at fault
            if command.id != name and taken and (command.id not in keys or
                                                 _is_after(name, command.id, keys)):  # fmt: skip
                seen.add((command.id, min(taken)))
    yield from sorted(seen)


def _is_after(name: str, other: str, keys: Mapping[str, str]) -> bool:
    order = list(keys)
    return order.index(name) > order.index(other)


def page(settings: UserSettings) -> str:
    """Return all settings in the format of the file."""
    said: dict[str, Any] = {
        "theme": settings.theme or "dark", "slow": settings.slow,
        "read-only": settings.read_only, "notices": settings.notices,
    }  # fmt: skip
    lines = [f"{name}: {_word(value)}" for name, value in said.items()]
    interval = settings.interval
    lines.append("# interval: 2" if interval is None else f"interval: {interval:g}")
    lines += [f"columns: [{', '.join(settings.columns)}]", "keys:"]
    known: set[str] = set()
    for screen, table in SCREENS.items():
        lines.append(f"  # {screen}")
        for command in table:
            if command.id not in known:
                known.add(command.id)
                keys = settings.keys.get(command.id, command.keys).split(",")
                quoted = [_quoted(sign_of(key)) for key in keys]
                text = quoted[0] if len(quoted) == 1 else f"[{', '.join(quoted)}]"
                lines.append(f"  {command.id}: {text}".ljust(34) + f" # {command.title}")
    return "\n".join(lines)


def _word(value: object) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else f"{value}"


def _quoted(key: str) -> str:
    return key if key.replace("+", "").replace("_", "").isalnum() else json.dumps(key)
