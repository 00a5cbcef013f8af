"""A site at work, as a user has it: a home, nodes, drivers in processes of their own.

What the packages do they note themselves: each script says `ran NAME`, which appends a line
to the record, so that nothing that ran twice goes unnoticed.
"""

import os
import signal
import threading
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

from d0ctl.daemon.drive import drive
from d0ctl.jobfile.spec import JobSpec
from d0ctl.model import Address
from d0ctl.store import open_store
from d0ctl.store.jobs.submission.submit import submit
from d0ctl.store.nodes import leases, registry
from tests.support import forks
from tests.support.forks import Process
from tests.support.homes import equip_nodes, faults, make_home
from tests.support.jobs import phases
from tests.support.machines import PATIENCE_S, Machines
from tests.support.rows import read, value
from tests.support.sshd import Sshd
from tests.support.waiting import Pid, wait_until


class Session(Machines):
    """Everything of one test, under `folder`; `close` leaves no process."""

    has_wrappers = True
    """Whether its nodes have the wrapper before they are first reached."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.home = make_home(folder / "home")
        if self.has_wrappers:
            equip_nodes(self.home)
        self.record = folder / "record"
        self.record.touch()
        self.gates = folder / "gates"
        self.gates.mkdir()

    # scripts ---------------------------------------------------------------------------

    def ran(self, name: str, *more: str) -> str:
        """A script that notes that it ran, waits for its gate if it has one, and does more."""
        note = f"echo {name} >> {self.record}"
        return "\n".join([note, f"echo $$ > {self.gates}/{name}.pid", *more])

    def gate(self, name: str) -> str:
        """A command that waits until the test opens the gate of that name."""
        return f"until test -e {self.gates}/{name}; do sleep 0.05; done"

    def open(self, name: str) -> None:
        """Open a gate."""
        (self.gates / name).touch()

    def runs(self) -> Counter[str]:
        """How often each script ran."""
        return Counter(self.record.read_text().split())

    # the store -------------------------------------------------------------------------

    def submit(self, spec: JobSpec) -> int:
        """Submit a job; its id."""
        with open_store(self.home) as store:
            name = submit(store, spec, now=1.0, actor="tester")
            return int(value(store, "job", "id", name=name))

    def phases(self) -> dict[str, str]:
        """The phase of every package."""
        with open_store(self.home, read_only=True) as store:
            return phases(store)

    def wait_for(self, timeout: float = PATIENCE_S, **wanted: str) -> None:
        """Wait until packages, by `a_1_1_1` for `a/1/1/1`, are in these phases."""
        paths = {path.replace("_", "/"): phase for path, phase in wanted.items()}

        def reached() -> bool:
            now = phases(store)
            return all(now[path] == phase for path, phase in paths.items())

        try:
            with open_store(self.home, read_only=True) as store:
                wait_until(reached, timeout)
        except TimeoutError as error:
            raise TimeoutError(f"{wanted}, but {self.phases()}\n{self.log()}") from error

    def attempts(self) -> list[tuple[str, str, str | None]]:
        """Node, outcome and reason of all attempts, in their order."""
        with open_store(self.home, read_only=True) as store:
            return read(store, "attempt", "node_name", "outcome", "reason")

    def faults(self) -> dict[str, list[tuple[str, str]]]:
        """What is wrong with the database."""
        with open_store(self.home) as store:
            return faults(store)

    def result(self, path: str) -> str:
        """The text of a file in results/."""
        return (self.home.results / path).read_text()

    def rejected(self) -> dict[str, str]:
        """What was put aside in the drop-box: the reason, by the file's name."""
        folder = self.home.dropbox / "rejected"
        return {
            path.name.removesuffix(".reason"): path.read_text().strip()
            for path in folder.glob("*.reason")
        }

    # nodes -----------------------------------------------------------------------------

    def add(self, name: str, *, cpus: int = 2, **options: Any) -> Sshd:
        """A node behind an sshd of its own, with folders of its own."""
        sshd = self.start_sshd(name, **options)
        self.trust(sshd)
        with open_store(self.home) as store:
            registry.add(store, self.address(name, sshd), cpus=cpus)
        if self.has_wrappers:
            equip_nodes(self.home, name, self.folder / name / "work")
        return sshd

    def trust(self, sshd: Sshd) -> None:
        """Accept the host key of an sshd."""
        with self.home.known_hosts.open("a") as known:
            known.write(sshd.known_hosts_line)

    def address(self, name: str, sshd: Sshd) -> Address:
        """How a node is reached."""
        work = str(self.folder / name / "work")
        return Address(name, "ssh", sshd.destination, str(sshd.identity), work)

    def drain(self, name: str = "localhost") -> None:
        """Let a node take no package."""
        with open_store(self.home) as store, store.writing():
            store.change("drain_node", node=registry.named(store, name)["id"], note="test", now=0.0)

    def node(self, name: str) -> dict[str, object]:
        """What the store knows of a node."""
        with open_store(self.home, read_only=True) as store:
            return dict(registry.named(store, name))

    def base(self, name: str = "localhost") -> Path:
        """Where a node keeps what is ours."""
        return Path(str(self.node(name)["base"]))

    def site(self) -> str:
        """What the site is called on its nodes."""
        with open_store(self.home, read_only=True) as store:
            return str(store.value("site"))

    # drivers ---------------------------------------------------------------------------

    def drive(self, job: int, timeout: float = 40.0) -> None:
        """Drive a job to its end in this process."""
        stop = threading.Event()
        timer = threading.Timer(timeout, stop.set)
        timer.start()
        try:
            drive(self.home, job, lambda counts: None, stop)
        finally:
            timer.cancel()
        assert not stop.is_set(), f"{self.phases()}\n{self.attempts()}"

    def driver(self, job: int) -> Process:
        """A process that drives a job to its end."""
        return self._start("tests.support.driving", str(self.home.root), str(job))

    def daemon(self) -> Process:
        """A daemon in the foreground of its own process, once it holds its lease."""
        process = self.begin_daemon()

        def holds() -> bool:
            assert process.poll() is None, self.log()
            found = leases.living_holder(store, "daemon")
            return found is not None and int(found.split()[1]) == process.pid

        with open_store(self.home, read_only=True) as store:
            wait_until(holds, 20, "the daemon holds its lease")
        return process

    def begin_daemon(self) -> Process:
        """A process that would be a daemon."""
        return self._start("d0ctl.__main__", "--home", str(self.home.root), "daemon", "run")

    def _start(self, module: str, *words: str) -> Process:
        with (self.folder / "drivers.log").open("ab") as log:
            self.forked.append(forks.start(module, words, os.environ, log.fileno()))
        return self.forked[-1]

    def log(self) -> str:
        """What drivers and daemon said."""
        files = (self.folder / "drivers.log", self.home.logs / "daemon.log")
        return "".join(path.read_text() for path in files if path.exists())

    def crash(self, process: Process) -> None:
        """Kill a driver without a warning."""
        process.kill()
        process.wait()

    def end(self, process: Process) -> int:
        """Ask a driver to end, and wait for it."""
        process.send_signal(signal.SIGTERM)
        return process.wait(20)

    # processes on nodes ------------------------------------------------------------------

    def _files(self, name: str) -> list[Path]:
        """The files of a name; folders may go while it looks, which a glob does not survive."""
        return [Path(at, name) for at, _, names in os.walk(self.folder) if name in names]

    def relays(self) -> list[Pid]:
        """The relays that run: those that have the lock of their node."""
        found = []
        for path in self._files("lock"):
            with suppress(OSError, ValueError):
                number, started = path.read_text().split()
                pid = Pid.of(int(number))
                if pid and pid.started == started:
                    found.append(pid)
        return found

    def wrappers(self) -> dict[int, int]:
        """The pid of the wrapper of each attempt that runs."""
        found = {}
        for path in self._files("wrapper"):
            if path.parent.parent.name != "attempts":
                continue
            words = path.read_text().split()
            if has_ended(path.parent):
                continue
            if words and Pid.of(int(words[0])):  # a power cut has emptied some
                found[int(path.parent.name)] = int(words[0])
        return found

    def close(self) -> None:
        """End everything, and see that nothing is left."""
        for process in self.forked:
            if process.poll() is None:
                process.kill()
            process.wait()
        self.stack.close()
        self.kill_processes()


def has_ended(folder: Path) -> bool:
    """Whether an attempt has ended; its wrapper may serve another one now."""
    with suppress(FileNotFoundError):
        return (folder / "end").read_bytes().endswith(b"\n")
    return False
