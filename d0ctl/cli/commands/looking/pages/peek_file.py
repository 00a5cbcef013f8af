"""Print a file of an attempt: its end, unless more is requested."""

import sys
from collections.abc import Iterator

from msgspec import Struct

from d0ctl.cli.commands.looking.pages import peek_folder
from d0ctl.cli.commands.looking.pages.peek_folder import Seen
from d0ctl.cli.terminal.output import is_terminal, say
from d0ctl.cli.terminal.passthrough import Passthrough
from d0ctl.errors import NotFound, Refused
from d0ctl.nodes.link import Frame
from d0ctl.nodes.visits.peek import AttemptReader, visit
from d0ctl.show import live_status

LENGTH = 64 * 1024
"""How many bytes are printed by default."""


class Part(Struct, frozen=True):
    """How much of a file is printed: all, or a number of bytes at its beginning or its end."""

    is_all: bool
    is_head: bool
    length: int

    def of(self, whole: int) -> tuple[int, int]:
        """Return the start and end of the part in a file of this size."""
        if self.is_all:
            return 0, whole
        length = min(self.length, whole)
        return (0, length) if self.is_head else (whole - length, whole)


def show(seen: Seen, path: str, part: Part, json: bool) -> None:
    """Print a file, or list a folder. Raises NotFound, NodeUnreachable and Refused."""
    with visit(seen.where) as here:
        true, listing = _find(seen, here, path)
        if json or listing["type"] == "folder":
            peek_folder.show_listing(seen, true, listing, json)
        elif listing["type"] != "file":
            raise NotFound(f"`{true}` is neither a file nor a folder")
        else:
            begin, end = part.of(listing["entries"][0]["size"])
            _print(true, here.pieces(true, begin, end))
            _print_missing_part(end - begin, listing["entries"][0]["size"], part)


def _find(seen: Seen, here: AttemptReader, path: str) -> tuple[str, Frame]:
    """Look for a path in the folder of the attempt, then in its working directory."""
    first = here.listing(path)
    if not first["message"]:
        return path, first
    second = here.listing(f"work/{path}")
    if second["message"]:
        raise NotFound(f"`{path}` in the folder of `{seen.package.path}` can't be read: "
                       f"{first['message'][:1].lower()}{first['message'][1:]}",
                       hint=peek_folder.removed(seen, here, first)
                       or f"d0ctl peek {seen.package.path}")  # fmt: skip
    return f"work/{path}", second


def _print(path: str, pieces: Iterator[bytes]) -> None:
    passthrough = Passthrough()
    for index, piece in enumerate(pieces):
        if index == 0 and is_terminal(sys.stdout) and b"\0" in piece:
            raise Refused(f"`{path}` is not text, so it is not printed on a terminal",
                          hint="redirect the output to a file or a pipe")  # fmt: skip
        passthrough.write(path, piece)
    if passthrough.is_terminal:
        passthrough.end_line()


def _print_missing_part(printed: int, whole: int, part: Part) -> None:
    if printed < whole:
        say(live_status.part_printed(printed, whole, is_head=part.is_head))
