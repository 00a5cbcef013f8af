"""Real daemons, relays and wrappers, each in a process of its own.

What packages do they note themselves: each script says `ran NAME`, which appends a line to the
record, so that nothing that ran twice goes unnoticed.
"""

import os
import signal
import threading
from collections import Counter
from contextlib import suppress
from pathlib import Path

from d0ctl.daemon.drive import drive
from d0ctl.store.nodes import registry
from d0ctl.store.nodes.holder import process_id
from d0ctl.store.nodes.leases import LEASE, living_holder
from d0ctl.store.nodes.site import site_name
from d0ctl_wrapper.protocol.lease import ELSEWHERE
from tests.support import forks
from tests.support.forks import Process
from tests.support.site.commands import Commands
from tests.support.site.packages import Packages
from tests.support.waiting import PATIENCE_S, Pid, kill_all, wait_until

TASK = "d0ctl_wrapper.attempt.task"
"""What the process of a job of a batch system imports."""


class Daemons(Commands, Packages):
    """The processes that run packages, on the control host and on nodes."""

    daemons = 0
    """How many daemons were started, which `close` has to stop."""

    @property
    def record(self) -> Path:
        """The file in which scripts note that they ran."""
        return self.folder / "record"

    @property
    def gates(self) -> Path:
        """The folder of gates, for which scripts wait."""
        folder = self.folder / "gates"
        folder.mkdir(exist_ok=True)
        return folder

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
        return Counter(self.record.read_text().split() if self.record.exists() else ())

    # what came of it -------------------------------------------------------------------

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

    def wait_phase(self, path: str, *phases: str) -> None:
        """Return once the package is in one of these phases."""
        try:
            self.wait(lambda: self.phase(path) in phases)
        except TimeoutError as error:
            raise TimeoutError(f"{path} is {phases}: {self.phases()}\n{self.log()}") from error

    def base(self, name: str = "localhost") -> Path:
        """The folder of d0ctl on a node, once the node is up."""
        with self.opened(read_only=True) as store:
            return Path(str(registry.named(store, name).base))

    def site_name(self) -> str:
        """The name of the site on its nodes."""
        with self.opened(read_only=True) as store:
            return site_name(store)

    # drivers ---------------------------------------------------------------------------

    def drive(self, job: str, timeout: float = PATIENCE_S) -> None:
        """Drive a job to its end in this process."""
        stop = threading.Event()
        timer = threading.Timer(timeout, stop.set)
        timer.start()
        try:
            drive(self.home, self.id_of(job), lambda counts: None, stop)
        finally:
            timer.cancel()
        assert not stop.is_set(), f"{self.phases()}\n{self.attempts()}"

    def start_driver(self, job: str) -> Process:
        """A process that drives a job to its end."""
        words = [str(self.home.root), str(self.id_of(job))]
        return self.start("tests.support.driving", *words)

    def start_daemon(self) -> Process:
        """A daemon, as `daemon start` starts it, once it works."""
        self.daemons += 1
        daemon = self.begin_daemon()

        def works() -> bool:
            assert daemon.poll() is None, self.log()
            holder = living_holder(store, LEASE)
            return holder is not None and process_id(holder) == daemon.pid

        with self.opened(read_only=True) as store:
            wait_until(works, what="the daemon works")
        return daemon

    def begin_daemon(self) -> Process:
        """A process that would be a daemon."""
        return self.start("d0ctl.__main__", "daemon", "run", log=self.home.logs / "daemon.log")

    def start(self, module: str, *words: str, log: Path | None = None) -> Process:
        """Start a module as a program."""
        with (log or self.folder / "drivers.log").open("ab") as file:
            self.forked.append(forks.start(module, words, self.environment, file.fileno()))
        return self.forked[-1]

    def kill_daemon(self) -> None:
        """End the daemon as a power cut would."""
        rows = self.ask("select holder from lease where name = 'daemon'")
        daemon = Pid.of(int(rows[0][0].split()[1])) if rows else None
        if daemon:
            kill_all([daemon])

    def log(self) -> str:
        """What drivers and daemons said."""
        files = (self.folder / "drivers.log", self.home.logs / "daemon.log")
        return "".join(path.read_text() for path in files if path.exists())

    def crash(self, process: Process) -> None:
        """Kill a driver without a warning."""
        process.kill()
        process.wait()

    def stop(self, process: Process) -> int:
        """Ask a driver to end, and wait for it."""
        process.send_signal(signal.SIGTERM)
        return process.wait(PATIENCE_S)

    # processes on nodes ------------------------------------------------------------------

    def _files(self, name: str) -> list[Path]:
        """The files of a name; folders may go while it looks, which a glob does not survive."""
        return [Path(at, name) for at, _, names in os.walk(self.folder) if name in names]

    def relays(self) -> list[Pid]:
        """The relays that run: those that have the lock of their node."""
        found = []
        for path in self._files("lock"):
            with suppress(OSError, ValueError):
                number, started = path.read_text().split("\n")[0].split()
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
            if (
                words and ELSEWHERE not in words and Pid.of(int(words[0]))
            ):  # a power cut has emptied some
                found[int(path.parent.name)] = int(words[0])
        return found | self._wrappers_of_jobs()

    def _wrappers_of_jobs(self) -> dict[int, int]:
        """The same of attempts with jobs of a batch system, as their command lines say."""
        lines = {pid.number: pid.command_line() for pid in self.processes()}
        tasks = {number: line.split() for number, line in lines.items() if TASK in line}
        return {
            int(words[-2]): number
            for number, words in tasks.items()
            if words[-2].isdigit()  # not those of a shell that starts one
        }

    # the end ----------------------------------------------------------------------------

    def close(self, *, kills: bool = False) -> None:
        """Stop all processes, and see that nothing stays: no daemon, no relay, no wrapper.

        After a failure of the test, and where jobs may still run, all processes are killed.
        """
        try:
            if kills:
                self.kill_processes()
            else:
                self._stop()
            for process in self.forked:
                process.wait(PATIENCE_S)  # it has ended, but its code may not be read yet
        finally:
            self.stack.close()

    def _stop(self) -> None:
        try:
            if self.daemons:
                self.d0ctl("daemon", "stop")
            self.stack.close()
            wait_until(lambda: not self.processes(), what="all processes are gone")
        except TimeoutError:
            answer = [f"{pid.number} {pid.command_line()}" for pid in self.processes()]
            self.kill_processes()
            raise AssertionError(f"left behind: {answer}") from None
        except BaseException:
            self.kill_processes()
            raise


def has_ended(folder: Path) -> bool:
    """Whether an attempt has ended; its wrapper may serve another one now."""
    with suppress(FileNotFoundError):
        return (folder / "end").read_bytes().endswith(b"\n")
    return False
