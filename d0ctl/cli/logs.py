"""`d0ctl logs`: what the binaries of a package printed."""

import sys
from collections.abc import Callable, Iterator
from typing import Annotated

import typer

from d0ctl import select
from d0ctl.cli import log_names, options, session, show_part
from d0ctl.cli.output import emit, is_terminal, paint, say
from d0ctl.errors import BadUsage, NotFound
from d0ctl.format import clean, count
from d0ctl.store import browse
from d0ctl.store.connection import Store
from d0ctl.store.views import AttemptView, PackageView

app = typer.Typer(add_completion=False, rich_markup_mode=None)

PIECE = 1 << 22
"""How many bytes are fetched at a time."""

Read = Callable[[str, int], bytes]
"""Reads a piece of a log by its name and offset."""


@app.command()
def logs(
    package: options.Target,
    attempt: Annotated[
        int | None, typer.Option("--attempt", min=1, help="Which attempt; the last one otherwise.")
    ] = None,
    binary: Annotated[
        int | None, typer.Option("--binary", min=1, help="Only this binary of the chain.")
    ] = None,
) -> None:
    """Print what the binaries of a package printed."""
    wanted = select.parse(package)
    if not (wanted.is_one and wanted.level == "package"):
        raise BadUsage(f"`{wanted}` is no single package", hint=f"d0ctl status {wanted.job}")
    with session.reader() as store:
        one = browse.package(store, wanted)
        tried = _attempt(store, one, attempt)
        numbers = _binaries(store, one, binary)
        read = _reader(store, tried)
    if tried.began_why:
        say(f"attempt {tried.number} {show_part.began(tried.began, tried.began_why)}")
    names = log_names.of(numbers, whole=binary is None)
    _print([(name, pieces) for name in names if (pieces := _pieces(read, name))])


def _attempt(store: Store, one: PackageView, number: int | None) -> AttemptView:
    tries = browse.attempts(store, one.id)
    if not tries:
        raise NotFound(f"package `{one.path}` has not run yet: it is {one.phase}",
                       hint=f"d0ctl why {one.path}")  # fmt: skip
    for tried in tries:
        if tried.number == (number or tries[-1].number):
            return tried
    had = count(tries[-1].number, "attempt")
    raise NotFound(
        f"package `{one.path}` has had {had}, so there is no attempt {number}",
        hint=f"d0ctl history {one.path}",
    )


def _binaries(store: Store, one: PackageView, number: int | None) -> list[int]:
    numbers = [binary.seq for binary in browse.binaries(store, one.id)]
    if number is None:
        return numbers
    if number not in numbers:
        has = count(len(numbers), "binary", "binaries")
        raise NotFound(f"package `{one.path}` has {has}, so there is no binary {number}")
    return [number]


def _reader(store: Store, tried: AttemptView) -> Read:
    """How to read the logs of an attempt, on whatever node they lie."""
    from d0ctl.nodes.peek import read_log
    from d0ctl.store.nodes import address_of

    row = store.row("node_by_name", name=tried.node_name)
    if row is None:
        raise NotFound(f"node `{tried.node_name}`, where its logs lay, was removed")
    address, base, home = address_of(row), tried.base or row["base"] or "", store.home
    return lambda name, offset: read_log(home, address, base, tried.id, name, offset, PIECE)


def _pieces(read: Read, name: str) -> Iterator[bytes] | None:
    """The pieces of a log; None when it is not there or empty."""
    try:
        first = read(name, 0)
    except NotFound:
        return None
    return _go_on(read, name, first) if first else None


def _go_on(read: Read, name: str, piece: bytes) -> Iterator[bytes]:
    offset = 0
    while piece:
        yield piece
        offset += len(piece)
        piece = read(name, offset) if len(piece) == PIECE else b""


def _print(found: list[tuple[str, Iterator[bytes]]]) -> None:
    """Print logs: made harmless for a terminal, byte for byte into a file or a pipe."""
    if not found:
        say("it has printed nothing")
    for name, pieces in found:
        if len(found) > 1:
            emit(paint(f"== {log_names.source(name)} ==", "bold"))
        last = b"\n"
        for piece in pieces:
            last = piece
            _write(piece)
        if not last.endswith(b"\n"):
            emit()


def _write(piece: bytes) -> None:
    if is_terminal(sys.stdout):
        print(clean(piece.decode(errors="replace"), lines=True), end="")
    else:
        sys.stdout.flush()
        sys.stdout.buffer.write(piece)
