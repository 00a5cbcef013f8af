"""`d0ctl doctor`: whether database and home are as they must be."""

import stat
from collections.abc import Iterator

import typer

from d0ctl.cli import options, session
from d0ctl.cli.output import emit, emit_json, glyph
from d0ctl.config import Home
from d0ctl.errors import ExitCode
from d0ctl.format import clean, count
from d0ctl.store.check import CHECKS, Fault, faults

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def doctor(json: options.Json = False) -> None:
    """Check database and home: 1 if something is wrong."""
    with session.reader() as store:
        found = [*faults(store), *_home(store.home)]
    if json:
        emit_json(
            {"ok": not found, "findings": [
                {"check": one.check, "subject": one.subject, "detail": one.detail} for one in found
            ]}
        )  # fmt: skip
    else:
        _draw(found, session.home())
    raise typer.Exit(ExitCode.FAILED if found else ExitCode.DONE)


def _draw(found: list[Fault], home: Home) -> None:
    for one in found:
        emit(f"{glyph('failed')} {one.check}: {clean(one.subject)}: {clean(one.detail)}")
    if not found:
        checks = count(len(CHECKS), "check")
        emit(f"{glyph('successful')} all is well: {checks} of `{clean(str(home.database))}`")


def _home(home: Home) -> Iterator[Fault]:
    """What is wrong with the folders and files around the database."""
    private = [home.root, home.key]
    for path in private:
        if not path.exists():
            yield Fault("home", str(path), "is missing")
        elif stat.S_IMODE(path.stat().st_mode) & 0o077:
            yield Fault("home", str(path), f"others may enter: chmod go= {path}")
    rejected = sorted((home.dropbox / "rejected").glob("*"))
    for path in rejected[:20]:
        yield Fault("drop-box", str(path), "a message that could not be applied")
    if len(rejected) > 20:
        yield Fault("drop-box", str(home.dropbox / "rejected"), f"{len(rejected)} files in all")
