"""Connections to nodes: the transport, the jump hosts and the host keys.

This imports paramiko, which is slow: import it only when a node is about to be reached.
"""

import logging
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import fabric
import paramiko
from msgspec.structs import replace

from d0ctl.errors import NodeUnreachable
from d0ctl.model import DIRECT
from d0ctl.nodes.transports import hostkeys, standing_login
from d0ctl.nodes.transports.local import LocalTransport
from d0ctl.nodes.transports.login import Login, LoginRefused
from d0ctl.nodes.transports.openssh import CLOSED_EARLY, HostKeyRefused, OpenSshTransport
from d0ctl.nodes.transports.pilot import PilotTransport
from d0ctl.nodes.transports.resolve import Hop, login_slot, resolve
from d0ctl.nodes.transports.ssh import FabricTransport
from d0ctl.nodes.transports.transport import CONNECT_TIMEOUT_S, IO_TIMEOUT_S, Address, Transport

KEEPALIVE_S = 30
"""How often an open connection sends something; its reader sleeps in between."""
HANDSHAKE_S = 15.0
"""After this time paramiko gives up a key exchange, whatever time-out is set."""

logging.getLogger("paramiko").setLevel(logging.CRITICAL)  # its threads log tracebacks


def connect(
    address: Address,
    known_hosts: Path,
    *,
    connect_timeout: float = CONNECT_TIMEOUT_S,
    io_timeout: float = IO_TIMEOUT_S,
    config: Path | None = None,
) -> Transport:
    """Connect to a node by fabric, or by the ssh program if requested or if only that can log in.

    A login that a person has made beforehand is used before all others.
    Raises hostkeys.UntrustedKey for the first host on the route whose key is not trusted;
    after `hostkeys.accept` of its `name` and `key`, try again. `config` is as for `resolve`.
    """
    if address.job:
        login = login_of(address)
        node = connect(
            login,
            known_hosts,
            connect_timeout=connect_timeout,
            io_timeout=io_timeout,
            config=config,
        )
        if address.job == DIRECT:
            return node
        return PilotTransport(node, address.kind, address.job, address.python, io_timeout)
    if address.kind == "local":
        return LocalTransport(address.name, io_timeout=io_timeout)
    try:
        if standing := standing_login.transport(address, known_hosts, io_timeout):
            return standing
        if address.via != "openssh":
            try:
                return by_fabric(address, known_hosts, connect_timeout, io_timeout, config)
            except LoginRefused:
                if address.via == "fabric" or not shutil.which("ssh"):
                    raise
        return by_openssh(address, known_hosts, connect_timeout, io_timeout, config)
    except hostkeys.UntrustedKey as untrusted:
        if untrusted.hint is None:
            command = f"d0ctl node accept-key {address.name} {untrusted.key.fingerprint}"
            untrusted.hint = f"{command}   # if that is its key"
        raise


def login_of(address: Address) -> Address:
    """Return how to log in to the login node of a batch system."""
    kind = "ssh" if address.destination else "local"
    return replace(address, kind=kind, job="", directory="", python="")


def trusted_keys(address: Address, known_hosts: Path) -> list[str]:
    """Return the trusted fingerprints of the hosts on the route to a node, its own first."""
    route = resolve(address.destination, address.identity, None)
    return [
        entry.key.fingerprint
        for hop in reversed(route.hops)
        for entry in hostkeys.entries(known_hosts, hop.known_as)
        if not entry.revoked
    ]


def by_fabric(
    address: Address,
    known_hosts: Path,
    connect_timeout: float,
    io_timeout: float,
    config: Path | None,
) -> FabricTransport:
    """Connect from host to host until the node is reached; nothing stays open on failure."""
    route = resolve(address.destination, address.identity, config)
    way = ConnectionChain(known_hosts, connect_timeout, io_timeout)
    try:
        with login_slot(route.hops[0]):
            for hop in route.hops:
                way.extend(hop)
    except BaseException:
        way.close()
        raise
    return FabricTransport(address.name, way.transport, way.close, io_timeout=io_timeout)


def by_openssh(
    address: Address,
    known_hosts: Path,
    connect_timeout: float,
    io_timeout: float,
    config: Path | None,
) -> OpenSshTransport:
    """Connect by the ssh program; name the host key that it refuses."""
    with _named_key(address, known_hosts, connect_timeout, io_timeout, config):
        return OpenSshTransport(
            address,
            known_hosts,
            connect_timeout=connect_timeout,
            io_timeout=io_timeout,
            config=config,
        )


def log_in(address: Address, known_hosts: Path) -> None:
    """Have the person at the terminal log in to a node, and keep the login.

    Raises NodeUnreachable, and hostkeys.UntrustedKey as `connect` does.
    """
    with _named_key(address, known_hosts, CONNECT_TIMEOUT_S, IO_TIMEOUT_S, None):
        standing_login.begin(address, known_hosts)


@contextmanager
def _named_key(
    address: Address, known_hosts: Path, connect_timeout: float, io_timeout: float,
    config: Path | None,
) -> Iterator[None]:  # fmt: skip
    """Raise hostkeys.UntrustedKey for a key that the ssh program refuses without naming it."""
    try:
        yield
    except HostKeyRefused:
        with suppress(LoginRefused):
            by_fabric(address, known_hosts, connect_timeout, io_timeout, config).close()
        raise


