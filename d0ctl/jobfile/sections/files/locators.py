"""Checks of locators against the nodes and the transfer commands of the site."""

from collections.abc import Collection

from d0ctl.jobfile.language.field_types import LOCATOR, BadValueError, FieldType
from d0ctl.jobfile.sections.file_commands import transport
from d0ctl.jobfile.sections.level import Reading
from d0ctl.jobfile.yaml.faults import did_you_mean, shown
from d0ctl.plugins import PluginFailed
from d0ctl_wrapper.protocol.locator import in_store, on_node, scheme

WITHOUT_COMMAND = ("file", "http", "https")
"""Schemes that need no command of the site."""


def locator_type(reading: Reading, way: str) -> FieldType:
    """Make the type of a locator from which the site can `fetch`, or to which it can `store`."""
    nodes, transfer = reading.known.nodes, reading.known.transfer

    def convert(value: str) -> str:
        LOCATOR.convert(value)
        location, name = on_node(value), scheme(value)
        if location is not None and nodes is not None and location.node not in nodes:
            hint = did_you_mean(location.node, nodes)
            schemes = (*(transfer or ()), *WITHOUT_COMMAND)
            if location.node in schemes or _plugin(location.node):
                hint = f": a URL begins with `{location.node}://`"
            raise BadValueError(f"there is no node {shown(location.node)}{hint}")
        if (stored := in_store(value)) is not None:
            _check_store(reading, stored.store, way)
            return value
        is_url = location is None and name not in WITHOUT_COMMAND
        if is_url and transfer is not None and way not in (transfer.get(name) or _plugin(name)):
            hint = did_you_mean(name, (*transfer, *WITHOUT_COMMAND))
            raise BadValueError(
                f"the site has no command to {way} {shown(f'{name}:')} files{hint}; "
                "add one under `transfer` in the site file"
            )
        return value

    return FieldType(convert, LOCATOR.expected)


def _check_store(reading: Reading, name: str, way: str) -> None:
    """Raise BadValueError if the site has no such store, or no command of it for this direction."""
    stores = reading.known.stores
    if stores is None:
        return
    if name not in stores:
        raise BadValueError(f"the site has no store {shown(name)}{did_you_mean(name, stores)}")
    if way not in stores[name]:
        raise BadValueError(f"store {shown(name)} has no command to {way} files; add `{way}` to it "
                            "under `stores` in the site file")  # fmt: skip


def _plugin(name: str) -> Collection[str]:
    """Return what the commands of a plug-in for a scheme can do."""
    try:
        return transport(name) or ()
    except PluginFailed as error:
        raise BadValueError(str(error)) from error
