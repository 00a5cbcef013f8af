"""The transport by the ssh program, for logins and proxies that only OpenSSH supports.

It copies files by a fixed command at the end of a stream, which needs no sftp.
"""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import Protocol

from d0ctl.errors import D0Error, NodeUnreachable
from d0ctl.nodes.transports.download import Download, Limits
from d0ctl.nodes.transports.local import ProcessStream
from d0ctl.nodes.transports.resolve import login_slot, resolve, ssh_config
from d0ctl.nodes.transports.transport import (
    CONNECT_TIMEOUT_S,
    IO_TIMEOUT_S,
    REFUSED,
    Address,
    Stream,
    refusal,
)
from d0ctl.sitefile.addresses.destination import parse

CHUNK = 1 << 18
POLL_S = 0.02
MOST_BEFORE = 1 << 20
"""How many bytes a login shell may print before the output of a command."""
SOCKET = "master"
LOGIN_HINT = "d0ctl node login {}   # if it asks for a password, a passphrase or a second factor"
KEY_HINT = "; or name its key: d0ctl node add ... --identity FILE"
OTHER_KEY_HINT = "check the user name, or name another key: d0ctl node add ... --identity FILE; or "
TICKET_HINT = "; or get a Kerberos ticket: kinit"
LOST = 255
"""The exit code of ssh if the connection ended, not the remote command."""
CLOSED_EARLY = "closed the connection before it answered as an sshd: look at its log"
EARLY_END = re.compile("kex_exchange_identification: .*Connection (closed|reset)")
"""What ssh says if the connection ended before the first line of an sshd."""
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
    return ask_home(node, f"node `{name}` runs no command of this account", limit, ACCOUNT_HINT)


def ask_home(node: Starter, fault: str, limit: float, hint: str | None = None) -> str:
    """Return the home directory that a login shell has; raise `fault` if it runs no command."""
    with closing(node.start(HOME)) as stream:
        try:
            found = expect(stream, rb"d0ctl-home: (/.*)\n", limit)
        except NodeUnreachable:
            raise
        except D0Error as error:
            cause = str(error).removeprefix(REFUSED)
            raise NodeUnreachable(f"{fault}: {cause}", hint=error.hint or hint) from error
        return found[1].decode()


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


class MasterTransport:
    """A node behind an ssh master; each stream is a client of the master.

    Its socket and its settings are in `folder`. The socket has a relative name, as the path of a
    socket may have no more than 108 bytes.
    """

    def __init__(self, address: Address, folder: Path, io_timeout: float) -> None:
        self._address, self._folder, self._io_timeout = address, folder, io_timeout
        self._arguments = arguments_of(address)
        self._streams: list[ClientStream] = []

    def home(self) -> str:
        """Return the home directory that the login shell has there."""
        return home_of_account(self, self._address.name, self._io_timeout)

    def start(self, command: str) -> ProcessStream:
        """Start `command` through the login shell; an error shows when reading."""
        # without the master, a client would make a connection of its own
        only_master = ("-o", "ControlMaster=no", "-o", "ProxyCommand=false")
        client = ssh(self._folder, *only_master, "-T", *self._arguments, command)
        name, folder = self._address.name, str(self._folder)
        try:
            stream = ClientStream(name, client, folder=folder, io_timeout=self._io_timeout)
        except FileNotFoundError:  # it ends with the master
            raise NodeUnreachable(f"the connection to `{name}` broke") from None
        self._streams = [*filter(ClientStream.is_open, self._streams), stream]
        return stream

    def put(self, source: Path, target: str) -> None:
        """Copy a file to `target`, with new folders of mode 700 and the file's mode 600."""
        copy_in(self, source, target, self._io_timeout)

    def get(self, source: str, target: Path, limits: Limits) -> None:
        """Copy the file at `source` to `target`, within the limits."""
        copy_out(self, source, Download(source, target, limits), self._io_timeout)

    def close(self) -> None:
        """End the streams."""
        for stream in self._streams:
            stream.close()


