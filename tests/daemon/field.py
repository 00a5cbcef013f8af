"""A daemon's hands, and nodes that are stubs."""

from pathlib import Path

import pytest

from d0ctl.config import Home
from d0ctl.daemon.desk import Desk
from d0ctl.jobfile.spec import OutputSpec
from d0ctl.nodes import courier as couriers
from d0ctl.nodes.transports.transport import Address
from d0ctl.store.nodes import registry
from tests.daemon.contact import Disk, Stub, turn_until
from tests.support.jobs import job, simple, submitted
from tests.support.rows import change, delete, insert, read, value


class Field:
    """A daemon's hands with nodes that are stubs, each with its courier and its disk."""

    def __init__(self, home: Home, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
        self.home, self.desk = home, desk
        self.disks: dict[str, Disk] = {}
        self.reached: list[str] = []
        self.closing: list[Stub] = []
        self.free: int | None = None
        monkeypatch.setattr(couriers, "open_link", self.open)
        monkeypatch.setattr(couriers, "FIRST_WAIT_S", 0.01)
        with desk.store.writing():
            delete(desk.store, "node")

    def open(self, address: Address, *_: object, **__: object) -> Stub:
        self.reached.append(address.destination)
        link = Stub()
        link.facts = {"cpus": 1, "base": "/base", "machine_id": address.destination,
                      "disk_free": self.free}  # fmt: skip
        link.transport = self.disks.setdefault(address.name, Disk())
        self.closing.append(link)
        return link

    def add(self, name: str, destination: str = "", cluster: str | None = None) -> int:
        """A node that is up."""
        address = Address(name, destination=destination or name)
        node = registry.add(self.desk.store, address, cpus=1, cluster=cluster)
        self.wait_up(node)
        return node

    def wait_up(self, node: int) -> None:
        """Turn until a node is up and may be given orders."""
        turn_until(
            self.desk,
            lambda: (
                self.desk.courier(node) and registry.by_id(self.desk.store, node).state == "up"  # type: ignore[union-attr]
            ),
        )

    def files_at(self, *places: int) -> list[Path]:
        """Results that lie at these nodes and are wanted here; where they will be."""
        specs = [simple(outputs=[OutputSpec(f"f{n}", result=True)]) for n in range(len(places))]
        number = submitted(self.desk.store, job("job", specs, hold=True))
        store = self.desk.store
        with store.writing():
            rows = read(store, "file", "id", job_id=number)
            for (file,), node in zip(rows, places, strict=True):
                change(store, "file", {"id": file}, present=1)
                cluster = value(store, "node", "cluster_id", id=node)
                insert(store, "location", file_id=file, cluster_id=cluster, path="/there",
                       node_id=node, made=0)  # fmt: skip
                insert(store, "transfer", file_id=file, cluster_id=1, result=1, wanted=file)
        return [self.home.results / "job" / f"f{n}" for n in range(len(places))]

    def end(self) -> None:
        """Let all go on."""
        for disk in self.disks.values():
            disk.may_read.set()
        for link in self.closing:
            link.close()
