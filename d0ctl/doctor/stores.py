"""Whether the stores of the site answer."""

from collections.abc import Iterator

from d0ctl.doctor.finding import Finding
from d0ctl.errors import D0Error
from d0ctl.nodes.storage import stores
from d0ctl.sitefile.transfer.stores import commands
from d0ctl.store import Store
from d0ctl.store.nodes.site import setting


def unreachable_stores(store: Store) -> Iterator[Finding]:
    """Stores whose check fails on this machine; stores of commands may have no check."""
    for name, entry in (setting(store, "stores") or {}).items():
        if "check" not in commands(entry):
            continue
        try:
            stores.run(name, entry, "check")
        except D0Error as error:
            yield Finding("store", name, str(error), "d0ctl store list")
