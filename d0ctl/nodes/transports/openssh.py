"""The transport by the ssh program, for logins and proxies that only OpenSSH supports."""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from contextlib import suppress
from pathlib import Path

from d0ctl.errors import NodeUnreachable
from d0ctl.nodes.transports.download import Download, Limits
from d0ctl.nodes.transports.local import ProcessStream
from d0ctl.nodes.transports.resolve import login_slot, resolve, ssh_config
from d0ctl.nodes.transports.shell_commands import copy_in, copy_out, home_of_account, no_command
from d0ctl.nodes.transports.transport import CONNECT_TIMEOUT_S, IO_TIMEOUT_S, Address
from d0ctl.sitefile.addresses.destination import parse

POLL_S = 0.02
ENDING_S = 0.5
"""How long a master may take to end after its command has ended."""
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

    def home(self) -> str:
        """Return the home directory that the login shell has there.

        A shell that runs no command ends the master, too, perhaps before this asks.
        """
        try:
            return super().home()
        except NodeUnreachable:
            with suppress(subprocess.TimeoutExpired):
                if self._master.wait(ENDING_S) != LOST:
                    raise self._no_command() from None
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
            ["/bin/sh", "-c", '"$@"; code=$?; rm -rf "$0"; exit $code', str(self._folder), *master],
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
                if self._master.wait(POLL_S) != LOST:
                    raise self._no_command()
                raise failure(self._address, self._said())
            if time.monotonic() > deadline:
                raise NodeUnreachable(
                    f"`{self._address.name}` does not answer within {timeout:g} s"
                )

    def _said(self) -> str:
        self._log.seek(0)
        return self._log.read().decode(errors="replace")

    def _no_command(self) -> NodeUnreachable:
        """Return the error of an account whose shell ended the command of the master."""
        return no_command(self._address.name, self._said())


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
