"""`cluster set` and `researcher set`: keys of the site file, changed by a verb."""

import json
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from d0ctl.actions import undo, wording
from d0ctl.cli import changing, session
from d0ctl.cli.terminal.output import emit
from d0ctl.errors import BadJobFile, BadUsage, NotFound
from d0ctl.jobfile.language.quoting import quote
from d0ctl.sitefile import reader
from d0ctl.sitefile.spec import ClusterEntry, Site
from d0ctl.sitefile.writer import plain_text
from d0ctl.store.clusters import site_changes
from d0ctl.store.connection import Store
from d0ctl.store.lifecycle import keep_action
from d0ctl.store.nodes.site import setting
from d0ctl.units import listed

NONE = "none"
"""Stands for no value: the default."""

CLUSTER_KEYS = ("platform", "services", "private", "capacity", "software-share")

RESEARCHER_KEYS = ("mail", "clusters")

LISTS = ("services", "clusters")
"""The keys whose value is a list, written with commas."""


def cluster(name: str, words: Sequence[str]) -> None:
    """Change settings of a cluster. Raises NotFound and BadUsage."""
    texts = _texts(words, CLUSTER_KEYS, f"d0ctl cluster set {quote(name)} capacity=2TB")

    def change(store: Store) -> tuple[Mapping[str, Any], Mapping[str, Any], Callable[[], None]]:
        rows = site_changes.known_clusters(store)
        if name not in rows:
            raise NotFound(f"there is no cluster `{name}`", hint="d0ctl cluster list")
        known = {one.name: one for one in site_changes.current(store).clusters}
        before = known.get(name, ClusterEntry(name))
        (read,) = _read({"clusters": {name: _values(texts)}}).clusters
        fields = {key: key.replace("-", "_") for key in texts}
        after = replace(before, **{field: getattr(read, field) for field in fields.values()})
        return (
            {key: getattr(before, field) for key, field in fields.items()},
            {key: getattr(after, field) for key, field in fields.items()},
            lambda: site_changes.keep_cluster(store, after, applied=bool(rows[name]["applied"])),
        )

    _carry_out("cluster", name, change)


def researcher(name: str, words: Sequence[str]) -> None:
    """Change settings of a researcher, or add one. Raises BadUsage."""
    texts = _texts(words, RESEARCHER_KEYS, f"d0ctl researcher set {quote(name)} mail=emmy@lab.org")

    def change(store: Store) -> tuple[Mapping[str, Any], Mapping[str, Any], Callable[[], None]]:
        said = dict(setting(store, "researchers") or {})
        before = said.get(name, {})
        rows = site_changes.known_clusters(store)
        private = {other: {"private": "yes"} for other, row in rows.items() if row["private"]}
        found = _read({"researchers": {name: _values(texts)}, "clusters": private})
        kept = {key: one for key, one in before.items() if key not in texts}
        said[name] = {**kept, **found.settings["researchers"][name]}
        return (
            {key: before.get(key) for key in texts},
            {key: said[name].get(key) for key in texts},
            lambda: site_changes.keep_setting(store, "researchers", said),
        )

    _carry_out("researcher", name, change)


def _texts(words: Sequence[str], keys: Collection[str], example: str) -> dict[str, str]:
    """Return the texts of words such as `capacity=2TB`, by their keys. Raises BadUsage."""
    texts = {}
    for word in words:
        key, equals, text = word.partition("=")
        if key not in keys or not equals:
            raise BadUsage(f"`{word}` is not KEY=VALUE with one of {listed(keys, 'or')}",
                           hint=example)  # fmt: skip
        texts[key] = text
    return texts


def _values(texts: Mapping[str, str]) -> dict[str, Any]:
    """Return the texts as in a site file, without those that are cleared."""
    return {
        key: [one for one in text.split(",") if one] if key in LISTS else text
        for key, text in texts.items()
        if text != NONE
    }


def _read(document: Mapping[str, Any]) -> Site:
    """Read settings by the rules of a site file. Raises BadUsage."""
    try:
        return reader.read_text(json.dumps(document))
    except BadJobFile as error:
        raise BadUsage(error.faults[0].split(": ", 1)[1]) from error


def _carry_out(
    kind: str,
    name: str,
    change: Callable[[Store], tuple[Mapping[str, Any], Mapping[str, Any], Callable[[], None]]],
) -> None:
    """Print the change, and make it unless this is a rehearsal."""
    is_rehearsal = changing.is_rehearsal()
    with changing.rehearsal() if is_rehearsal else session.writer() as store:
        before, after, write = change(store)
        changed = {
            key: (_written(key, before[key]), _written(key, after[key]))
            for key in before
            if before[key] != after[key]
        }
        if changed and not is_rehearsal:
            back = undo.command(f"{kind} set", [name],
                                *(f"{key}={old}" for key, (old, _) in changed.items()))  # fmt: skip
            with store.writing():
                write()
                store.forget()
                keep_action(store, verb=f"{kind} set", target=name, actor=session.actor(),
                            note=changing.reason(), packages=0, now=time.time(),
                            undo=back)  # fmt: skip
    verb = "would change" if is_rehearsal else "changed"
    emit(wording.new_values(verb, changed, name, "settings"))


def _written(key: str, value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return plain_text(key, tuple(value) if isinstance(value, list) else value) if value else NONE
