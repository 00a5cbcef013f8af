"""The size of groups of loop values, and groups made by a plug-in."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from d0ctl.jobfile.language.field_types import SIZE
from d0ctl.jobfile.language.placeholders import LoopGroup
from d0ctl.jobfile.yaml.document import Mapping, Scalar
from d0ctl.jobfile.yaml.faults import did_you_mean, shown
from d0ctl.plugins import Plugin, PluginFailed, installed, named

if TYPE_CHECKING:
    from d0ctl.jobfile.sections.level import Reading

KIND = "splitter"


class Member(NamedTuple):
    """One member of a group: a file or another value, with its bytes and events if known."""

    name: str
    size: int | None = None
    events: int | None = None


def splitter(text: str) -> tuple[Plugin, str] | None:
    """Return the plug-in that `by: NAME ARGUMENT` names, and the argument. Raises PluginFailed."""
    name, _, argument = text.partition(" ")
    plugin = named(KIND, name)
    return None if plugin is None else (plugin, argument.strip())


def hint(text: str) -> str:
    """Suggest the intended plug-in for a text."""
    return did_you_mean(text.partition(" ")[0], [plugin.name for plugin in installed(KIND)])


def split(
    plugin: Plugin, argument: str, node: Mapping, members: Sequence[Member], reading: Reading
) -> list[LoopGroup]:
    """Put the members into the groups made by a plug-in."""
    by = node.items["by"][1].position
    if "whole" in node.items:
        reading.fault(node.items["whole"][0].position, "`whole` needs a number of files in `by`")
        return []
    try:
        groups = _groups(plugin, argument, members)
    except PluginFailed as error:
        reading.fault(by, str(error))
        return []
    taken = {name for group in groups for name in group.members}
    left = [member.name for member in members if member.name not in taken]
    if left:
        message = f"{len(left)} of {len(members)} left out by plug-in `{plugin.name}`"
        reading.faults.leave_out(by, f"{message}: {shown(left[0])}")
    if members and not groups:
        reading.fault(by, f"plug-in `{plugin.name}` made no group")
    return groups


def _groups(plugin: Plugin, argument: str, members: Sequence[Member]) -> list[LoopGroup]:
    """Have the plug-in make groups, and check them. Raises PluginFailed."""
    known, taken = {member.name for member in members}, set[str]()
    groups: list[LoopGroup] = []
    for found in plugin.items(plugin.call(list(members), argument), "groups"):
        if not isinstance(found, list | tuple) or not found:
            raise plugin.failed("must return lists of members, none of them empty")
        names = tuple([str(getattr(member, "name", member)) for member in found])
        for name in names:
            if name not in known:
                raise plugin.failed(f"has {shown(name)} in a group, but it is not a member")
            if name in taken:
                raise plugin.failed(f"has {shown(name)} in groups twice")
            taken.add(name)
        groups.append(LoopGroup(str(len(groups) + 1), names))
    return groups


COUNT = re.compile(r"[0-9]{1,12}", re.ASCII)
_EVENTS = re.compile(r"([0-9]{1,15})\s*events?", re.ASCII)


class Limit(NamedTuple):
    """The size of a group: a number of members, bytes or events, or decided by a plug-in."""

    kind: str
    size: int = 0
    plugin: Plugin | None = None
    argument: str = ""


def read_limit(scalar: Scalar, reading: Reading) -> Limit | None:
    """Read `by`."""
    text = reading.text(scalar).strip()
    events = _EVENTS.fullmatch(text)
    try:
        if COUNT.fullmatch(text):
            limit = Limit("members", int(text))
        elif events:
            limit = Limit("events", int(events[1]))
        else:
            limit = Limit("size", SIZE.convert(text))
    except ValueError:
        return _splitter(text, scalar, reading)
    if limit.size:
        return limit
    _no_limit(text, scalar, reading)
    return None


def _splitter(text: str, scalar: Scalar, reading: Reading) -> Limit | None:
    try:
        found = splitter(text)
    except PluginFailed as error:
        reading.fault(scalar.position, str(error))
        return None
    if found is None:
        _no_limit(text, scalar, reading, hint(text))
        return None
    return Limit("plug-in", plugin=found[0], argument=found[1])


def _no_limit(text: str, scalar: Scalar, reading: Reading, hint: str = "") -> None:
    message = "`by` takes a number of files, a size or events, as in `20`, `2GB`, `5000 events`"
    reading.fault(scalar.position, f"{message}, not {shown(text)}{hint}")
