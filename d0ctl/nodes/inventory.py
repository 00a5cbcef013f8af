"""The inventory of d0ctl's files on a node, read by a read-only relay."""

from collections.abc import Iterable, Mapping
from contextlib import closing
from typing import Protocol

from msgspec import Struct, field

from d0ctl.config import Home
from d0ctl.nodes.link import Frame, Site, open_link
from d0ctl.nodes.transports.transport import Address
from d0ctl.nodes.visits.whole_listing import entries
from d0ctl_wrapper.protocol import stamp

SURVEY_S = 20.0
"""How long a node may take to list all its files."""

SHARED = "cache/in/u-"
"""Files that wrappers fetch for each other; the database learns of them when one ends."""

CHECKSUMS_S = 12 * 3600.0
"""How long it may take to read all copies."""


class Survey(Struct):
    """The attempts on a node with their states, and the paths in d0ctl's folder with their ages."""

    attempts: dict[int, str] = field(default_factory=dict)
    works: dict[int, float] = field(default_factory=dict)
    """Remaining working directories, by attempt."""
    files: dict[str, float] = field(default_factory=dict)
    copies: dict[str, Frame] = field(default_factory=dict)
    """The stamps of the files of the cache, and their checksums if requested."""

    def take(self, entries: list[Frame]) -> None:
        """Add the entries of a frame."""
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
        """Return messages that have not been fetched from the node."""
        return {path: age for path, age in self.files.items() if path.startswith("spool/new/")}

    def cached(self) -> set[str]:
        """Return the complete files of the cache, without the node's notes about them."""
        return {
            path
            for path in self.files
            if path.startswith("cache/")
            and not path.startswith("cache/aside/")
            and not path.rpartition("/")[2].startswith((".whole", ".lock"))
        }

    def is_unsettled(self, path: str) -> bool:
        """Return whether a running attempt may have fetched a file that is not recorded yet."""
        return path.startswith(SHARED) and "running" in self.attempts.values()

    def entries(self, base: str, paths: Iterable[str]) -> list[Frame]:
        """Describe files of the cache, with the attempt or file that each path names."""
        return [
            {**list_frame(path), "path": f"{base}/{path}", "size": self.copies[path]["size"]}
            for path in paths
            if path in self.copies and not self.is_unsettled(path)
        ]


def list_frame(path: str) -> Frame:
    """Return what the path of a file in the cache says."""
    _, top, *rest = path.split("/")
    is_brought = top == "in"
    number = rest.pop(0) if is_brought and rest else top
    is_numbered = number.isdigit()
    return {
        "folder": f"cache/{top}",
        "attempt": int(number) if is_numbered and not is_brought else None,
        "file": int(number) if is_numbered and is_brought else None,
        "name": "/".join(rest),
        "is_input": bool(is_brought and rest and (is_numbered or path.startswith(SHARED))),
    }


class Recorded(Protocol):
    """What is recorded of a copy."""

    @property
    def size(self) -> int | None: ...
    @property
    def inode(self) -> int | None: ...
    @property
    def mtime(self) -> int | None: ...


def is_another(row: Recorded, found: Frame) -> bool:
    """Return whether a copy differs from the recorded one, as far as its stamp shows."""
    recorded = {"inode": row.inode, "mtime": row.mtime}
    is_size = row.size is None or row.size == found["size"]
    return not (is_size and stamp.matches(found, recorded))


def survey(
    home: Home, address: Address, site: str, base: str, *, checksums: bool = False
) -> Survey:
    """Return the inventory of a node; with `checksums` all copies are read.

    Raises NodeUnreachable, also if it is not whole in time.
    """
    nodes_site = Site(site, home.nodes, home.known_hosts, home.dropbox)
    found, longest_s = Survey(), CHECKSUMS_S if checksums else SURVEY_S
    with closing(open_link(address, nodes_site, visit=True, base=base)) as link:
        request = {"kind": "survey", "checksums": checksums}
        for part in entries(link, address.name, request, "surveyed", longest_s):
            found.take(part)
    return found
