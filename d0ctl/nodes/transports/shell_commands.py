"""Fixed commands for the login shell of a node: they copy files without sftp, and name the home."""

import re
from contextlib import closing
from pathlib import Path
from typing import Protocol

from d0ctl.errors import D0Error, NodeUnreachable
from d0ctl.nodes.transports.download import Download
from d0ctl.nodes.transports.transport import REFUSED, Stream, refusal

CHUNK = 1 << 18
MOST_BEFORE = 1 << 20
"""How many bytes a login shell may print before the output of a command."""
NO_COMMAND = "node `{}` runs no command of this account"
ACCOUNT_HINT = "the account there needs a home directory and a shell that runs commands: check "
ACCOUNT_HINT += "also that no start-up file there, such as .bashrc, ends the shell"
HOME = "exec sh -c 'echo d0ctl-home: \"$HOME\"'"
PUT = (
    'exec sh -c \'umask 077; IFS= read -r path; mkdir -p "${path%/*}" && cat > "$path" '
    '&& chmod 600 "$path" && echo d0ctl-size: $(wc -c < "$path")\''
)
GET = (
    'exec sh -c \'IFS= read -r path; test -f "$path" || exec echo No such file: "$path" >&2; '
    'size=$(wc -c < "$path") && echo d0ctl-size: $size '
    '&& exec cat "$path"\''
)
"""The commands are the same text for sh, bash, tcsh and fish; a path is sent over stdin."""


class Starter(Protocol):
    """Anything that can start a command on a node."""

    def start(self, command: str) -> Stream:
        """Start `command` through the login shell."""


def home_of_account(node: Starter, name: str, limit: float) -> str:
    """Return the home directory of the account of a node. Raises NodeUnreachable."""
    return ask_home(node, NO_COMMAND.format(name), limit, ACCOUNT_HINT)


def ask_home(node: Starter, fault: str, limit: float, hint: str | None = None) -> str:
    """Return the home directory that a login shell has; raise `fault` if it runs no command."""
    with closing(node.start(HOME)) as stream:
        try:
            found = expect(stream, rb"d0ctl-home: (/.*)\n", limit)
        except NodeUnreachable:
            raise
        except D0Error as error:
            raise _refused(fault, error, hint) from error
        return found[1].decode()


def no_command(name: str, said: str) -> NodeUnreachable:
    """Return the error of an account whose login shell has ended; `said` is its stderr."""
    return _refused(NO_COMMAND.format(name), refusal(said), ACCOUNT_HINT)


def _refused(fault: str, error: D0Error, hint: str | None) -> NodeUnreachable:
    return NodeUnreachable(f"{fault}: {str(error).removeprefix(REFUSED)}", hint=error.hint or hint)


def copy_in(node: Starter, source: Path, target: str, limit: float) -> None:
    """Copy a file to `target`, with new folders of mode 700 and the file's mode 600."""
    with source.open("rb") as ours, closing(node.start(PUT)) as stream:
        try:
            stream.write(one_line(target))
            while piece := ours.read(CHUNK):
                stream.write(piece)
            stream.finish()
        except NodeUnreachable:
            while stream.read(limit):  # raises, unless only the command has ended
                pass
            if said := stream.stderr():
                raise refusal(said) from None
            raise
        arrived = int(expect(stream, rb"d0ctl-size: +(\d{1,18})\n", limit)[1])
        if arrived != ours.tell():
            raise D0Error(f"can't copy `{target}`: only {arrived} of {ours.tell()} bytes arrived")


def copy_out(node: Starter, source: str, target: Download, limit: float) -> None:
    """Copy the file at `source` to `target`, within its limits."""
    with closing(node.start(GET)) as stream:
        stream.write(one_line(source))
        stream.finish()
        found = expect(stream, rb"d0ctl-size: +(\d{1,18})\n", limit)
        size = int(found[1])
        with target:
            target.expect(size)
            target.write(found.string[found.end() :])
            while target.size < size and (piece := stream.read(limit)):
                target.write(piece)
    if target.size != size:
        raise D0Error(f"can't copy `{source}`: {target.size} of {size} bytes came")


def one_line(path: str) -> bytes:
    """Return a path as the command reads it."""
    if "\n" in path:
        raise D0Error(f"can't copy {path!r}: a name with a line break in it")
    return path.encode(errors="surrogateescape") + b"\n"


def expect(stream: Stream, pattern: bytes, limit: float) -> re.Match[bytes]:
    """Read until something matches, skipping the login shell's output; D0Error if nothing does.

    That output may lack its line end, and may be endless.
    """
    came = b""
    while not (found := re.search(pattern, came)):
        piece = stream.read(limit)
        if not piece:
            raise refusal(stream.stderr())
        came += piece
        if len(came) > MOST_BEFORE:
            raise D0Error("can't copy a file: the login shell prints endlessly")
    return found