class ConnectionChain:
    """Nested connections: to each jump host, and to the node."""

    def __init__(self, known_hosts: Path, timeout: float, io_timeout: float) -> None:
        self._known_hosts, self._timeout, self._io_timeout = known_hosts, timeout, io_timeout
        self._connections: list[fabric.Connection] = []
        self._stack = ExitStack()

    @property
    def transport(self) -> paramiko.Transport:
        """The connection to the last host that was reached."""
        return self._connections[-1].transport

    def extend(self, hop: Hop) -> None:
        """Connect to the next host: reach it, check its key, log in."""
        timeout = min(self._timeout, hop.connect_timeout or self._timeout)
        options: dict[str, object] = {"auth_strategy": Login(hop)}
        for limit in ("banner_timeout", "auth_timeout", "channel_timeout"):
            options[limit] = timeout
        if not self._connections:
            options["sock"] = dial(hop, timeout, self._io_timeout, self._stack)
        connection = fabric.Connection(
            hop.host,
            user=hop.user,
            port=hop.port,
            config=fabric.Config(lazy=True, overrides={"load_ssh_configs": False}),
            gateway=self._connections[-1] if self._connections else False,
            connect_timeout=timeout,
            connect_kwargs=options,
        )
        self._trust(connection, hop)
        self._connections.append(connection)
        self._stack.callback(connection.client.close)
        began = time.monotonic()
        try:
            connection.open()
        except (paramiko.SSHException, OSError, EOFError) as error:
            self._check_key(hop)
            slow = time.monotonic() - began > 0.9 * min(timeout, HANDSHAKE_S)
            raise unreachable(
                hop, timeout, TimeoutError() if slow else self._cause(error)
            ) from error
        connection.transport.set_keepalive(KEEPALIVE_S)
        # paramiko would wake up ten times a second, to see whether the connection was closed
        connection.transport.sock.settimeout(KEEPALIVE_S)

    def close(self) -> None:
        """Close all connections, the innermost first."""
        self._stack.close()

    def _trust(self, connection: fabric.Connection, hop: Hop) -> None:
        """Make paramiko trust only the keys of d0ctl's known_hosts for this host."""
        client = connection.client
        client.set_missing_host_key_policy(paramiko.RejectPolicy())
        name = hop.host if hop.port == 22 else f"[{hop.host}]:{hop.port}"
        for entry in hostkeys.entries(self._known_hosts, hop.known_as):
            with suppress(paramiko.UnknownKeyType, paramiko.SSHException):
                key = paramiko.PKey.from_type_string(entry.key.algorithm, entry.key.blob)
                client.get_host_keys().add(name, key.get_name(), key)

    def _cause(self, error: Exception) -> Exception:
        """Return the error, or that the host closed the connection before its first line."""
        transport = self._connections[-1].client.get_transport()
        if transport is None or transport.remote_version:
            return error
        is_closed = not isinstance(error.__context__, TimeoutError)
        return ConnectionAbortedError() if is_closed else error

    def _check_key(self, hop: Hop) -> None:
        """Raise the error of the host key, if that is why the connection failed."""
        transport = self._connections[-1].client.get_transport()
        shown = transport.host_key if transport else None
        if shown:
            key = hostkeys.HostKey(shown.get_name(), shown.get_base64())
            hostkeys.check(self._known_hosts, hop.known_as, key)


class WakingSocket(socket.socket):
    """A socket whose `close` wakes the threads that wait for it."""

    def close(self) -> None:
        """Shut it down first, which ends reads and writes of other threads at once."""
        with suppress(OSError):
            self.shutdown(socket.SHUT_RDWR)
        super().close()


def dial(hop: Hop, timeout: float, io_timeout: float, stack: ExitStack) -> socket.socket:
    """Return a socket to the host, by TCP or its ProxyCommand; `stack` closes it."""
    if hop.proxy_command:
        return command_socket(["/bin/sh", "-c", f"exec {hop.proxy_command}"], stack)
    try:
        plain = socket.create_connection((hop.host, hop.port), timeout)
    except OSError as error:
        raise unreachable(hop, timeout, error) from error
    connection = stack.enter_context(WakingSocket(fileno=plain.detach()))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, int(io_timeout * 1000))
    return connection


def command_socket(command: list[str], stack: ExitStack) -> socket.socket:
    """Return one end of a socket pair whose other end is stdin and stdout of a command."""
    near, theirs = socket.socketpair()
    ours = stack.enter_context(WakingSocket(fileno=near.detach()))
    with theirs:
        process = subprocess.Popen(
            command,
            stdin=theirs.fileno(),
            stdout=theirs.fileno(),
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    stack.callback(process.wait)
    stack.callback(process.kill)
    return ours


def unreachable(hop: Hop, timeout: float, error: Exception) -> NodeUnreachable:
    """Return the error that says why a host could not be reached."""
    match error:
        case socket.gaierror():
            why = f"there is no host named `{hop.host}`"
        case TimeoutError():
            why = f"`{hop}` does not answer within {timeout:g} s"
        case ConnectionRefusedError():
            why = f"`{hop}` refuses the connection: no sshd listens on that port"
        case ConnectionAbortedError():
            why = f"`{hop}` {CLOSED_EARLY}"
        case paramiko.ChannelException():
            why = f"the jump host can't reach `{hop}`: {error.text.lower()}"
        case OSError() if error.strerror:
            why = f"can't reach `{hop}`: {error.strerror.lower()}"
        case _:
            why = f"can't speak ssh with `{hop}`: {error or 'it closed the connection'}"
    return NodeUnreachable(why)
