"""The site on which a schedule is played: homes and nodes on small disks, daemons that die."""

import os
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from d0ctl.model import Address
from d0ctl.store import open_store
from d0ctl.store.nodes import leases, registry
from d0ctl.store.nodes.holder import process_id
from tests.chaos import work
from tests.chaos.disk import Disk
from tests.chaos.orders import Orders
from tests.chaos.plan import SLURM, Schedule
from tests.support.homes import make_home
from tests.support.rows import change
from tests.support.site import Site
from tests.support.site.daemons import has_ended
from tests.support.slurm import Slurm
from tests.support.waiting import Pid, kill_all, wait_until

NODE = Path(__file__).with_name("node.py")
BOOT = Path("/proc/sys/kernel/random/boot_id")

IMPATIENT = "defaults: {lease: 1s, unreachable-after: 2s}\n"
"""The site file of a schedule that puts a node out of contact beyond the lease."""

AGENTS = "defaults: {{task-agents: {}}}\n"
"""The site file of a schedule whose agents work on a task."""

BATCH = """\
clusters:
  batch:
    {{kind: slurm, cpus: 2, memory: 200MB, poll: 1s, idle: 1s, max-running: 3, submit-rate: 1000,
    mode: {}, dir: {}}}
"""
"""The site file of a schedule with a Slurm."""

CALL_S = 60.0
"""How long a command may take."""


