"""A real MQTT broker on a loopback port of its own, and a line to it that can be cut."""

import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

from tests.support import beside, debian_program
from tests.support.openssh import free_port
from tests.support.waiting import wait_until

HOST = "127.0.0.1"
TOPIC = "lab/events"
ACKNOWLEDGEMENT = 4
"""The type of the MQTT packet that acknowledges a message of QoS 1."""


class Mosquitto:
    """A broker that keeps messages on the disk; with a certificate it speaks only TLS."""

    def __init__(
        self, folder: Path, certificate: Path | None = None, login: tuple[str, str] | None = None
    ) -> None:
        self.port = free_port(HOST)
        self.certificate = certificate
        self._folder = folder
        self._login = login
        self._program = debian_program("mosquitto", "mosquitto", "mosquitto-clients")
        self._process: subprocess.Popen[bytes] | None = None
        folder.mkdir()
        words = [
            f"listener {self.port} {HOST}", f"user {Path('/proc/self').owner()}",
            "persistence true", f"persistence_location {folder}/",
            f"allow_anonymous {'false' if login else 'true'}",
        ]  # fmt: skip
        if certificate:
            words += [f"certfile {certificate}", f"keyfile {certificate}"]
        if login:
            words.append(f"password_file {folder}/people")
            subprocess.run(
                [beside(self._program, "mosquitto_passwd"), "-b", "-c", folder / "people", *login],
                check=True, capture_output=True,
            )  # fmt: skip
        (folder / "settings").write_text("\n".join([*words, ""]))

    @property
    def said(self) -> dict[str, Any]:
        """The section `event-queue` of a site that listens to it."""
        found = {"host": HOST, "port": self.port, "topic": TOPIC, "security": "none"}
        if self.certificate:
            found |= {"security": "tls", "certificates": str(self.certificate)}
        return found

    def publish(self, text: bytes, topic: str = TOPIC) -> bool:
        """Send a message as people do in a shell; return whether the broker has taken it."""
        more = ["--cafile", str(self.certificate)] if self.certificate else []
        if self._login:
            more += ["-u", self._login[0], "-P", self._login[1]]
        done = subprocess.run(
            [beside(self._program, "mosquitto_pub"), "-h", HOST, "-p", str(self.port),
             "-t", topic, "-q", "1", "-s", *more],
            input=text, capture_output=True,
        )  # fmt: skip
        return done.returncode == 0

    def __enter__(self) -> Self:
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [self._program, "-c", self._folder / "settings"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
        wait_until(self._listens, what="the broker listens")
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process
        self._process.terminate()  # it writes what it keeps
        self._process.wait()

    def _listens(self) -> bool:
        assert self._process
        assert self._process.poll() is None, (self._folder / "log").read_text()
        with suppress(OSError), socket.create_connection((HOST, self.port), 1):
            return True
        return False


class Line:
    """A port that leads to a broker. While `is_cut`, it passes on no acknowledgement."""

    def __init__(self, target: int) -> None:
        self.is_cut = False
        self.cut = threading.Event()
        """Set when an acknowledgement was lost."""
        self._target = target
        self._threads: list[threading.Thread] = []
        self._ends: list[socket.socket] = []
        self._server = socket.create_server((HOST, 0))
        self.port = int(self._server.getsockname()[1])
        self._server_thread = threading.Thread(target=self._serve)
        self._server_thread.start()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._server.accept()
                far = socket.create_connection((HOST, self._target))
                self._ends += [near, far]
                for ends in ((near, far), (far, near)):
                    self._threads.append(threading.Thread(target=self._pass, args=ends))
                    self._threads[-1].start()

    def close(self) -> None:
        """Close the port, and wait for the ends of its connections."""
        with suppress(OSError):
            self._server.shutdown(socket.SHUT_RDWR)
        self._server_thread.join()
        self._server.close()
        for end in self._ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        for end in self._ends:
            end.close()

    def _pass(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                if self.is_cut and data[0] >> 4 == ACKNOWLEDGEMENT:
                    self.cut.set()
                else:
                    target.sendall(data)
        with suppress(OSError):
            target.shutdown(socket.SHUT_RDWR)


@contextmanager
def line_to(broker: Mosquitto) -> Iterator[Line]:
    """A line to a broker, open until the block ends."""
    line = Line(broker.port)
    try:
        yield line
    finally:
        line.close()
