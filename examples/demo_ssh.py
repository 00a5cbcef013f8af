"""`make demo-ssh`: run the Z production across two nodes reached by ssh.

The nodes are two private sshd on loopback, each with a folder of its own, in a home
of their own. However it ends, daemon and nodes are stopped; the results stay.
"""

import base64
import hashlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.support.sshd import Sshd  # noqa: E402

JOB = ROOT / "examples" / "zpeak" / "job.yaml"
PYTHON = ROOT / ".venv" / "bin" / "python"
D0CTL = PYTHON.with_name("d0ctl")
NODES = ("north", "south")
DATABASE_TROUBLE = 5
PATIENCE_S = 60
"""How long a command may take that nobody waits for."""


class Stopped(Exception):
    """A d0ctl command failed, and has said why; `code` is its exit code."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class Site:
    """d0ctl with its home in `folder`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = os.environ | {"D0CTL_HOME": str(self.home)}

    @property
    def home(self) -> Path:
        """Where database and results lie."""
        return self.folder / "home"

    def d0ctl(self, *words: object) -> None:
        """Show a command as one would type it, then run it."""
        command = [str(word) for word in words]
        print("$ d0ctl", " ".join(command), flush=True)
        code = subprocess.run([D0CTL, *command], env=self.environment).returncode
        if code:
            raise Stopped(code)

    def quietly(self, *words: str) -> str:
        """Run a command that may fail; gives what it prints."""
        command = ["timeout", str(PATIENCE_S), str(D0CTL), *words]
        return subprocess.run(
            command,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ).stdout

    @contextmanager
    def daemon(self) -> Iterator[None]:
        """The agents, in the background; a job that is cut short is killed before they end."""
        self.d0ctl("daemon", "start")
        try:
            yield
        except BaseException:
            # A second ctrl-C would leave the daemon and the nodes behind.
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            self.quietly("kill", "zpeak", "--yes")
            self.quietly("wait", "zpeak")
            raise
        finally:
            self.d0ctl("daemon", "stop")

    def add(self, name: str, sshd: Sshd) -> None:
        """Register a node, with the fingerprint of the host key that we made for it."""
        key = base64.b64decode(sshd.known_hosts_line.split()[2])
        digest = base64.b64encode(hashlib.sha256(key).digest()).decode().rstrip("=")
        words = ["node", "add", name, sshd.destination, "--identity", sshd.identity]
        words += [
            "--accept-key",
            f"SHA256:{digest}",
            "--dir",
            self.folder / name / "work",
            "--same-machine",
        ]
        self.d0ctl(*words, "--cpus", 1)


def fresh_site(name: str = "ssh") -> Site:
    """A site in a folder of .demo, or in a passing one where that is on a network file system."""
    site = Site(ROOT / ".demo" / name)
    if site.home.exists():
        site.quietly("daemon", "stop")
        shutil.rmtree(site.folder)
    site.folder.mkdir(parents=True, exist_ok=True)
    try:
        site.d0ctl("node", "drain", "localhost")
    except Stopped as stopped:
        if stopped.code != DATABASE_TROUBLE:
            raise
        site = Site(Path(tempfile.mkdtemp(prefix="d0ctl-demo-ssh.")))
        site.d0ctl("node", "drain", "localhost")
    return site


def produce() -> Site:
    """Run the production across the nodes; gives the site, its nodes gone, its results there."""
    site = fresh_site()
    with ExitStack() as stack:
        for name in NODES:
            site.add(name, stack.enter_context(Sshd(site.folder / name)))
        with site.daemon():
            site.d0ctl("submit", JOB, "--set", f"python={PYTHON}")
            site.d0ctl("wait", "zpeak")
            site.d0ctl("status", "zpeak")
    return site


def finish(produce: Callable[[], Site]) -> int:
    """Produce, then show the peak and who did the work; return the exit code."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        site = produce()
    except Stopped as stopped:
        return stopped.code
    except KeyboardInterrupt:
        return 130
    packages = json.loads(site.quietly("status", "zpeak/*/*/*", "--json"))["packages"]
    results = site.home / "results" / "zpeak"
    print("\n" + (results / "peak.txt").read_text())
    for node, count in sorted(Counter(package["node"] for package in packages).items()):
        print(f"{node} ran {count} packages")
    print(f"The results are in {results}")
    return 0


if __name__ == "__main__":
    sys.exit(finish(produce))
