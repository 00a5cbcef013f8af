"""The files in a folder of a node, listed by a read-only relay."""

import uuid
from contextlib import closing

from d0ctl.config import Home
from d0ctl.errors import NodeUnreachable
from d0ctl.nodes.link import Frame, Site, open_link
from d0ctl.nodes.transports.transport import Address
from d0ctl.units import clean

LISTED_S = 60.0
"""How long a node may take to list a folder."""


def listed(
    home: Home, address: Address, site: str, base: str | None, path: str, match: str
) -> list[Frame]:
    """Return path, size and time of the files whose names match, sorted by name.

    Raises NodeUnreachable, also if the folder can't be listed.
    """
    place = Site(site, home.nodes, home.known_hosts, home.dropbox)
    name, found = uuid.uuid4().hex, list[Frame]()
    with closing(open_link(address, place, visit=True, base=base)) as link:
        with link.bounded(LISTED_S):
            link.send({"kind": "folder", "id": name, "path": path, "match": match})
            for frame in link.frames():
                if frame["kind"] == "fault":
                    raise NodeUnreachable(f"node `{address.name}` {clean(frame['message'])}")
                if frame["kind"] == "files" and frame["id"] == name:
                    found += frame["entries"]
                    if not frame["more"]:
                        return found
    raise NodeUnreachable(f"node `{address.name}` ended before it had listed `{path}`")
