"""The list of plug-ins."""

from d0ctl.plugins import Plugin
from d0ctl.show.drawing.sheet import Cell
from d0ctl.show.drawing.signs import Glyphs, glyph
from d0ctl.units import clean

NO_PLUGINS = "no plug-ins are installed: docs/plugins.md says how to write one"


def cells(plugin: Plugin, problem: str | None, glyphs: Glyphs) -> list[Cell]:
    """Return the row of a plug-in; `problem` is why it can't be used."""
    return [
        glyph("failed" if problem else "successful", glyphs),
        plugin.kind,
        (clean(plugin.name), "strong"),
        clean(f"{plugin.package} {plugin.version}"),
        (clean(plugin.target), "faint"),
    ]
