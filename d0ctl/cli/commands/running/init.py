"""`d0ctl init`: a job file to start from."""

from pathlib import Path
from typing import Annotated

import typer

from d0ctl.cli import options
from d0ctl.cli.changing import asking
from d0ctl.cli.commands.running import template as commands
from d0ctl.cli.terminal import completion
from d0ctl.cli.terminal.fast_typer import single
from d0ctl.cli.terminal.output import ask, can_ask, say, table
from d0ctl.errors import BadJobFile, BadUsage
from d0ctl.jobfile import job_templates
from d0ctl.show.cards import job_template

app = single()

Pattern = Annotated[
    str | None,
    typer.Argument(
        metavar="PATTERN",
        autocompletion=completion.templates,
        help="single, array, merge, chain, glob or software, or a template of the site (default: "
        "ask).",
    ),
]


@app.command()
def init(
    pattern: Pattern = None,
    parameter: options.Parameters = None,
    output: commands.Out = None,
    force: commands.Force = False,
) -> None:
    """Write a commented job file for a pattern, to begin with."""
    if pattern is not None:
        commands.new(pattern, parameter, output or "job.yaml", force)
        return
    if not can_ask():
        names = job_templates.found(commands.own())
        raise BadUsage(job_template.choose(names), hint="d0ctl init merge")
    with asking():
        _ask(output, force)


def _ask(output: str | None, force: bool) -> None:
    """Ask for the pattern, its parameters and the file, and write it."""
    templates = [job_templates.read_file(p) for p in job_templates.found(commands.own()).values()]
    table([job_template.cells(template) for template in templates])
    names = [template.name for template in templates]
    template = templates[names.index(_answer(job_template.WHICH_PATTERN, "merge", names))]
    values = {}
    for parameter in template.declared.parameters:
        default = template.default(parameter.name) or ""
        while True:
            value = _answer(job_template.value_of(parameter), default)
            if (fault := parameter.fault(value)) is None:
                break
            say(fault)
        if value != default:
            values[parameter.name] = value
    name = output or _answer(job_template.WHICH_FILE, "job.yaml")
    while not force and name != "-" and Path(name).exists():
        say(job_template.exists(name))
        name = _answer(job_template.WHICH_FILE, "")
    commands.write(template.filled(values), name, force)
    if name != "-":
        _say_faults(Path(name))


def _say_faults(path: Path) -> None:
    """Say what is wrong with the answers; a parameter of type text takes any of them."""
    from d0ctl.jobfile.reader import read

    try:
        read(path)
    except BadJobFile as error:
        for fault in error.faults:
            say(fault)


def _answer(question: str, default: str, known: list[str] | None = None) -> str:
    """Ask until there is a valid answer."""
    while True:
        typed = ask(f"{job_template.question(question, default)}: ")
        if not typed:
            raise EOFError
        answer = typed.strip() or default
        if answer and (known is None or answer in known):
            return answer
        say(job_template.no_pattern(answer, known) if known else job_template.NO_ANSWER)
