"""A site whose nodes fail packages that succeed elsewhere."""

from typing import Any

from d0ctl import model
from d0ctl.store import Store
from d0ctl.store.nodes import registry
from tests.support.jobs import NOW, job, simple, submitted
from tests.support.site import Node, Site


class StillSite(Site):
    """A site whose time stands still until it is moved."""

    at = NOW

    @property
    def now(self) -> float:
        """What time it is."""
        return self.at

    def fill(self) -> None:
        """Plan, and launch what is planned."""
        self.schedule()
        for node in self.nodes.values():
            self.hand_out(node)
            self.order(node)

    def running(self, node: Node) -> list[int]:
        """The attempts that run on a node, the oldest first."""
        return [attempt for attempt, state in node.attempts.items() if state == "running"]

    def end_running(
        self, node: Node, outcome: str, reason: str | None = None, most: int = 99
    ) -> int:
        """Let the running packages of a node end now; how many that were."""
        ending = self.running(node)[:most]
        for attempt in ending:
            node.end(attempt, outcome, reason)
        ends = [
            {**message, "started": self.at, "ended": self.at}
            if message["kind"] == "end"
            else message
            for message in node.spool
        ]
        node.spool = ends
        self.deliver(node, ends)
        return len(ending)

    def round(self, *bad: str, reason: str = "exit-code", step: float = 60.0) -> None:
        """Everybody gets packages; those on bad nodes fail, the others go well."""
        self.fill()
        for node in self.nodes.values():
            if node.name in bad:
                self.end_running(node, "failed", reason)
        for node in self.nodes.values():
            if node.name not in bad:
                self.end_running(node, "successful")
        self.at += step

    def row(self, name: str) -> model.Node:
        """A node as the database has it."""
        return registry.named(self.store, name)

    def launched_on(self, name: str) -> int:
        """How many attempts there were on a node."""
        query = "select count(*) from attempt where node_name = ?"
        return int(self.store.connection.execute(query, [name]).fetchone()[0])

    def problems(self) -> list[tuple[str, str]]:
        """Which nodes have a problem, and of which kind."""
        rows = self.store.connection.execute("select name, kind from node_problem order by name")
        return [tuple(row) for row in rows]


def set_up(store: Store, *names: str, packages: int = 40, cpus: int = 1, **more: Any) -> StillSite:
    """A job of many packages, and nodes beside this machine."""
    submitted(store, job("sim", [simple() for _ in range(packages)], **more))
    return StillSite.of(store, *names, cpus=cpus)


def fail_on(site: StillSite, *bad: str, rounds: int = 9) -> None:
    """Go on until a node is drained."""
    for _ in range(rounds):
        site.round(*bad)
        if site.row(bad[0]).drained:
            return
    raise AssertionError("nobody was drained")


def drained(store: Store) -> StillSite:
    """A site of which one node has been drained."""
    site = set_up(store, "good", "hole", packages=400)
    fail_on(site, "hole", rounds=200)
    return site
