"""Locators in a job file, compared with the nodes and the transfer commands of the site."""

from d0ctl.jobfile.language.field_types import LOCATOR, Kind, WrongError
from d0ctl.jobfile.sections.level import Reading
from d0ctl.jobfile.yaml.faults import did_you_mean, shown
from d0ctl_wrapper.protocol.locator import on_node, scheme

WITHOUT_COMMAND = ("file", "http", "https")
"""Schemes that need no command of the site."""


def locator_kind(reading: Reading, way: str) -> Kind:
    """Make the kind of a locator that the site has to `fetch` from, or `store` to."""
    nodes, transfer = reading.known.nodes, reading.known.transfer

    def convert(value: str) -> str:
        LOCATOR.convert(value)
        place, name = on_node(value), scheme(value)
        if place is not None and nodes is not None and place.node not in nodes:
            hint = did_you_mean(place.node, nodes)
            raise WrongError(f"there is no node {shown(place.node)}{hint}")
        is_url = place is None and name not in WITHOUT_COMMAND
        if is_url and transfer is not None and way not in transfer.get(name, ()):
            hint = did_you_mean(name, (*transfer, *WITHOUT_COMMAND))
            raise WrongError(
                f"the site has no command to {way} {shown(f'{name}:')} files{hint}; "
                "`transfer` in the site file takes one"
            )
        return value

    return Kind(convert, LOCATOR.expected)