class OpenSshTransport(MasterTransport):
    """A node behind an ssh master of its own, without questions to a person."""

    def __init__(
        self,
        address: Address,
        known_hosts: Path,
        *,
        connect_timeout: float = CONNECT_TIMEOUT_S,
        io_timeout: float = IO_TIMEOUT_S,
        config: Path | None = None,
        ciphers: str = "",
    ) -> None:
        gateway = resolve(address.destination, config=config).hops[0]
        super().__init__(address, Path(tempfile.mkdtemp(prefix="d0ctl-")), io_timeout)
        self._log = (self._folder / "log").open("w+b")
        settings = ssh_config(known_hosts, connect_timeout, io_timeout, config, ciphers)
        (self._folder / "config").write_text(settings)
        with login_slot(gateway):
            self._master = self._start_master()
            try:
                self._await_master(connect_timeout)
            except BaseException:
                self.close()
                raise

    def close(self) -> None:
        """End the streams and the master."""
        super().close()
        assert self._master.stdin
        self._master.stdin.close()
        if self._master.poll() is None:
            os.killpg(self._master.pid, signal.SIGKILL)
            self._master.wait()
        self._log.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _start_master(self) -> subprocess.Popen[bytes]:
        """Start the master; it runs `cat`, so it ends and cleans up even if d0ctl is killed."""
        master = ssh(self._folder, "-o", "ControlMaster=yes", "-T", *self._arguments, "exec cat")
        return subprocess.Popen(
            ["/bin/sh", "-c", '"$@"; rm -rf "$0"', str(self._folder), *master],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            stderr=self._log,
            cwd=self._folder,
            start_new_session=True,
        )

    def _await_master(self, timeout: float) -> None:
        """Return once the master is logged in."""
        deadline = time.monotonic() + timeout
        while not (self._folder / SOCKET).exists():
            with suppress(subprocess.TimeoutExpired):
                self._master.wait(POLL_S)
                self._log.seek(0)
                raise failure(self._address, self._log.read().decode(errors="replace"))
            if time.monotonic() > deadline:
                raise NodeUnreachable(
                    f"`{self._address.name}` does not answer within {timeout:g} s"
                )


def arguments_of(address: Address) -> list[str]:
    """Return where ssh goes, and by which key."""
    where = parse(address.destination).arguments()
    if not address.identity:
        return where
    key = str(Path(address.identity).expanduser())
    return ["-i", key, "-o", "IdentitiesOnly=yes", *where]


def ssh(folder: Path, *more: str) -> list[str]:
    """Return a call of ssh with the settings in `folder`, which must be its current folder."""
    return ["ssh", "-F", f"{folder}/config", "-o", f"ControlPath={SOCKET}", *more]


def failure(address: Address, log: str) -> NodeUnreachable:
    """Return the first error of ssh, which is the cause: later ones follow from it."""
    said = [line for line in log.splitlines() if not line.startswith(("@", "Warning:"))]
    reason = said[0].rstrip(".") if said else "no message"
    if "Host key verification failed" in log:
        return HostKeyRefused(f"ssh can't reach `{address.name}`: {reason}")
    if EARLY_END.match(reason):
        return NodeUnreachable(f"`{address.name}` {CLOSED_EARLY}")
    hint = None
    if "Permission denied" in log:
        hint = LOGIN_HINT.format(address.destination) + KEY_HINT
        if address.identity:
            reason = f"the key `{address.identity}` was refused: {reason}"
            hint = OTHER_KEY_HINT + LOGIN_HINT.format(address.destination)
        hint += TICKET_HINT if "gssapi" in log else ""
    return NodeUnreachable(f"ssh can't reach `{address.name}`: {reason}", hint=hint)


class HostKeyRefused(NodeUnreachable):
    """The ssh program refuses a host key, without details."""


class ClientStream(ProcessStream):
    """The stream of a client of the master."""

    def close(self) -> None:
        """Close it and end the client; the remote process then sees its stdin close."""
        super().close()
        self._process.terminate()

    def _ended(self) -> bytes:
        super()._ended()
        if self._process.returncode == LOST:
            raise NodeUnreachable(f"the connection to `{self.name}` broke")
        return b""
