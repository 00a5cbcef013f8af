"""Packages that a test brings into any state, and what is known of them."""

import time
from collections import Counter
from typing import Any

from d0ctl.schedule.choice import Decision
from d0ctl.select import parse
from d0ctl.store.attempts import messages
from d0ctl.store.attempts.launching import launches
from d0ctl.store.nodes import contact, placement, registry
from d0ctl.store.views import browse, one_package
from tests.support import homes, jobs
from tests.support.rows import change, delete, read, value
from tests.support.site.machines import Machines

FACTS: dict[str, Any] = {
    "cpus": 4, "memory": 8 << 30, "machine_id": "m1", "boot_id": "b1", "base": "/tmp/base",
    "system": "Linux", "machine": "x86_64", "hostname": "h", "os": "Debian", "python": "3.11.2",
}  # fmt: skip


class Packages(Machines):
    """Jobs of a site, and hands that move their packages without any node."""

    # what is known ---------------------------------------------------------------------

    def id_of(self, path: str) -> int:
        """The row of a package, or of a job."""
        with self.opened(read_only=True) as store:
            if "/" not in path:
                return int(value(store, "job", "id", name=path))
            return browse.package(store, parse(path)).id

    def phase(self, path: str) -> str:
        """The phase of a package."""
        with self.opened(read_only=True) as store:
            return browse.package(store, parse(path)).phase

    def phases(self) -> dict[str, str]:
        """The phase of every package, by its path."""
        with self.opened(read_only=True) as store:
            return jobs.phases(store)

    def counts(self, job: str) -> dict[str, int]:
        """How many packages of a job are in each phase."""
        return dict(Counter(p for path, p in self.phases().items() if path.startswith(f"{job}/")))

    def attempts(self) -> list[tuple[str, str, str | None]]:
        """Node, outcome and reason of all attempts, in their order."""
        with self.opened(read_only=True) as store:
            return read(store, "attempt", "node_name", "outcome", "reason")

    def faults(self) -> dict[str, list[tuple[str, str]]]:
        """What is wrong with the database."""
        with self.opened() as store:
            return homes.faults(store)

    # hands -----------------------------------------------------------------------------

    def up(self, name: str = "localhost", **facts: Any) -> None:
        """A node answers."""
        row = registry.named(self.store, name)
        with self.store.writing():
            contact.up(self.store, row.id, FACTS | facts, now=time.time())

    def assign(self, path: str, node: str = "localhost") -> None:
        """ready -> assigned."""
        row = registry.named(self.store, node)
        with self.store.writing():
            decision = Decision(self.id_of(path), row.id, 0)
            assert placement.assign(self.store, [decision], now=time.time()) == 1

    def launch(self, path: str, node: str = "localhost") -> int:
        """ready -> starting -> running; the attempt."""
        self.send(path, node)
        attempt = one_package.attempts(self.store, self.id_of(path))[-1].id
        start = {"attempt": attempt, "kind": "start", "seq": 1, "time": time.time()}
        self.tell({**start, "utc_offset": 0, "phase": "running"})
        return attempt

    def send(self, path: str, node: str = "localhost") -> None:
        """ready -> starting."""
        row = registry.named(self.store, node)
        if row.state != "up":
            self.up(node)
        self.assign(path, node)
        with self.store.writing():
            launches.launch(self.store, [row.id], limit=10, now=time.time())

    def tell(self, message: Any) -> None:
        """A message arrives."""
        with self.store.writing():
            messages.apply(self.store, [message], now=time.time())

    def end(self, path: str, outcome: str = "successful", **more: Any) -> None:
        """running -> what the end message says; results arrive at once."""
        package = browse.package(self.store, parse(path))
        attempt = one_package.attempts(self.store, package.id)[-1].id
        outputs = [
            {"name": file.name, "path": f"/tmp/base/cache/{attempt}/{file.name}", "size": 10,
             "checksum": "sha256:00"}
            for file in one_package.outputs(self.store, package.id)
        ]  # fmt: skip
        now = time.time()
        fields = {
            "attempt": attempt, "kind": "end", "outcome": outcome, "started": now - 2,
            "ended": now, "utc_offset": 3600, "binary": None, "reason": None, "detail": None,
            "exit_code": None, "signal": None, "cpu": 1.5, "rss": 1 << 20, "stderr": None,
            "binaries": [], "outputs": outputs if outcome == "successful" else [], "missing": [],
        }  # fmt: skip
        self.tell(fields | more)
        with self.store.writing():
            delete(self.store, "transfer", result=1)
            change(self.store, "package", {"phase": "transferring", "id": package.id}, phase="done")
            placement.advance(self.store, now=now)

    def finish(self, path: str) -> None:
        """ready -> done."""
        self.launch(path)
        self.end(path)

    def fail(self, path: str, stderr: str = "", **more: Any) -> None:
        """ready -> failed."""
        self.launch(path)
        fields = {"reason": "exit-code", "detail": "binary 1 (tool) ended with exit code 3",
                  "exit_code": 3, "binary": 1, "stderr": stderr}  # fmt: skip
        self.end(path, "failed", **(fields | more))
