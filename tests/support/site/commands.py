"""The program as a user types it, in a clean account, on nodes behind real sshds."""

import _thread
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from d0ctl.cli.app import app
from tests.support import printed
from tests.support.openssh import find_client
from tests.support.openssh import fingerprint as fingerprint
from tests.support.site.machines import Machines
from tests.support.sshd import Sshd
from tests.support.waiting import PATIENCE_S, wait_until

D0CTL = Path(sys.executable).with_name("d0ctl")
EXAMPLES = Path(__file__).resolve().parents[3] / "examples"

KEPT = ("LD_LIBRARY_PATH", "PYTHONPATH")
"""What of our own environment the program may need to be found at all."""


@dataclass(frozen=True, slots=True)
class Done:
    """A command that has ended: its exit code, data and talk."""

    code: int
    out: str
    err: str

    def __str__(self) -> str:
        return f"exit {self.code}\n{self.out}\n{self.err}"


class Commands(Machines):
    """A user of d0ctl: an account, commands, and what they answer."""

    def make_account(self) -> None:
        """Make the folders of the user."""
        self.variables: dict[str, str] = {}
        for name in ("user", "tmp", "jobs"):
            (self.folder / name).mkdir(parents=True)
        self.ssh_config.touch()

    @property
    def ssh_config(self) -> Path:
        """The user's ssh_config, empty at first."""
        return self.folder / "ssh_config"

    @property
    def jobs(self) -> Path:
        """Where job files lie."""
        return self.folder / "jobs"

    @property
    def environment(self) -> dict[str, str]:
        """The environment after a login."""
        places = [str(find_client().parent), os.environ.get("PATH", os.defpath)]
        kept = {name: os.environ[name] for name in KEPT if name in os.environ}
        return kept | {
            "D0CTL_HOME": str(self.home.root),
            "D0CTL_SSH_CONFIG": str(self.ssh_config),
            "HOME": str(self.folder / "user"),
            "LANG": "C.UTF-8",
            "PATH": ":".join(places),
            "SHELL": "/bin/sh",
            "TERM": "xterm",
            "TMPDIR": str(self.folder / "tmp"),
            "USER": "emmy",
            **self.variables,
        }

    def d0ctl(self, *words: object) -> Done:
        """Type a command, not at a terminal, and wait for its end.

        It runs in this process, because the start of a python is most of what it costs; what is
        interrupted, killed or seen on a terminal is started as a program by its test.
        """
        texts = [str(word) for word in words]
        with self.at_home(), self.interrupted_at_last():
            result = CliRunner().invoke(app, texts, prog_name="d0ctl")
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Done(result.exit_code, result.stdout, result.stderr)

    @contextmanager
    def interrupted_at_last(self) -> Iterator[None]:
        """Press Ctrl-C after long, so that a run that never ends fails its test and no more."""
        timer = threading.Timer(PATIENCE_S, _thread.interrupt_main)
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def d0ctl_bytes(self, *words: object) -> "subprocess.CompletedProcess[bytes]":
        """Start the program with a command whose output may be no text."""
        return subprocess.run(
            [str(D0CTL), *map(str, words)],
            cwd=self.jobs,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE_S,
        )

    def ok(self, *words: object) -> str:
        """Type a command that must succeed; what it prints."""
        done = self.d0ctl(*words)
        assert done.code == 0, f"d0ctl {' '.join(map(str, words))}: {done}"
        printed.check([str(word) for word in words], done.out)
        return done.out

    @contextmanager
    def at_home(self) -> Iterator[None]:
        """Have the user's environment, folders and nothing else in this process."""
        with pytest.MonkeyPatch.context() as patch:
            for name in os.environ.keys() - self.environment.keys():
                patch.delenv(name)
            for name, value in self.environment.items():
                patch.setenv(name, value)
            patch.setattr(tempfile, "tempdir", None)
            patch.chdir(self.jobs)
            yield

    def json(self, *words: object) -> Any:
        """The document that a reading verb prints."""
        return json.loads(self.ok(*words, "--json"))

    def write(self, text: str, name: str = "job.yaml") -> Path:
        """A job file."""
        path = self.jobs / name
        path.write_text(text)
        return path

    def package(self, path: str) -> Any:
        """All about a package."""
        return self.json("status", path)

    def look(self) -> dict[str, int]:
        """How many packages are in each phase; dozens of times cheaper than a command."""
        return dict(self.ask("select phase, count(*) from package group by phase"))

    def ask(self, query: str, *words: object) -> list[Any]:
        """What another program reads in the database."""
        with self.opened(read_only=True) as store:
            return [tuple(row) for row in store.connection.execute(query, words)]

    def wait(self, condition: Callable[[], object], what: str = "") -> None:
        """Return once it is so, in the database that it reads."""
        with self.reading():
            wait_until(condition, PATIENCE_S, what)

    def add(self, name: str, sshd: Sshd | None = None, *more: object, cpus: int = 2) -> str:
        """Make an sshd, by default a new one, a node; what is said of it."""
        sshd = sshd or self.start_sshd(name)
        words = [
            "--identity",
            sshd.identity,
            "--accept-key",
            fingerprint(sshd),
            "--cpus",
            cpus,
        ]
        return self.ok("node", "add", name, sshd.destination, "--same-machine", *words, *more)

    def alone(self) -> None:
        """Let this machine take nothing, so that the nodes do."""
        self.ok("node", "drain", "localhost")

    def listed_node(self, name: str) -> Any:
        """A node as the list has it."""
        nodes = self.json("node", "list")["nodes"]
        return next(node for node in nodes if node["node"] == name)

    def wait_node(self, name: str, state: str) -> None:
        """Return once the node is up, or down."""
        query = "select state from node where name = ?"
        self.wait(lambda: self.ask(query, name) == [(state,)], f"{name} is {state}")


def end_process(process: "subprocess.Popen[bytes]") -> None:
    """End a process that a failed test has left."""
    if process.poll() is None:
        process.send_signal(signal.SIGKILL)
    process.wait()
