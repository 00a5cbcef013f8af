"""Simulated nodes that only a test sees whole, driven through the store as the daemon does.

Nodes run what they are launched, and their messages and orders can wait, get lost with a link,
or come twice. So whatever a test does here in any order can happen to a real site.
"""

import itertools
from collections.abc import Iterable
from typing import Any

from d0ctl.daemon.steps.schedule import decide
from d0ctl.model import Address
from d0ctl.store import input_stream as feed
from d0ctl.store.attempts import messages
from d0ctl.store.attempts.launching import launches
from d0ctl.store.files import copies
from d0ctl.store.jobs.correction.late_lines import make_lines
from d0ctl.store.nodes import contact, placement, registry
from tests.support.jobs import NOW
from tests.support.messages import Message
from tests.support.rows import change
from tests.support.site.machines import Machines
from tests.support.site.simulated_node import SENT, Node


class Simulation(Machines):
    """The store of a site, and its nodes as they really are."""

    def link_nodes(self, *others: str, cpus: int) -> None:
        """Add simulated nodes to this machine, which is one, too, and let them all be up."""
        self.clock = itertools.count(1)
        for name in others:
            registry.add(self.store, Address(name, "ssh", name), cpus=cpus)
        self.nodes = {
            row["id"]: Node(row["id"], row["name"], row["cluster_id"])
            for row in self.store.rows("nodes")
        }
        with self.store.writing():
            change(self.store, "node", cpus_asked=cpus)
        for node in self.nodes.values():
            self.link(node)

    @property
    def now(self) -> float:
        """The time, which always goes on."""
        return NOW + 100.0 * next(self.clock)

    def node(self, name: str) -> Node:
        """The node of that name."""
        return next(node for node in self.nodes.values() if node.name == name)

    def link(self, node: Node) -> None:
        """Let a link come up, and reconcile what the node has."""
        node.linked = True
        node.orders.clear()
        node.replies.clear()
        node.resumed.clear()
        facts = {"boot_id": str(node.boot), "cpus": 2, "base": f"/{node.name}"}
        with self.store.writing():
            contact.up(self.store, node.id, facts, now=self.now)
            found = launches.reconcile(self.store, node.id, dict(node.attempts), now=self.now)
            messages.fail(
                self.store,
                node.id,
                [*found.lost, *found.dead],
                reason="lost",
                message="gone",
                now=self.now,
            )
        node.orders += [("launch", launch) for launch in found.launch]
        node.orders += [("resend", attempt) for attempt in found.resend]
        node.orders += [("kill", attempt) for attempt in found.kill]
        node.orders += [("ask", attempt) for attempt in found.ask]

    def unlink(self, node: Node) -> None:
        """Lose the link; what was under way on it is lost too."""
        node.linked = False
        node.orders.clear()
        node.replies.clear()
        with self.store.writing():
            contact.down(self.store, node.id, "no route to host", now=self.now)

    def reboot(self, node: Node) -> None:
        """Lose all that runs on a node, and the link."""
        node.boot += 1
        for attempt, state in node.attempts.items():
            if state == "running":
                node.attempts[attempt] = "dead"
        if node.linked:
            self.unlink(node)

    def schedule(self) -> int:
        """Plan as the scheduler does; how many packages got a node."""
        make_lines(self.store, lambda: self.now)
        with self.store.writing():
            placement.advance(self.store, now=self.now)
            decisions = decide(self.store, now=self.now)
            return placement.assign(self.store, decisions, now=self.now) if decisions else 0

    def hand_out(self, node: Node) -> int:
        """Launch what can be launched on a node; how many."""
        if not node.linked:
            return 0
        with self.store.writing():
            new = launches.launch(self.store, [node.id], limit=10, now=self.now).get(node.id, [])
            kills = launches.killing(self.store, node.id)
            answer = feed.due(self.store, node.id, limit=3, now=self.now)
        node.orders += [("launch", launch) for launch in new]
        node.orders += [("input_stream", entry) for entry in answer]
        node.orders += [("kill", a) for a in kills if ("kill", a) not in node.orders]
        return len(new) + len(answer) + self._pause_and_resume(node)

    def _pause_and_resume(self, node: Node) -> int:
        """Pass on requests to pause or resume, and settle those to which silence is the answer."""
        unheard = {entry["attempt"] for entry in node.spool}
        with self.store.writing():
            asked = launches.requested(self.store, node.id)
            silent = [a for a, request in asked.items()
                      if request == "resume" and a in node.resumed - unheard]  # fmt: skip
            launches.settle_resumed(self.store, silent)
            left = launches.requested(self.store, node.id)
        new = [(str(request), a) for a, request in left.items() if a not in node.suspended
               or request == "resume"]  # fmt: skip
        new = [order for order in new if order not in node.orders]
        node.orders += new
        return len(new) + len(silent)

    def order(self, node: Node) -> None:
        """Let the node carry out what it is asked."""
        orders, node.orders = node.orders, []
        for order in orders:
            node.obey(*order)

    def hear(self, node: Node) -> None:
        """Act on what the relay said."""
        replies, node.replies = node.replies, []
        with self.store.writing():
            for kind, answer in replies:
                if kind == "status":
                    messages.take_status(
                        self.store, node.id, answer["attempt"], answer, now=self.now
                    )
                else:
                    launches.end_unstarted(self.store, node.id, [answer], now=self.now)

    def deliver(self, node: Node, chosen: Iterable[Message]) -> None:
        """Apply some messages of a node."""
        batch = list(chosen)
        for entry in batch:
            SENT.setdefault((id(node), entry["attempt"]), []).append(entry)
        node.spool = [entry for entry in node.spool if entry not in batch]
        with self.store.writing():
            messages.apply(self.store, batch, now=self.now)

    def carry(self) -> int:
        """Make the copies that are wanted and can be made; how many."""
        done = 0
        with self.store.writing():
            for row in copies.wanted(self.store, now=self.now, limit=50):
                done += self._carry(row)
        return done

    def _carry(self, row: Any) -> int:
        here = row.here or (row.name if row.package_id is None else None)
        if row.cluster_id != 1 and here is None:
            key = row.file_id, row.cluster_id, row.result
            copies.want_here(self.store, *key, now=self.now)
            return 1
        source = here
        if here is None:
            sources = copies.copies(self.store, row.file_id)
            if not sources:
                copies.lose(self.store, [(row.file_id, 0)], now=self.now)
                self._postpone(row, copies.PARKED)
                return 0
            place = next((c for c in sources if self.nodes[c.node_id].linked), None)
            if place is None:
                self._postpone(row, self.now)
                return 0
            source = place.path
            if source not in self.nodes[place.node_id].disk:
                copies.lose(self.store, [(row.file_id, place.cluster_id)], now=self.now)
                return 1
        return self._arrive(row)

    def _postpone(self, row: Any, until: float) -> None:
        key = row.file_id, row.cluster_id, row.result
        copies.postpone(self.store, *key, until=until)

    def _arrive(self, row: Any) -> int:
        node, path = None, f"/results/{row.name}"
        if row.cluster_id != 1:
            node = next(n for n in self.nodes.values() if n.cluster == row.cluster_id)
            if not node.linked:
                return 0
            path = f"/{node.name}/cache/in/{row.file_id}/{row.name}"
            node.disk.add(path)
        elif not row.result:
            path = f"/control/cache/{row.file_id}/{row.name}"
            self.node("localhost").disk.add(path)
        arrival = copies.Arrival(
            file=row.file_id,
            cluster=row.cluster_id,
            result=row.result,
            path=path,
            node=node.id if node else None,
            size=7,
            checksum="sha256:" + "7" * 64,
        )
        copies.arrive(self.store, [arrival], now=self.now)
        return 1

    def settle(self, outcome: str | None = "successful") -> None:
        """Let everything come to rest: links up, messages sent, running attempts ended if they have
        an outcome.
        """
        for node in self.nodes.values():
            if not node.linked:
                self.link(node)
        for _ in range(200):
            moved = self.schedule() + self.carry()
            for node in self.nodes.values():
                moved += (
                    self.hand_out(node) + len(node.orders) + len(node.spool) + len(node.replies)
                )
                self.order(node)
                for attempt, state in list(node.attempts.items()):
                    if outcome and state == "running":
                        node.end(attempt, outcome, None if outcome == "successful" else "exit-code")
                        moved += node.attempts[attempt] != "running"
                self.hear(node)
                self.deliver(node, node.spool)
            if not moved:
                return
        raise AssertionError("it does not come to rest")
