"""The files in a folder of a node, listed by a read-only relay."""

from contextlib import closing

from d0ctl.config import Home
from d0ctl.nodes.link import Frame, Site, open_link
from d0ctl.nodes.transports.transport import Address
from d0ctl.nodes.visits.whole_listing import entries

LISTED_S = 60.0
"""How long a node may take to list a folder."""


def listed(
    home: Home, address: Address, site: str, base: str | None, path: str, match: str
) -> list[Frame]:
    """Return path, size and time of the files whose names match, sorted by name.

    Raises NodeUnreachable, also if the folder can't be listed.
    """
    nodes_site = Site(site, home.nodes, home.known_hosts, home.dropbox)
    found, request = list[Frame](), {"kind": "folder", "path": path, "match": match}
    with closing(open_link(address, nodes_site, visit=True, base=base)) as link:
        for part in entries(link, address.name, request, "files", LISTED_S):
            found += part
    return found
