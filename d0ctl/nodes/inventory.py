"""All that lies on a node of ours, told by a relay that only looks."""

import uuid
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass, field

from d0ctl.config import Home
from d0ctl.errors import NodeUnreachable
from d0ctl.nodes.link import Frame, Site, open_link
from d0ctl.nodes.transport import Address

SURVEY_S = 20.0
"""How long a node may take to tell what lies there."""

CHECKSUMS_S = 12 * 3600.0
"""How long it may take to read all copies."""


@dataclass(slots=True)
class Survey:
    """What lies on a node: attempts by how they stand, and paths below our folder by their age."""

    attempts: dict[int, str] = field(default_factory=dict)
    works: dict[int, float] = field(default_factory=dict)
    """Working directories that are left, by attempt."""
    files: dict[str, float] = field(default_factory=dict)
    copies: dict[str, Frame] = field(default_factory=dict)
    """How the files of the cache look, and their checksums if these were asked for."""

    def take(self, entries: list[Frame]) -> None:
        """Sort in what a frame tells."""
        for entry in entries:
            attempt = entry["attempt"]
            if attempt is None:
                self.files[entry["path"]] = entry["age"]
                if entry["inode"] is not None:
                    self.copies[entry["path"]] = entry
            elif entry["path"].endswith("/work"):
                self.works[attempt] = entry["age"]
            else:
                self.attempts[attempt] = entry["state"]

    def spooled(self) -> Mapping[str, float]:
        """Messages that nobody has taken from the node."""
        return {path: age for path, age in self.files.items() if path.startswith("spool/new/")}

    def cached(self) -> set[str]:
        """Files of the cache that are whole, but for what the node notes about them."""
        return {
            path
            for path in self.files
            if path.startswith("cache/")
            and not path.startswith("cache/aside/")
            and not path.rpartition("/")[2].startswith((".whole", ".lock"))
        }


def survey(
    home: Home, address: Address, site: str, base: str, *, checksums: bool = False
) -> Survey:
    """Look at everything under our folder of a node, and into the copies with `checksums`.

    Raises NodeUnreachable.
    """
    place = Site(site, home.nodes, home.known_hosts, home.dropbox)
    name, found = uuid.uuid4().hex, Survey()
    with closing(open_link(address, place, visit=True, base=base)) as link:
        with link.bounded(CHECKSUMS_S if checksums else SURVEY_S):
            link.send({"kind": "survey", "id": name, "checksums": checksums})
            for frame in link.frames():
                if frame["kind"] == "surveyed" and frame["id"] == name:
                    found.take(frame["entries"])
                    if not frame["more"]:
                        return found
    raise NodeUnreachable(f"node `{address.name}` ended before it had told all")
