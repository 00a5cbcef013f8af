"""A catalogue of software, and nodes that use it."""

from typing import Any

from d0ctl.jobfile.spec import BinarySpec
from d0ctl.model import Address
from d0ctl.sitefile.spec import SoftwareEntry
from d0ctl.store import Store
from d0ctl.store.clusters.site_changes import keep_software
from d0ctl.store.nodes import contact, registry
from tests.support.jobs import NOW

CHECKSUM = "sha256:" + "1" * 64

FACTS = {"cpus": 8, "system": "Linux", "machine": "x86_64", "boot_id": "b", "base": "/base"}


def node(store: Store, name: str, platform: str | None = None, **columns: Any) -> int:
    """A node that is up, and of this platform."""
    number = registry.add(store, Address(name, "ssh", name), cpus=8)
    with store.writing():
        for column, value in {"platform_asked": platform, **columns}.items():
            store.connection.execute(f"update node set {column} = ? where id = ?", [value, number])
        contact.up(store, number, {**FACTS, "machine_id": name}, now=NOW)
    return number


def entry(platform: str = "", **fields: Any) -> SoftwareEntry:
    """Some version of reco."""
    standard = {"script": "reco {inputs} {cards}", "parameters": {"cards": "std"}}
    return SoftwareEntry("reco", "v1", platform, **{**standard, **fields})


def keep(store: Store, *entries: SoftwareEntry) -> None:
    """Put entries into the catalogue."""
    with store.writing():
        for entry in entries:
            keep_software(store, entry, applied=False)


def reco(**fields: Any) -> BinarySpec:
    """A binary that says no more than its software."""
    return BinarySpec("reco", software="reco/v1", **fields)
