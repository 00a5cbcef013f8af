"""Write a Site as the text of a site file with the same content."""

from collections.abc import Mapping, Sequence
from typing import Any

import yaml
from msgspec.structs import replace

from d0ctl.jobfile.language.field_types import POSITIVE_TIME, TIME
from d0ctl.sitefile.bad_nodes import BAD_NODE_KEYS
from d0ctl.sitefile.fields import AMOUNT
from d0ctl.sitefile.settings import DEFAULTS
from d0ctl.sitefile.spec import ClusterEntry, NodeEntry, Pilots, Site, SoftwareEntry
from d0ctl.units import format_size, format_time

TIMES = frozenset({"timeout", "runtime", "delay", "longest", "release", "attempt", "all-attempts",
                   "digest", "command-timeout", "after", "wall-time", "idle", "poll",
                   *(key for key, kind in {**DEFAULTS, **BAD_NODE_KEYS}.items()
                     if kind in (TIME, POSITIVE_TIME))})  # fmt: skip
SIZES = frozenset({"memory", "capacity", "size",
                   *(key for key, kind in DEFAULTS.items() if kind is AMOUNT)})  # fmt: skip


def document(site: Site) -> dict[str, Any]:
    """Return the sections of a site file as dicts and lists, without defaults."""
    entries: dict[str, Any] = {
        "nodes": {node.name: _entry(node, NodeEntry("")) for node in site.nodes},
        "clusters": _clusters(site),
        **site.settings,
        "software": [
            {"name": entry.name, "version": entry.version, **_entry(entry, SoftwareEntry("", ""))}
            for entry in site.software
        ],
    }
    return {name: value for name, value in entries.items() if value}


def _clusters(site: Site) -> dict[str, Any]:
    """Return the clusters of researchers, and all if one has keys, as the file must list these."""
    found = {cluster.name: _cluster(cluster) for cluster in site.clusters}
    researchers = site.settings.get("researchers", {}).values()
    named = [name for entry in researchers for name in entry.get("clusters", ())]
    if found or named:
        named += [node.cluster for node in site.nodes if node.cluster is not None]
    return {**found, **{name: {} for name in named if name not in found}}


def _cluster(cluster: ClusterEntry) -> dict[str, Any]:
    """Return the keys of a cluster; those of pilots are beside the others."""
    own = _entry(replace(cluster, pilots=None), ClusterEntry(""))
    if cluster.pilots is None:
        return own
    return {"kind": cluster.pilots.kind, **_entry(cluster.pilots, Pilots()), **own}


def _entry(entry: Any, empty: Any) -> dict[str, Any]:
    """Return the fields of an entry that differ from those of an empty one, without the name."""
    pairs = [(name, getattr(entry, name), getattr(empty, name))
             for name in entry.__struct_fields__ if name not in ("name", "version")]  # fmt: skip
    return {name.replace("_", "-"): _plain(value) for name, value, other in pairs if value != other}


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(item) for item in value]
    return value


NONE = "none"
"""Stands for no value: the default, or the node's own answer."""


def plain_text(key: str, value: Any) -> str:
    """Return a value as people write it in one word."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value in (None, "", (), []):
        return NONE
    if isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        return ",".join(value)
    if isinstance(value, list | tuple | Mapping):
        return _written(_readable(_plain(value), key), flow=True).strip()
    readable = _readable(value, key)
    return f"{readable:g}" if isinstance(readable, float) else str(readable)


class _Dumper(yaml.SafeDumper):
    """A YAML writer that keeps the lines of a text."""


def _write_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _write_text)


def text(site: Site) -> str:
    """Return the site as YAML."""
    readable = _readable(document(site))
    if not readable:
        return ""
    return _written(readable)


def _written(readable: Any, *, flow: bool = False) -> str:
    """Return YAML with each item on a line of its own, or with `flow` all on one."""
    return yaml.dump(readable, Dumper=_Dumper, sort_keys=False, allow_unicode=True,
                     width=10**6 if flow else 1000, default_flow_style=flow)  # fmt: skip


def _readable(value: Any, key: str = "") -> Any:
    """Return a value with times and sizes as people write them."""
    if isinstance(value, dict):
        return {name: item if name == "escalate" else _readable(item, name)
                for name, item in value.items()}  # fmt: skip
    if isinstance(value, list):
        return [_readable(item, key) for item in value]
    if isinstance(value, int | float) and not isinstance(value, bool):
        if key in TIMES:
            return format_time(value)
        if key == "failures" and not value:
            return "no"
        return _size(int(value)) if key in SIZES else value
    return "no" if value is None else value


def _size(value: int) -> str | int:
    written = format_size(value)
    return value if written.isdigit() else written
