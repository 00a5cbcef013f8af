"""`d0ctl schema`: JSON Schemas of files and of what `--json` prints, and metadata of the views."""

from pathlib import Path
from typing import Annotated

import typer

import d0ctl.cli.schemas
import d0ctl.jobfile
import d0ctl.sitefile
import d0ctl_tui
from d0ctl.cli.terminal.fast_typer import single
from d0ctl.cli.terminal.output import emit, emit_json
from d0ctl.errors import NotFound
from d0ctl.jobfile.yaml.faults import did_you_mean, shown

app = single()

FILES = {
    "job": Path(d0ctl.jobfile.__path__[0]) / "job.schema.json",
    "site": Path(d0ctl.sitefile.__path__[0]) / "site.schema.json",
    "dashboard": Path(d0ctl_tui.__path__[0]) / "dashboard.schema.json",
    "datasette": Path(d0ctl.cli.schemas.__path__[0]) / "datasette.json",
}
"""The schemas of the files that people write, and what Datasette says of the views."""


def _names(incomplete: str) -> list[str]:
    from d0ctl.cli.schemas.by_command import DOCUMENTS

    return [name for name in (*FILES, *DOCUMENTS) if name.startswith(incomplete)]


@app.command()
def schema(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", autocompletion=_names,
                       help="`job`, `site` or `dashboard` for the files, a command such as "
                       "'status JOB' for its --json, or `datasette` (default: list all)."),
    ] = None,
) -> None:  # fmt: skip
    """Print the JSON Schema of a file or of a document of --json."""
    from d0ctl.cli.schemas import by_command

    if name is None:
        for each in _names(""):
            emit(each)
    elif name in FILES:
        typer.echo(FILES[name].read_text(), nl=False)
    elif name in by_command.DOCUMENTS:
        emit_json(by_command.schema(name))
    else:
        hint = did_you_mean(name, _names(""))
        raise NotFound(f"there is no schema {shown(name)}{hint}", hint="d0ctl schema")
