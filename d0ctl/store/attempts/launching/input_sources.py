"""Where the inputs of a launch are, and how the missing ones are copied."""

import logging
from collections.abc import Sequence
from typing import Any

from d0ctl.jobfile.language.file_names import local_name
from d0ctl.jobfile.sections.file_commands import transport
from d0ctl.jobfile.sections.files.locators import WITHOUT_COMMAND
from d0ctl.plugins import PluginFailed
from d0ctl.sitefile.transfer import stores
from d0ctl.store.connection import Row, Store
from d0ctl.store.files.copies import spare_results
from d0ctl.store.nodes.site import default, setting
from d0ctl_wrapper.protocol import locator as locators

log = logging.getLogger(__name__)


def links(inputs: Sequence[Row]) -> list[dict[str, Any]]:
    """Return the files that must be in the working directory before the first binary starts."""
    read = [row for row in inputs if not row["own"] and row["acquire"] != "self"]
    rows_by_name = {local_name(row["name"], row["local"]): row for row in read}
    changed = {local_name(row["name"], row["local"]) for row in read if row["writable"]}
    return [{**_link(row, name), "writable": name in changed} for name, row in rows_by_name.items()]


def _link(row: Row, name: str) -> dict[str, Any]:
    link = {"name": name, "path": row["path"], "size": row["size"],
            "required": True}  # fmt: skip
    if row["locator"] is not None and row["maker"] is None:
        known = {"size": row["size_asked"], "checksum": row["checksum_asked"]}
        link = {**link, **known, **_location(row)}
    elif row["maker"] is None and row["cluster"] == 1 and row["acquire"] == "pre-fetch":
        link |= {"path": row["here"], "original": row["name"]}
    if link["path"] is not None and link["path"] == row["here"]:
        link |= {"inode": row["inode"], "mtime": row["mtime"]}
        if row["mtime"] is None and row["checksum"] is not None and row["cluster"] == 1:
            link["delivered"] = {"at": row["made"], "checksum": row["checksum"]}
    return link


def _location(row: Row) -> dict[str, Any]:
    """Return path and locator of a file from outside that has a locator."""
    far = locators.on_node(row["locator"])
    if far is not None:
        there = far.path if row["far"] == row["cluster"] else row["path"]
        return {"path": row["here"] or there}
    path = locators.local_path(row["locator"])
    if row["acquire"] == "none":
        return {"path": row["path"] if path is None else path.decode()}
    return {"path": row["here"], "locator": row["locator"]}


def deliveries(outputs: Sequence[Row], package: Row) -> list[dict[str, str]]:
    """Return which outputs their node delivers by itself, and where to.

    Outputs for another node are copied there later; an unknown node is reported by the
    wrapper.
    """
    sources = []
    for row in outputs:
        far = locators.on_node(row["locator"] or "")
        if far is not None and row["far"] == package["cluster_id"]:
            sources.append({"name": row["name"], "locator": far.path})
        elif row["locator"] is not None and (far is None or row["far"] is None):
            sources.append({"name": row["name"], "locator": row["locator"]})
    return sources


def _of_plugin(scheme: str) -> dict[str, str] | None:
    """Return the commands of a plug-in for a scheme; without any, the transfer fails.

    Any error is a line of the log.
    """
    if scheme in WITHOUT_COMMAND:
        return None
    try:
        return transport(scheme)
    except PluginFailed as error:
        log.error("%s", error)
        return None


class Rules:
    """How the site transfers files, and how long a wrapper may be out of contact."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._results = f"{store.home.results}/"

    def add(self, launch: dict[str, Any]) -> None:
        """Add the rules that a launch needs."""
        spare_results(self._results, launch["inputs"])
        deliver = launch.get("deliver", ())
        named = [entry.get("locator") for entry in (*launch["inputs"], *deliver)]
        transports = {locators.transport(locator) for locator in named if locator is not None}
        if transports:
            known = {**(setting(self._store, "transfer") or {}), **self._of_stores()}
            commands = {
                transport: known.get(transport) or _of_plugin(transport) for transport in transports
            }
            launch["transfer"] = {
                "commands": {scheme: command for scheme, command in commands.items() if command},
                "idle": default(self._store, "transfer-idle"),
                "timeout": default(self._store, "transfer-timeout"),
                "retry": default(self._store, "transfer-retry"),
            }
        if deliver:
            launch["lease"] = default(self._store, "lease")

    def _of_stores(self) -> dict[str, dict[str, str]]:
        """Return the commands of the site's stores."""
        entries = setting(self._store, "stores") or {}
        return {f"store:{name}": stores.for_nodes(entry) for name, entry in entries.items()}
