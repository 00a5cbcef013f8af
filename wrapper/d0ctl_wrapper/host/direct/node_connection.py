"""A connection of two nodes by a login of one to the other, with a key made for it.

One end *answers*: it adds the key and waits. The other *calls*: it logs in by the ssh program.
The login runs `arrive`, which passes its stdin and stdout to the waiting process.
"""

import array
import contextlib
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from typing import IO, Any, Dict, Iterator, List, Tuple

from d0ctl_wrapper.disk import write_all
from d0ctl_wrapper.host import process
from d0ctl_wrapper.host.direct import key
from d0ctl_wrapper.protocol import file_stream
from d0ctl_wrapper.protocol.checks import json_text
from d0ctl_wrapper.protocol.paths import NodePaths, to_text

CALL_S = 20.0
"""How long a login may take."""

CONNECT_S = 5
"""How long the first step of it may take."""

_HUNG_UP = 0x2000  # POLLRDHUP: a socket whose other side sends nothing more


class Connection:
    """A connection: bytes read from `receive` were written by the other node, and vice versa."""

    def __init__(self, receive: int, send: int) -> None:
        self.receive = receive
        self.send = send

    def finish(self) -> None:
        """Close it; return once everything sent is on its way to the other node."""
        os.close(self.send)
        os.close(self.receive)


class Call(Connection):
    """The calling end, with its ssh process."""

    def __init__(self, ssh: "subprocess.Popen[bytes]") -> None:
        assert ssh.stdin is not None and ssh.stdout is not None
        super().__init__(ssh.stdout.fileno(), ssh.stdin.fileno())
        self._ssh = ssh

    def finish(self) -> None:
        """Close stdin of the ssh process, and wait until it has sent all."""
        assert self._ssh.stdin is not None
        self._ssh.stdin.close()
        self._ssh.wait()


class Answer(Connection):
    """The answering end; `arrive` ends when its socket is closed."""

    def __init__(self, receive: int, send: int, socket: socket.socket) -> None:
        super().__init__(receive, send)
        self._socket = socket

    def finish(self) -> None:
        """Close it."""
        super().finish()
        self._socket.close()


def connect(paths: NodePaths, order: "Dict[str, Any]", source: "IO[bytes]") -> Connection:
    """Connect as the order says, and report it to the control host. Raises OSError, ValueError."""
    _end_with_control_host(paths, order)
    if order["role"] == file_stream.ANSWER:
        return _answer(paths, order)
    call = file_stream.CALL_ORDER(json_text.decode(file_stream.line(source)))
    try:
        connection = _call(call, order["name"])
    except OSError as error:
        _report({"fault": error.strerror or str(error)})
        raise
    _report({"fault": ""})
    return connection


def _report(record: "Dict[str, Any]") -> None:
    write_all(1, file_stream.encode(record))


def _answer(paths: NodePaths, order: "Dict[str, Any]") -> Connection:
    """Let the key in, and wait for the login by it; the key is removed as soon as it has come."""
    path = _socket_path(paths, order["name"])
    listener = socket.socket(socket.AF_UNIX)
    try:
        _at(path, listener.bind)
        listener.listen(1)
        try:
            arguments = ["exec", sys.executable, "-I", "-S", os.path.abspath(sys.argv[0])]
            command = " ".join([*arguments, "arrive", to_text(path)])
            key.add(order["public"], order["name"], command)
        except (OSError, ValueError) as error:
            _report({"fault": "no key can be added: %s" % error, "command": ""})
            raise
        _report({"fault": "", "command": command})
        file_stream.alive()
        arrived = listener.accept()[0]
        connection = Answer(*_receive_descriptors(arrived), arrived)
        write_all(connection.send, file_stream.greet(order["name"]))
        return connection
    finally:
        listener.close()
        _clean_up(path, order["name"])


def arrive(path: bytes) -> int:
    """Pass stdin and stdout to the process that waits at a socket; end when it is done."""
    connection = socket.socket(socket.AF_UNIX)
    try:
        _at(path, connection.connect)
        rights = array.array("i", [0, 1])
        connection.sendmsg([b"."], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])
        os.close(0)
        os.close(1)
        connection.recv(1)
    except OSError:
        sys.stderr.write("d0ctl arrive: nobody waits for this login any more\n")
        return 1
    return 0


def _receive_descriptors(arrived: socket.socket) -> "Tuple[int, int]":
    found = array.array("i")
    _, messages, _, _ = arrived.recvmsg(1, socket.CMSG_SPACE(2 * found.itemsize))
    for _, _, data in messages:
        found.frombytes(data[: len(data) - len(data) % found.itemsize])
    if len(found) != 2:
        raise OSError("a login brought no connection")
    return found[0], found[1]


