"""What draining, resuming and removing a node would do, in words."""

from d0ctl.store.connection import Store
from d0ctl.store.nodes import draining, registry
from d0ctl.units import count


def preview(store: Store, verb: str, name: str) -> list[str]:
    """What the verb would do to the node. Raises NotFound, and Refused as the verb would."""
    row = registry.named(store, name)
    here = registry.launched_on(store, row["id"])
    if verb == "resume":
        draining.check_drained(row)
        return [f"would resume `{name}`: it would take packages again"]
    if verb == "remove":
        registry.check_unused(store, row)
        return [f"would remove `{name}`: files that only it has would be made again if needed"]
    goes_on = (
        f"{count(here, 'package')} there would go on" if here else "no packages are running there"
    )
    return [f"would drain `{name}`: it would take nothing new", goes_on]
