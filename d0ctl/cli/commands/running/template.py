"""`d0ctl template`: job files to start from and fill with values."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from d0ctl.actions.option import pairs
from d0ctl.cli import options, session
from d0ctl.cli.terminal import completion
from d0ctl.cli.terminal.fast_typer import group
from d0ctl.cli.terminal.output import draw, emit_json, say, table
from d0ctl.errors import BadUsage, Refused
from d0ctl.jobfile import job_templates
from d0ctl.jobfile.job_templates import JobTemplate
from d0ctl.show.cards import job_template

if TYPE_CHECKING:
    from d0ctl.cli.schemas import site

app = group("List or show templates, or write a job file from one.")

Name = Annotated[
    str,
    typer.Argument(
        metavar="NAME",
        autocompletion=completion.templates,
        help="The name of a template, or its file.",
    ),
]
Out = Annotated[
    str | None,
    typer.Option("-o", "--output", metavar="FILE", help="File to write; `-` is stdout.",
                 show_default=False),
]  # fmt: skip
Force = Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")]


@app.command("list")
def list_templates(json: options.Json = False) -> None:
    """Show all templates, with those of this site."""
    found = [job_templates.read_file(path) for path in job_templates.found(own()).values()]
    if json:
        emit_json({"templates": [_document(template) for template in found]})
    else:
        table([job_template.cells(template) for template in found])


@app.command("show")
def show_template(name: Name, json: options.Json = False) -> None:
    """Show what a template is for, and its parameters."""
    template = job_templates.read(name, own())
    if json:
        emit_json(_document(template))
        return
    draw(job_template.card, template)


@app.command("new")
def new(
    name: Name, parameter: options.Parameters = None, output: Out = None, force: Force = False
) -> None:
    """Write a job file from a template."""
    template = job_templates.read(name, own())
    try:
        values = pairs(parameter or ())
    except ValueError as error:
        raise BadUsage(f"`--set`: {error}") from error
    write(template.filled(values), output or f"{template.name}.yaml", force)


def own() -> Path:
    """Return the folder of the templates of this site."""
    return session.home().templates


def write(text: str, output: str, force: bool) -> None:
    """Write a job file and say what to type next. Raises Refused if there is one."""
    if output == "-":
        sys.stdout.write(text)
        return
    path = Path(output)
    try:
        with path.open("w" if force else "x") as file:
            file.write(text)
    except FileExistsError:
        raise Refused(f"the file {output} already exists",
                      hint="-o FILE names another, --force overwrites it") from None  # fmt: skip
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise BadUsage(f"{output} can't be written: {reason}") from error
    for line in job_template.written(output):
        say(line)


def _document(template: JobTemplate) -> "site.Template":
    from d0ctl.cli.schemas import site
    from d0ctl.cli.schemas.fill import fill

    return {
        "template": template.name,
        "about": template.declared.about,
        "file": str(template.path),
        "parameters": [
            fill(site.Parameter, each, parameter=each.name, default=template.default(each.name),
                 one_of=list(each.choices))
            for each in template.declared.parameters
        ],
    }  # fmt: skip
