"""Homes, nodes and jobs to measure with; all of it in passing folders and on loopback."""

import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from d0ctl.config import Home
from d0ctl.jobfile.spec import (
    Acquire,
    BinarySpec,
    InputSpec,
    JobSpec,
    LineSpec,
    OutputSpec,
    PackageSpec,
    StageSpec,
)
from d0ctl.nodes.transports.transport import Address
from d0ctl.store import Store, open_store
from d0ctl.store.nodes import registry
from tests.bench.measure import D0CTL
from tests.support.sshd import Sshd
from tests.support.waiting import wait_until

SETTLED_WITHIN_S = 600.0


@dataclass(frozen=True, slots=True)
class Plain:
    """Lines of one package each; with two files each, a constant one in and one out."""

    count: int
    files: bool = False

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[LineSpec]:
        inputs = (InputSpec("/etc/hostname", made=False, acquire=Acquire.NONE),)
        for number in range(1, self.count + 1):
            outputs = (OutputSpec(f"out{number}"),)
            binary = BinarySpec(
                name="true",
                argv=("true", str(number)),
                inputs=inputs if self.files else (),
                outputs=outputs if self.files else (),
            )
            yield LineSpec(str(number), (PackageSpec("true", (binary,)),))


@dataclass(frozen=True, slots=True)
class Chained:
    """Lines of one package each, that reads what the former stage made."""

    count: int

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[LineSpec]:
        for number in range(1, self.count + 1):
            binary = BinarySpec("true", argv=("true",), inputs=(InputSpec(f"out{number}"),))
            yield LineSpec(str(number), (PackageSpec("true", (binary,)),))


def job(
    count: int, *, files: bool = False, successors: bool = False, name: str = "bench"
) -> JobSpec:
    """A job of `count` packages, and as many again if each has a successor."""
    stages = [StageSpec("make", Plain(count, files or successors))]
    if successors:
        stages.append(StageSpec("use", Chained(count)))
    return JobSpec(
        name=name,
        named=True,
        title="",
        originator="bench",
        priority=50,
        hold=False,
        parameters={},
        policy={},
        directory="/tmp",
        source="bench.yaml",
        stages=tuple(stages),
        packages=count * len(stages),
    )


@contextmanager
def passing_home() -> Iterator[Home]:
    """A home with a database in it, gone at the end."""
    with tempfile.TemporaryDirectory(prefix="d0ctl-bench-") as folder:
        home = Home(Path(folder) / "home")
        open_store(home, create=True).close()
        yield home


@contextmanager
def ssh_nodes(home: Home, count: int, *, cpus: int) -> Iterator[list[Sshd]]:
    """So many nodes, each behind an sshd of its own."""
    with ExitStack() as stack:
        sshds = []
        for number in range(count):
            sshd = stack.enter_context(Sshd(home.root.parent / f"node{number}"))
            sshds.append(sshd)
            with home.known_hosts.open("a") as known:
                known.write(sshd.known_hosts_line)
            address = Address(
                name=f"node{number}",
                kind="ssh",
                destination=sshd.destination,
                identity=str(sshd.identity),
                directory=str(sshd.folder / "work"),
            )
            with open_store(home) as store:
                registry.add(store, address, cpus=cpus)
        yield sshds


@contextmanager
def daemon(home: Home, up: int, around: Mapping[str, str] | None = None) -> Iterator[int]:
    """The process id of a new daemon, with this number of nodes up; `around` is its environment."""
    process = subprocess.Popen(
        [*D0CTL, "--home", str(home.root), "daemon", "run"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        cwd="/",
        env=around,
    )
    try:
        with open_store(home) as store:
            patience = 60.0 + up  # 200 nodes took 25 s on two busy cores
            wait_until(
                lambda: nodes_up(store) >= up or process.poll() is not None, patience, "nodes"
            )
        yield process.pid
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


def nodes_up(store: Store) -> int:
    """How many nodes answer."""
    return sum(row["state"] == "up" for row in store.rows("nodes"))


def counts(store: Store, job_id: int = 1) -> dict[str, int]:
    """How many packages of a job are in each phase."""
    return {row["phase"]: row["n"] for row in store.rows("job_counts", job=job_id)}


def wait_done(store: Store, count: int, job_id: int = 1) -> None:
    """Return when so many packages are done. Raises TimeoutError."""
    wait_until(
        lambda: counts(store, job_id).get("done", 0) >= count, SETTLED_WITHIN_S, "all are done"
    )


def d0ctl(home: Home, *words: object) -> list[str]:
    """The command line of a d0ctl process."""
    return [*D0CTL, "--home", str(home.root), *map(str, words)]


def job_file(folder: Path, count: int) -> Path:
    """A job file with this number of packages of `true`."""
    path = folder / "bench.yaml"
    path.write_text(
        "job: bench\nstages:\n  - name: a\n    lines:\n"
        f"      - for: {{i: {{range: [1, {count}]}}}}\n        run: ['true']\n"
    )
    return path
