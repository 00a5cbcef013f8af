"""`d0ctl plugins`: what other installed packages add."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import typer

from d0ctl.cli import options
from d0ctl.cli.terminal.fast_typer import single
from d0ctl.cli.terminal.output import glyphs, print_list, say
from d0ctl.errors import ExitCode
from d0ctl.plugins import GROUPS, Plugin, PluginFailed, installed, named
from d0ctl.show.administration import NO_PLUGINS, plugin_cells
from d0ctl.units import clean

if TYPE_CHECKING:
    from d0ctl.cli.schemas import site

app = single()


@app.command()
def plugins(json: options.Json = False) -> None:
    """List the plug-ins of other packages, and check each of them."""
    found = [(plugin, _problem(plugin)) for kind in GROUPS for plugin in installed(kind)]
    print_list("plugins", found, lambda pair: _document(*pair),
               lambda pair: plugin_cells(*pair, glyphs()), NO_PLUGINS, json=json)  # fmt: skip
    problems = [problem for _, problem in found if problem]
    for problem in problems:
        say(f"d0ctl: {clean(problem)}")
    if problems:
        raise typer.Exit(ExitCode.FAILED)


def _problem(plugin: Plugin) -> str | None:
    """Import a plug-in, and return why it can't be used."""
    from d0ctl.jobfile.sections.file_commands import merge_command, transport_commands

    checks = {"merger": merge_command, "transport": transport_commands}
    try:
        named(plugin.kind, plugin.name)
        check: Callable[[Plugin], object] = checks.get(plugin.kind, Plugin.function)
        check(plugin)
    except PluginFailed as error:
        return str(error)
    return None


def _document(plugin: Plugin, problem: str | None) -> "site.Plugin":
    from d0ctl.cli.schemas import site
    from d0ctl.cli.schemas.fill import fill

    return fill(site.Plugin, plugin, object=plugin.target, problem=problem)
