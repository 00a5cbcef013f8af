"""A link that drops to 10 kB/s: a real sshd behind a proxy that throttles."""

import re
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from d0ctl.model import Address
from d0ctl.select import parse
from d0ctl.show.why.package import package as why_package
from d0ctl.store import open_store
from d0ctl.store.nodes import registry
from d0ctl.store.views import browse
from tests.support.homes import equip_nodes
from tests.support.jobs import job, simple
from tests.support.site import Site

CHUNK = 1000
"""How much of the data goes on at a time, while the link is slow."""


class Throttle:
    """A TCP proxy whose rate in bytes per second can be changed."""

    def __init__(self, port: int) -> None:
        self.rate = 1e9
        self._target = port
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = self._server.getsockname()[1]
        self._sockets = [self._server]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                near = self._server.accept()[0]
                far = socket.create_connection(("127.0.0.1", self._target))
                self._sockets += [near, far]
                for ends in ((near, far), (far, near)):
                    threading.Thread(target=self._pass, args=ends, daemon=True).start()

    def _pass(self, source: socket.socket, target: socket.socket) -> None:
        pause = threading.Event()
        with suppress(OSError):
            while data := source.recv(CHUNK if self.rate < 1e9 else 65536):
                target.sendall(data)
                pause.wait(len(data) / self.rate)
            target.shutdown(socket.SHUT_WR)

    def close(self) -> None:
        """End all connections."""
        for end in self._sockets:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()


NEAR = ("localhost",)


def why(real_site: Site, path: str) -> list[str]:
    """What is said of a package."""
    with open_store(real_site.home, read_only=True) as store:
        return why_package(store, browse.package(store, parse(path)), time.time()).facts


@pytest.fixture
def throttle(real_site: Site) -> Iterator[Throttle]:
    """The way to the node `far`, which has one CPU."""
    sshd = real_site.start_sshd("far")
    throttle = Throttle(sshd.port)
    with closing(throttle):
        line = sshd.known_hosts_line.replace(f":{sshd.port}", f":{throttle.port}")
        with real_site.home.known_hosts.open("a") as known:
            known.write(line)
        user, _, _ = sshd.destination.rpartition(":")
        work = real_site.folder / "far" / "work"
        with open_store(real_site.home) as store:
            destination = f"{user}:{throttle.port}"
            address = Address("far", "ssh", destination, str(sshd.identity), str(work))
            registry.add(store, address, cpus=1)
        equip_nodes(real_site.home, "far", work)
        yield throttle


def test_a_link_of_10_kb_per_second_delays_only_what_goes_over_it(
    real_site: Site, throttle: Throttle, tmp_path: Path
) -> None:
    for name in ("first", "second"):
        (tmp_path / name).write_bytes(bytes(25_000))
    real_site.start_daemon()
    real_site.wait_node("far", "up")
    throttle.rate = 10_000

    for name in ("first", "second"):
        data = str(tmp_path / name)
        real_site.submit(job(name, [simple(real_site.ran(name), [data], nodes=("far",))]))
        real_site.submit(job(f"near{name}", [simple(real_site.ran("near"), [data], nodes=NEAR)]))
    real_site.wait_phase("nearfirst/1/1/1", "done")
    real_site.wait_phase("nearsecond/1/1/1", "done")
    assert real_site.phases()["second/1/1/1"] == "assigned"
    real_site.wait_phase("first/1/1/1", "done")

    facts = why(real_site, "second/1/1/1")
    real_site.wait_phase("second/1/1/1", "done")
    assert facts[0] == f"file `{tmp_path}/second` is being copied"
    assert re.fullmatch(r"recent transfers to `far` ran at \d+(\.\d+)? kB/s.*", facts[1])
    assert real_site.runs() == {"near": 2, "first": 1, "second": 1}
    assert {outcome for _, outcome, _ in real_site.attempts()} == {"successful"}