class Field(Site):
    """A site with all that can go wrong; `close` leaves no process, mount or file open."""

    def __init__(self, folder: Path, schedule: Schedule) -> None:
        self.plan = schedule
        self.orders = Orders(folder / "orders")
        home = folder / "home"
        self.disks = {"home": Disk(home, "40m"), "drop-box": Disk(home / "dropbox", "8m")}
        super().__init__(folder)
        make_home(self.home.root)
        self.journal = work.Journal(folder / "journal")
        for name in ("locks", work.STORED):
            (folder / name).mkdir()
        self.is_plain = True
        self.pilot: Pid | None = None
        self.spoiled: list[str] = []
        self._undone: list[tuple[float, Callable[[], object]]] = []
        self.engine: Slurm | None = None
        self.requests: list[str] = []
        self._make_nodes()

    # the site ----------------------------------------------------------------------------

    def _make_nodes(self) -> None:
        self._make_python("localhost")
        for name in sorted({*self.plan.nodes} - {"localhost", SLURM}):
            self.disks[name] = Disk(self.folder / name / "work", "24m")
            self._make_python(name)
            self._add_node(name)
        if "localhost" not in self.plan.nodes:
            with open_store(self.home) as store, store.writing():
                change(store, "node", {"name": "localhost"}, drained=1)
        if self.plan.is_impatient:
            self._apply(IMPATIENT)
        if self.plan.has_slurm:
            self._start_slurm()
        if self.plan.agents:
            self._apply(AGENTS.format(self.plan.agents))

    def _start_slurm(self) -> None:
        """Start a Slurm beside this folder, as its daemons are not ours to kill or to miss."""
        folder = self.stack.enter_context(tempfile.TemporaryDirectory(prefix="d0ctl-slurm-"))
        self.engine = self.stack.enter_context(Slurm(Path(folder)))
        self.variables = self.engine.variables
        mode = "direct" if self.plan.is_direct else "pilot"
        self._apply(BATCH.format(mode, self.folder / "pilots"))

    def _apply(self, site: str) -> None:
        self.home.site_file.write_text(site)
        self.call("site", "apply", str(self.home.site_file), "--yes")

    def _add_node(self, name: str) -> None:
        """Add a node behind an sshd of its own, whose python lays traps."""
        sshd = self.start_sshd(name)
        with self.home.known_hosts.open("a") as known:
            known.write(sshd.known_hosts_line)
        folder = self.folder / name
        address = Address(
            name, "ssh", sshd.destination, str(sshd.identity), str(folder / "work"),
            python=str(folder / "python"),
        )  # fmt: skip
        with open_store(self.home) as store:
            registry.add(store, address, cpus=2)

    def _make_python(self, name: str) -> None:
        folder = self.folder / name
        folder.mkdir(exist_ok=True)
        (folder / "boot").write_text(BOOT.read_text())
        words = [sys.executable, "-I", "-S", NODE, self.orders.folder, folder / "boot"]
        text = shlex.join(map(str, words))
        (folder / "python").write_text(f'#!/bin/sh\nexec {text} "$@"\n')
        (folder / "python").chmod(0o755)

    def boot(self, name: str) -> None:
        """Give a node a boot id that it never had; a plain daemon would see the true one here."""
        self.is_plain = self.is_plain and name != "localhost"
        (self.folder / name / "boot").write_text(f"{os.urandom(16).hex()}\n")

    def base_of(self, name: str) -> Path:
        """Where all of a node lies, also before it was ever reached."""
        top = self.home.nodes if name == "localhost" else self.folder / name / "work"
        return top / self.site_name() / name

    # what runs ---------------------------------------------------------------------------

    def of_node(self, name: str) -> list[Pid]:
        """Relay, wrappers and binaries of a node."""
        mark = os.fsencode(f"{self.base_of(name)}/")
        found = []
        for pid in self.processes():
            with suppress(OSError):
                folder = Path(f"/proc/{pid.number}")
                words = (folder / "cmdline").read_bytes() + (folder / "environ").read_bytes()
                if mark in words + b"/" and pid != self.pilot:
                    found.append(pid)
        return found

    def relay(self, name: str) -> Pid | None:
        """The relay that has the lock of a node."""
        with suppress(OSError, ValueError):
            number, started = (self.base_of(name) / "lock").read_text().split()[:2]
            pid = Pid.of(int(number))
            return pid if pid and pid.started == started else None
        return None

    def wrappers_of(self, name: str) -> list[Pid]:
        """The wrappers of a node that run an attempt."""
        found = []
        for path in sorted(self.base_of(name).glob("attempts/*/wrapper")):
            with suppress(OSError, ValueError, IndexError):
                number, started = path.read_text().split()[:2]
                pid = Pid.of(int(number))
                if pid and pid.started == started and not has_ended(path.parent):
                    found.append(pid)
        return found

    def start_pilot(self, plainly: bool = False) -> None:
        """Start a daemon; plainly as a user does, who has no traps and long waits."""
        if plainly and self.is_plain:
            self.call("daemon", "start")
            with open_store(self.home, read_only=True) as store:
                holder = leases.living_holder(store, "daemon")
            self.pilot = Pid.of(process_id(holder)) if holder else None
            return
        self.pilot = self._run_driver("daemon", "daemon", "run")

    def second_driver(self) -> Pid:
        """Start `run JOB` without traps: it drives the job whenever no daemon does."""
        second = self._run_driver("second", "run", work.JOB)
        assert second, self.log()
        return second

    def _run_driver(self, role: str, *words: str) -> Pid | None:
        started = self.start("tests.chaos.process", *self._words(role), *words)
        return Pid.of(started.pid)

    def _words(self, role: str) -> list[str]:
        python = self.folder / "localhost" / "python"
        return [str(self.orders.folder), role, str(python), "--home", str(self.home.root)]

    def kill_daemon(self) -> None:
        """End the daemon as a power cut would."""
        if self.pilot:
            kill_all([self.pilot])

    def stop_daemon(self) -> None:
        """Ask the daemon to end, and wait until it has."""
        if self.pilot:
            self.pilot.kill(signal.SIGTERM)
            pilot = self.pilot
            wait_until(lambda: not pilot.lives(), 30, "the daemon ends")

    def call(self, *words: str, lasts: float | None = None) -> int:
        """Type a command, perhaps killed after so many seconds; its exit code."""
        command = [sys.executable, "-m", "tests.chaos.process", *self._words("call"), *words]
        with (self.folder / "drivers.log").open("ab") as log:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env=os.environ | self.variables,
            )  # fmt: skip
        until = time.monotonic() + (CALL_S if lasts is None else lasts)
        while time.monotonic() < until:
            with suppress(subprocess.TimeoutExpired):
                return process.wait(min(0.1, max(0.0, until - time.monotonic())))
            if lasts is None:
                self.undo()  # it may wait for a process that is asleep
        process.send_signal(signal.SIGKILL)
        assert lasts is not None, f"{words} took more than {CALL_S:g} s"
        return process.wait()

    # what is undone ----------------------------------------------------------------------

    def later(self, seconds: float, action: Callable[[], object]) -> None:
        """Do something then, as far as the run goes on until then; at its end at the latest."""
        self._undone.append((time.monotonic() + seconds, action))

    def undo(self, everything: bool = False) -> bool:
        """Do what is due; whether all is done."""
        now = time.monotonic()
        while due := next((at for at in self._undone if everything or at[0] <= now), None):
            self._undone.remove(due)
            due[1]()  # a command, perhaps, which undoes others while it waits
        return not self._undone

    def close(self, *, kills: bool = True) -> None:
        """End everything, and give the disks back."""
        try:
            self.undo(everything=True)
        finally:
            super().close(kills=kills)
            for disk in reversed(self.disks.values()):
                disk.remove()

    def wait_gone(self) -> list[Pid]:
        """The processes that are left some seconds after the daemon."""
        with suppress(TimeoutError):
            wait_until(lambda: not self._left(), 15)
        return self._left()

    def _left(self) -> list[Pid]:
        servers = {one.pid for one in self.sshds.values() if one.process}
        return [
            pid for pid in self.processes() if pid.number not in servers and not _is_of_slurm(pid)
        ]


def _is_of_slurm(pid: Pid) -> bool:
    """Whether a process is a batch script: a killed controller may forget it, and ends it later."""
    parent = Pid.of(pid.parent)
    return parent is not None and "slurmstepd" in parent.command_line()
