"""`d0ctl why`: why something is not running, is here, or failed, and what to type."""

from typing import Annotated

import typer

from d0ctl.cli import options
from d0ctl.cli.commands.looking.pages import explanation
from d0ctl.cli.terminal import completion
from d0ctl.cli.terminal.fast_typer import single
from d0ctl.errors import BadUsage

app = single()

KINDS = ("job", "stage", "line", "package", "binary", "node", "file", "system")
"""Words that may come before the name of what is asked about."""

Noun = Annotated[
    str | None,
    typer.Argument(
        metavar="SELECTOR",
        autocompletion=completion.subjects,
        help="A job, stage, line, package or binary, as `reco001/2/3/1`; a node; "
        "a batch system; a file, as `reco001:all.root` or by its name alone.",
    ),
]

Name = Annotated[str | None, typer.Argument(metavar="NAME", hidden=True)]

File = Annotated[
    str | None,
    typer.Option("--file", metavar="FILE", help="Name of a file, if a job has the same name."),
]


@app.command()
def why(selector: Noun = None, name: Name = None, node: options.Node = None, file: File = None,
        json: options.Json = False) -> None:  # fmt: skip
    """Say why something is as it is, and what would change it."""
    if name is not None and selector not in KINDS:
        from d0ctl.cli import likely_words

        raise BadUsage(f"unexpected argument `{name}`",
                       hint=likely_words.part_of("d0ctl why", selector or "", name)
                       or f"d0ctl why {selector}")  # fmt: skip
    if name is not None:
        node, file, selector = (
            name if selector == "node" else node,
            name if selector == "file" else file,
            None if selector in ("node", "file") else name,
        )
    if sum(noun is not None for noun in (selector, node, file)) != 1:
        raise BadUsage("`why` takes one selector, or the name of a node or file")
    explanation.show(selector, node, file, json=json)
