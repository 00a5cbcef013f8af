"""Plug-ins: parts of other installed packages, found by their entry points (docs/plugins.md).

A plug-in is looked up only when a name is used that d0ctl does not define itself.
"""

import sys
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, NamedTuple

from d0ctl.errors import D0Error
from d0ctl.units import clean

GROUPS = {
    "splitter": "d0ctl.splitters",
    "catalogue": "d0ctl.catalogues",
    "merger": "d0ctl.mergers",
    "transport": "d0ctl.transports",
    "broker": "d0ctl.brokers",
    "classifier": "d0ctl.classifiers",
    "notifier": "d0ctl.notifiers",
    "importer": "d0ctl.importers",
    "task attribute": "d0ctl.task_attributes",
}
"""The group of entry points of each kind."""

MOST_SAID = 300
"""How much of the text of an exception is kept."""


class PluginFailed(D0Error):
    """A plug-in that can't be loaded, raised an exception, or returned something else."""


class Plugin(NamedTuple):
    """An entry point of a package; `target` is the object it names, as `module:object`."""

    kind: str
    name: str
    target: str
    package: str
    version: str

    def failed(self, reason: str) -> PluginFailed:
        """Return the error that names it."""
        return PluginFailed(
            f"plug-in `{self.name}` of package `{self.package}` "
            f"({GROUPS[self.kind]}: {self.name} = {self.target}) {clean(reason)[:MOST_SAID]}"
        )

    def load(self) -> Any:
        """Import it. Raises PluginFailed."""
        from importlib.metadata import EntryPoint

        entry = EntryPoint(self.name, self.target, GROUPS[self.kind])
        try:
            return entry.load()
        except (Exception, SystemExit) as error:
            raise self.failed(f"can't be imported: {_said(error)}") from error

    def function(self) -> Callable[..., Any]:
        """Import a function. Raises PluginFailed."""
        found = self.load()
        if not callable(found):
            raise self.failed(f"must be a function, not {type(found).__name__}")
        return found  # type: ignore[no-any-return]

    def call(self, *arguments: Any) -> Any:
        """Call it. Raises PluginFailed."""
        function = self.function()
        try:
            return function(*arguments)
        except (Exception, SystemExit) as error:
            raise self.failed(f"failed: {_said(error)}") from error

    def items(self, found: Any, what: str) -> Iterable[Any]:
        """Iterate over its result, which may be a generator. Raises PluginFailed."""
        try:
            yield from found
        except (Exception, SystemExit) as error:
            raise self.failed(f"failed to make {what}: {_said(error)}") from error


def _said(error: BaseException) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def installed(kind: str) -> tuple[Plugin, ...]:
    """Return the plug-ins of a kind, by name."""
    return _installed(GROUPS[kind], tuple(sys.path), kind)


@cache
def _installed(group: str, path: tuple[str, ...], kind: str) -> tuple[Plugin, ...]:
    # it takes 20 ms to import, and most commands use no plug-in
    from importlib.metadata import entry_points

    found = {
        Plugin(kind, entry.name, entry.value, entry.dist.name, entry.dist.version)
        for entry in entry_points(group=group)
        if entry.dist is not None
    }
    return tuple(sorted(found))


def named(kind: str, name: str) -> Plugin | None:
    """Return the plug-in of a name; None if no package has it. Raises PluginFailed."""
    found = [plugin for plugin in installed(kind) if plugin.name == name]
    if len(found) > 1:
        raise found[0].failed(f"is in package `{found[1].package}` as well: uninstall one of them")
    return found[0] if found else None
