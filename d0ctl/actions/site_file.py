"""The site file that is applied: where it is, and the nodes that it adds."""

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from d0ctl.actions.action import Person
from d0ctl.config import Home
from d0ctl.errors import NodeUnreachable, NotFound
from d0ctl.sitefile.spec import Site
from d0ctl.store.clusters.site_comparison import Difference, logins_to_meet, to_meet
from d0ctl.store.connection import Store


def path_of(file: Path | None, home: Home) -> Path:
    """Return the site file: by default the one in the home."""
    return home.site_file if file is None else file


def read(file: Path | None, home: Home) -> Site:
    """Read a site file. Raises BadJobFile with every fault, and NotFound if the home has none."""
    from d0ctl.sitefile.reader import read

    path = path_of(file, home)
    if file is None and not path.exists():
        shown = shlex.quote(str(path))
        raise NotFound(f"the home has no site file `{path}`",
                       hint=f"d0ctl site show > {shown} writes the current settings")  # fmt: skip
    return read(path)


def meet(
    store: Store, site: Site, differences: Sequence[Difference], person: Person
) -> dict[str, dict[str, Any]]:
    """Return the facts of the new nodes; reach new login nodes, too.

    Their keys must be trusted, as for `node add`. Raises NodeUnreachable.
    """
    from d0ctl.actions import meeting
    from d0ctl.actions.nodes.node_add import as_request

    for cluster in logins_to_meet(site, differences):
        if cluster.pilots is not None:
            address = cluster.pilots.address(cluster.name)
            meeting.reach_login(store.home, address, cluster.accept_key, person)
    facts = {}
    for node in to_meet(site, differences):
        try:
            command = as_request(node).arguments()
            facts[node.name] = meeting.meet(store, node.address, node.accept_key, command, person)
            meeting.check_accepted(store.home, node.address, node.accept_key, command)
        except NodeUnreachable as error:
            changes = f"it would be node `{node.name}`; nothing was changed"
            error.details = (*error.details, changes)
            raise
    return facts
