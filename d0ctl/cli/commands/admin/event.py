"""`d0ctl event`: what other systems tell d0ctl by signed files."""

from pathlib import Path
from typing import Annotated

import typer

from d0ctl.cli import session
from d0ctl.cli.terminal.fast_typer import group
from d0ctl.cli.terminal.output import emit
from d0ctl.errors import BadUsage
from d0ctl.units import listed

app = group("Make the key of events, or send an event.")

Kind = Annotated[
    str, typer.Argument(metavar="KIND", help="What has happened: `file-arrived`, "
                        "`dataset-complete`, `node-down` or `node-up`.")
]  # fmt: skip
Names = Annotated[list[str], typer.Argument(metavar="NAME", help="Nodes, TASK/DATASET, or tasks.")]
Key = Annotated[
    Path | None,
    typer.Option("--key", metavar="FILE", help="Key that signs it (default: that of the home)."),
]
Folder = Annotated[
    Path | None,
    typer.Option("--dir", metavar="DIR", help="Folder to write it to (default: the drop-box)."),
]
Sender = Annotated[
    str | None,
    typer.Option("--sender", metavar="NAME", help="Name in the history (default: yours)."),
]
Reason = Annotated[str, typer.Option("--reason", metavar="TEXT", help="Reason, for the history.")]


@app.command()
def key() -> None:
    """Make the key that signs events of other systems."""
    from d0ctl.events import event_file

    session.refuse_archive("event key")
    with session.reader():
        event_file.make_key(session.home())
    emit(str(session.home().event_key))


@app.command()
def send(
    kind: Kind,
    names: Names,
    key: Key = None,
    folder: Folder = None,
    sender: Sender = None,
    reason: Reason = "",
) -> None:
    """Write a signed event for the daemon of this or another machine."""
    from d0ctl.events import event_file

    if kind not in event_file.KINDS:
        raise BadUsage(f"`{kind}` is not {listed(event_file.KINDS, 'or')}")
    secret = event_file.read_key(session.home().event_key if key is None else key)
    text = event_file.made(kind, names, sender=sender or session.actor(), reason=reason, key=secret)
    path = event_file.write(session.home().dropbox if folder is None else folder, text)
    if folder is not None:
        emit(str(path))
