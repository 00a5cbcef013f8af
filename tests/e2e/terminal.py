"""A terminal with a program at it, for what d0ctl does only where a person looks."""

import os
import pty
import re
import select
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.support.site import Site
from tests.support.site.commands import D0CTL, Done, end_process
from tests.support.waiting import PATIENCE_S, wait_until

CTRL_C = "\x03"


class Terminal:
    """A pseudo-terminal and the d0ctl command that was typed at it."""

    def __init__(self, site: Site, *words: object) -> None:
        setsid = shutil.which("setsid")
        assert setsid, "setsid is part of util-linux"
        self.descriptor, theirs = pty.openpty()
        self.process = subprocess.Popen(
            [setsid, "--ctty", str(D0CTL), *map(str, words)],
            cwd=site.jobs,
            env=site.environment,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
        )
        os.close(theirs)
        self.seen = b""

    @property
    def text(self) -> str:
        """What has come so far."""
        while select.select([self.descriptor], [], [], 0)[0]:
            try:
                data = os.read(self.descriptor, 65536)
            except OSError:  # the last one at the other end has gone
                break
            if not data:
                break
            self.seen += data
        return self.seen.decode(errors="surrogateescape")

    def expect(self, text: str) -> None:
        """Return once this has come."""
        try:
            wait_until(lambda: text in self.text)
        except TimeoutError:
            raise TimeoutError(f"`{text}` did not come, but: {self.text}") from None

    def type(self, text: str) -> None:
        """Press keys."""
        os.write(self.descriptor, text.encode())

    def end(self) -> int:
        """Wait for the program's end; its exit code."""
        wait_until(
            lambda: self.text is not None and self.process.poll() is not None,
            PATIENCE_S,
            "the program ends",
        )
        return self.process.wait()


@contextmanager
def terminal(site: Site, *words: object) -> Iterator[Terminal]:
    """Type a d0ctl command at a terminal."""
    one = Terminal(site, *words)
    try:
        yield one
    finally:
        end_process(one.process)
        os.close(one.descriptor)


QUOTED = re.compile("'[^']*'")

PLAIN = re.compile(r"d0ctl (?!daemon |serve)[\w./:=@,+% -]*")
"""A command without what its quotes hold, in which a shell would do no more than find words."""


def in_shell(site: Site, command: str, folder: Path | None = None) -> Done:
    """Type a line in a shell, as a reader of the docs would; in the folder of jobs by default.

    What is no more than a command of d0ctl runs in this process, which saves most of its cost.
    """
    if folder is None and PLAIN.fullmatch(QUOTED.sub("", command)):
        return site.d0ctl(*shlex.split(command)[1:])
    site.daemons += command == "d0ctl daemon start"
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder or site.jobs,
        env=site.environment | {"PATH": f"{D0CTL.parent}:{site.environment['PATH']}"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
    )
    return Done(done.returncode, done.stdout, done.stderr)
