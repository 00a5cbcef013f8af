"""`d0ctl schema`: the JSON Schemas by which an editor completes and checks a file."""

from pathlib import Path
from typing import Annotated

import typer

import d0ctl.jobfile
import d0ctl.sitefile
from d0ctl.cli.terminal.fast_typer import single
from d0ctl.errors import NotFound
from d0ctl.jobfile.yaml.faults import did_you_mean, shown

app = single()

FILES = {
    "job": Path(d0ctl.jobfile.__path__[0]) / "job.schema.json",
    "site": Path(d0ctl.sitefile.__path__[0]) / "site.schema.json",
}
"""The schemas of the files that people write."""


def _names(incomplete: str) -> list[str]:
    return [name for name in FILES if name.startswith(incomplete)]


@app.command()
def schema(
    name: Annotated[
        str,
        typer.Argument(metavar="NAME", autocompletion=_names,
                       help="`job`: the job file; `site`: the site file."),
    ],
) -> None:  # fmt: skip
    """Print the JSON Schema of a file, for editors and checks."""
    if name not in FILES:
        hint = did_you_mean(name, FILES) or ": there are `job` and `site`"
        raise NotFound(f"there is no schema {shown(name)}{hint}")
    typer.echo(FILES[name].read_text(), nl=False)
