"""Orders about software, and what a node answers."""

import hashlib
from pathlib import Path
from typing import Any

from tests.wrapper.client import Client


def order(path: Path, source: str | None = None, **changes: Any) -> dict[str, Any]:
    """What a launch says of software that lies in this archive."""
    checksum = "sha256:" + hashlib.sha256(path.read_bytes()).hexdigest()
    answer = {"name": "reco", "version": "v12-01", "platform": "linux-x86_64", "manifest": None}
    return {**answer, "source": source or str(path), "checksum": checksum, **changes}


def ask(node: Client, verb: str, wanted: dict[str, Any]) -> tuple[bool, str, list[str]]:
    """Have the relay do something with its cache, and give its answer."""
    node.send("software", id=verb, verb=verb, **wanted)
    answer = node.wait("software", id=verb)
    return answer["ok"], answer["message"], answer["faults"]


def names(folder: Path) -> list[str]:
    """What lies in a folder."""
    return sorted(path.name for path in folder.iterdir())


def cached(node: Client) -> Path:
    """Where the node keeps reco."""
    return node.base / "software/reco/v12-01/linux-x86_64"
