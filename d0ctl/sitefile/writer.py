"""From a Site to the text of a site file that says the same."""

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

import yaml

from d0ctl.jobfile.language.field_types import SIZE, TIME
from d0ctl.sitefile.bad_nodes import BAD_NODE_KEYS
from d0ctl.sitefile.settings import DEFAULTS
from d0ctl.sitefile.spec import ClusterEntry, NodeEntry, Site, SoftwareEntry
from d0ctl.units import format_size, format_time

TIMES = frozenset({"timeout", "runtime", "delay", "longest", "release", "attempt", "all-attempts",
                   "digest", "command-timeout",
                   *(key for key, kind in {**DEFAULTS, **BAD_NODE_KEYS}.items()
                     if kind is TIME)})  # fmt: skip
SIZES = frozenset({"memory", "capacity", "size",
                   *(key for key, kind in DEFAULTS.items() if kind is SIZE)})  # fmt: skip


def document(site: Site) -> dict[str, Any]:
    """The sections of a site file as dicts and lists, without what says nothing."""
    found: dict[str, Any] = {
        "nodes": {one.name: _entry(one, NodeEntry("")) for one in site.nodes},
        "clusters": _clusters(site),
        **site.settings,
        "software": [
            {"name": one.name, "version": one.version, **_entry(one, SoftwareEntry("", ""))}
            for one in site.software
        ],
    }
    return {name: value for name, value in found.items() if value}


def _clusters(site: Site) -> dict[str, Any]:
    """All clusters where one has keys, as the cluster of each node has to be among them then."""
    found = {one.name: _entry(one, ClusterEntry("")) for one in site.clusters}
    used = [one.cluster for one in site.nodes if found and one.cluster is not None]
    return {**found, **{name: {} for name in used if name not in found}}


def _entry(entry: Any, empty: Any) -> dict[str, Any]:
    """The fields of an entry that differ from those of an empty one, but its name."""
    pairs = [(one.name, getattr(entry, one.name), getattr(empty, one.name))
             for one in fields(entry) if one.name not in ("name", "version")]  # fmt: skip
    return {name.replace("_", "-"): _plain(value) for name, value, other in pairs if value != other}


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_plain(one) for one in value]
    return value


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as such."""


def _write_text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _write_text)


def text(site: Site) -> str:
    """The site as YAML."""
    readable = _readable(document(site))
    if not readable:
        return ""
    return yaml.dump(readable, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=1000)


def _readable(value: Any, key: str = "") -> Any:
    """Times and sizes as people write them."""
    if isinstance(value, dict):
        return {name: one if name == "escalate" else _readable(one, name)
                for name, one in value.items()}  # fmt: skip
    if isinstance(value, list):
        return [_readable(one, key) for one in value]
    if isinstance(value, int | float) and not isinstance(value, bool):
        if key in TIMES:
            return format_time(value)
        if key == "burnt" and not value:
            return "no"
        return _size(int(value)) if key in SIZES else value
    return "no" if value is None else value


def _size(value: int) -> str | int:
    written = format_size(value)
    return value if written.isdigit() else written
