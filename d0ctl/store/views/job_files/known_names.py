"""What a job file may name that the site has."""

from d0ctl.jobfile.site_names import KnownNames
from d0ctl.store.connection import Store
from d0ctl.store.nodes.catalogue import Catalogue
from d0ctl.store.nodes.site import setting
from d0ctl.store.views import browse


def known_names(store: Store) -> KnownNames:
    """Return the nodes, the software, the site's commands and the files of jobs."""
    return KnownNames(
        nodes=dict.fromkeys(row[0] for row in store.rows("node_names")),
        software=Catalogue(store).titles(),
        transfer=setting(store, "transfer") or {},
        merge=setting(store, "merge"),
        produced=lambda job, name: browse.produces(store, job, name),
    )
