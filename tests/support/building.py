"""Small jobs, and packages brought into any state through the store itself."""

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from d0ctl.jobfile.spec import (
    BinarySpec,
    InputSpec,
    JobSpec,
    LineSpec,
    OutputSpec,
    PackageSpec,
)
from d0ctl.jobfile.spec import StageSpec as Stage
from d0ctl.schedule.place import Decision
from d0ctl.select import parse
from d0ctl.store import Store
from d0ctl.store.attempts import messages
from d0ctl.store.attempts.launching import launches
from d0ctl.store.jobs.submission.submit import submit
from d0ctl.store.nodes import contact, placement, registry
from d0ctl.store.views import browse
from tests.support.rows import change, delete

FACTS: dict[str, Any] = {
    "cpus": 4, "memory": 8 << 30, "machine_id": "m1", "boot_id": "b1", "base": "/tmp/base",
    "system": "Linux", "machine": "x86_64", "hostname": "h", "os": "Debian", "python": "3.11.2",
}  # fmt: skip


def package(
    *outputs: str, needs: Sequence[str] = (), takes: Sequence[str] = (), name: str = "", **more: Any
) -> PackageSpec:
    """A package of one binary; `needs` are required inputs, `takes` are not."""
    inputs = [InputSpec(file) for file in needs]
    inputs += [InputSpec(file, required=False) for file in takes]
    binary = BinarySpec(
        "tool",
        script="tool",
        inputs=tuple(inputs),
        outputs=tuple(OutputSpec(file) for file in outputs),
    )
    return PackageSpec(name or "1", (binary,), **more)


def line(*packages: PackageSpec, name: str = "1") -> LineSpec:
    """A line of packages."""
    return LineSpec(name, packages)


def job(*stages: tuple[str, Sequence[LineSpec]], name: str = "prod", **more: Any) -> JobSpec:
    """A job of stages by name."""
    fields: dict[str, Any] = {
        "title": "A production", "originator": "me@here", "priority": 50, "hold": False,
        "parameters": {}, "policy": {}, "directory": "/tmp", "source": "job.yaml",
    }  # fmt: skip
    number = sum(len(one.packages) for _, lines in stages for one in lines)
    return JobSpec(
        name=name,
        named=True,
        stages=tuple(Stage(word, tuple(lines)) for word, lines in stages),
        packages=number,
        **(fields | more),
    )


def production(name: str = "prod", lines: int = 3, **more: Any) -> JobSpec:
    """Lines of gen and sim, a merge that takes what comes, and a plot that needs the merge."""
    return job(
        ("make", [line(package(f"gen-{i}", name="gen"),
                       package(f"sim-{i}", needs=[f"gen-{i}"], name="sim"))
                  for i in range(1, lines + 1)]),
        ("merge", [line(package("all", takes=[f"sim-{i}" for i in range(1, lines + 1)]))]),
        ("plot", [line(package("plot.png", needs=["all"]))]),
        name=name, **more,
    )  # fmt: skip


@dataclass
class Site:
    """A store with a node, and hands that move packages in it."""

    store: Store

    def submit(self, spec: JobSpec, **more: Any) -> str:
        """Make a job's rows."""
        return submit(self.store, spec, now=time.time(), actor="me", **more)

    def up(self, name: str = "localhost", **facts: Any) -> None:
        """A node answers."""
        row = registry.named(self.store, name)
        with self.store.writing():
            contact.up(self.store, row["id"], FACTS | facts, now=time.time())

    def id_of(self, path: str) -> int:
        """The row of a package."""
        return browse.package(self.store, parse(path)).id

    def phase(self, path: str) -> str:
        """The phase of a package."""
        return browse.package(self.store, parse(path)).phase

    def assign(self, path: str, node: str = "localhost") -> None:
        """ready -> assigned."""
        row = registry.named(self.store, node)
        with self.store.writing():
            decision = Decision(self.id_of(path), row["id"], 0)
            assert placement.assign(self.store, [decision], now=time.time()) == 1

    def launch(self, path: str, node: str = "localhost") -> int:
        """ready -> starting -> running; the attempt."""
        row = registry.named(self.store, node)
        if row["state"] != "up":
            self.up(node)
        self.assign(path, node)
        with self.store.writing():
            launches.launch(self.store, [row["id"]], limit=10, now=time.time())
        attempt = browse.attempts(self.store, self.id_of(path))[-1].id
        self.tell(
            {
                "attempt": attempt,
                "kind": "start",
                "seq": 1,
                "time": time.time(),
                "utc_offset": 0,
                "phase": "running",
            }
        )
        return attempt

    def tell(self, message: Any) -> None:
        """A message arrives."""
        with self.store.writing():
            messages.apply(self.store, [message], now=time.time())

    def end(self, path: str, outcome: str = "successful", **more: Any) -> None:
        """running -> what the end message says; results arrive at once."""
        one = browse.package(self.store, parse(path))
        attempt = browse.attempts(self.store, one.id)[-1].id
        outputs = [
            {"name": file.name, "path": f"/tmp/base/cache/{attempt}/{file.name}", "size": 10,
             "checksum": "sha256:00"}
            for file in browse.outputs(self.store, one.id)
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
            change(self.store, "package", {"phase": "transferring", "id": one.id}, phase="done")
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


def document(text: str) -> Any:
    """The one JSON document of an output."""
    return json.loads(text)