def _socket_path(paths: NodePaths, name: str) -> bytes:
    return os.path.realpath(paths.cache) + b"/aside/direct-" + name[:16].encode("ascii")


def _at(path: bytes, do: "Any") -> None:
    """Bind or connect a socket at a path, which may be longer than an address allows."""
    folder = os.open(os.path.dirname(path), os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        do(b"/proc/self/fd/%d/%s" % (folder, os.path.basename(path)))
    finally:
        os.close(folder)


def _clean_up(path: bytes, name: str) -> None:
    """Remove the key and the socket, if they are still there."""
    try:
        key.remove(name)
    except OSError:
        pass  # it has expired soon, and the next stream or relay removes it
    try:
        os.unlink(path)
    except OSError:
        pass


def _end_with_control_host(paths: NodePaths, order: "Dict[str, Any]") -> None:
    """Watch this process and its stdin from another one.

    If the control host is gone, end this process; however it ends, remove the key.
    """
    reader, writer = os.pipe()
    parent = os.getpid()
    if os.fork():
        os.close(reader)  # the writer stays open for as long as this process lives
        return
    try:
        os.close(writer)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        poll = select.poll()
        poll.register(reader, select.POLLHUP)
        poll.register(0, select.POLLHUP | _HUNG_UP)
        poll.poll()
        if os.getppid() == parent:
            process.send(parent, signal.SIGKILL)
        if order["role"] == file_stream.ANSWER:
            _clean_up(_socket_path(paths, order["name"]), order["name"])
    finally:
        os._exit(0)


def _call(call: "Dict[str, Any]", name: str) -> Connection:
    """Log in to the other node; raise OSError if that is impossible."""
    with _hidden(call["private"]) as private, _hidden(call["known_hosts"]) as known_hosts:
        with tempfile.TemporaryFile() as said:
            arguments = _ssh(call, private, known_hosts)
            ssh = _start(arguments, said)
            try:
                _await_greeting(ssh, file_stream.greet(name))
            except OSError as error:
                ssh.kill()
                ssh.wait()
                said.seek(0)
                lines = said.read(4096).decode("utf-8", "replace").split("\n")
                reason = next((line for line in reversed(lines) if line.strip()), str(error))
                raise OSError(reason.strip())
            return Call(ssh)


def _start(arguments: "List[str]", said: "IO[bytes]") -> "subprocess.Popen[bytes]":
    parent = os.getpid()
    try:
        return subprocess.Popen(
            arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said, bufsize=0,
            preexec_fn=lambda: process.die_with_parent(parent),
        )  # fmt: skip
    except FileNotFoundError:
        raise OSError("there is no ssh program")


def _ssh(call: "Dict[str, Any]", private: str, known_hosts: str) -> "List[str]":
    """Return the words of the ssh program: no file or agent of the account is used."""
    options = [
        "IdentitiesOnly=yes", "IdentityAgent=none", "BatchMode=yes", "LogLevel=ERROR",
        "PreferredAuthentications=publickey", "StrictHostKeyChecking=yes",
        "UserKnownHostsFile=" + known_hosts, "GlobalKnownHostsFile=/dev/null",
        "HostKeyAlias=" + file_stream.ALIAS, "CheckHostIP=no", "UpdateHostKeys=no",
        "VerifyHostKeyDNS=no", "ControlPath=none", "ConnectTimeout=%d" % CONNECT_S,
        "ServerAliveInterval=15", "ServerAliveCountMax=3", "Ciphers=" + file_stream.CIPHERS,
    ]  # fmt: skip
    arguments = ["ssh", "-F", "/dev/null", "-T", "-i", private]
    for option in options:
        arguments += ["-o", option]
    return [*arguments, "-p", str(call["port"]), "-l", call["user"], "--", call["host"],
            call["command"]]  # fmt: skip


def _await_greeting(ssh: "subprocess.Popen[bytes]", mark: bytes) -> None:
    """Skip the output of a login shell, up to the line of the process that answers."""
    assert ssh.stdout is not None
    deadline = time.monotonic() + CALL_S
    end = b""
    while end != mark:
        ready = select.select([ssh.stdout], [], [], max(0.0, deadline - time.monotonic()))[0]
        if not ready:
            raise OSError("the login takes longer than %d s" % CALL_S)
        byte = os.read(ssh.stdout.fileno(), 1)
        if not byte:
            raise OSError("the login ended at once")
        end = (end + byte)[-len(mark) :]


@contextlib.contextmanager
def _hidden(text: str) -> "Iterator[str]":
    """Yield the path of a file in memory, for processes that this one starts."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryFile(dir=memory) as file:
        file.write(text.encode("utf-8"))
        file.flush()
        yield "/proc/%d/fd/%d" % (os.getpid(), file.fileno())
