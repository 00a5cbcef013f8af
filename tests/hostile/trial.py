"""A site with a hostile node, an honest one and a daemon; what attacks do to it, in figures."""

import shlex
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tests.hostile import relay
from tests.support.homes import make_home
from tests.support.site import Site
from tests.support.site.commands import Done
from tests.support.waiting import wait_until

HONEST = 4
"""How many packages of each trial run on the honest node."""

JOB = """\
job: {name}
stages:
  - name: hostile
    lines:
      - packages: [{{nodes: [evil], run: "true > o.txt", outputs: o.txt}}]
  - name: honest
    lines:
      - for: {{n: {{range: [1, {count}]}}}}
        packages:
          - {{nodes: [good], run: "sleep 0.3; echo {{n}} > {{n}}.txt", outputs: "{{n}}.txt"}}
"""

VERBS = (
    ("status", "{job}"),
    ("status", "{job}/1/1/1"),
    ("status", "{job}/1/1/1", "--json"),
    ("why", "{job}/1/1/1"),
    ("history", "{job}/1/1/1"),
)
"""What people ask about a job."""

CPUS = 64
"""How many packages may run on the hostile node at once: those of former trials stay there."""

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Figures:
    """What an attack has cost: bytes, and how the package of the hostile node stands."""

    attack: str
    phase: str
    outcome: str
    disk_before: int
    disk_most: int
    disk: int
    peak: int
    database_before: int
    database: int


class Field:
    """The site, and how its daemon is weighed."""

    def __init__(self, site: Site) -> None:
        self.site = site
        self.daemon = 0
        self.most_disk = 0

    def begin(self) -> None:
        """Make the nodes, and start the daemon."""
        site = self.site
        site.add("good", cpus=2)
        self.add_hostile("evil")
        site.alone()
        site.ok("site", "apply", site.write("bad-nodes: {failures: no}\n", "site.yaml"), "--yes")
        self.daemon = site.start_daemon().pid
        site.wait_node("good", "up")
        site.wait_node("evil", "up")

    def add_hostile(self, name: str) -> None:
        """Add a node that has the hostile relay in place of its python."""
        folder = self.site.folder / f"{name}-files"
        folder.mkdir()
        folder.joinpath("zero").symlink_to("/dev/zero")
        python = folder / "python3"
        command = shlex.join([sys.executable, str(ROOT / "tests" / "hostile" / "relay.py")])
        python.write_text(f"#!/bin/sh\nexport HOSTILE_FOLDER={folder}\nexec {command}\n")
        python.chmod(0o755)
        self.site.add(name, None, "--python", python, cpus=CPUS)

    def trial(self, attack: str) -> Figures:
        """Have one attack made while honest packages run, and wait until both are over."""
        return self._weigh(attack, lambda: None, lambda: self.is_over(attack))

    def endless(self) -> Figures:
        """Add a node whose relay never ends its hello, and wait until it is given up."""
        name = relay.ENDLESS
        query = "select 1 from node where name = ? and state = 'down'"
        return self._weigh(
            name, lambda: self.add_hostile(name), lambda: self.site.ask(query, name) != []
        )

    def _weigh(
        self, attack: str, prepare: Callable[[], object], is_over: Callable[[], bool]
    ) -> Figures:
        self.forget_peak()
        disk, database = self.disk(), self.database()
        self.most_disk = disk
        prepare()
        self.site.submit(JOB.format(name=attack, count=HONEST))
        self.wait_honest(attack)
        wait_until(is_over, what=f"{attack} is over")
        phase, outcome = self.outcome(attack)
        left = self.disk()
        most = max(self.most_disk, left)
        return Figures(
            attack, phase, outcome, disk, most, left, self.peak(), database, self.database()
        )

    def wait_honest(self, job: str) -> None:
        """Return once the packages of the honest node have ended, all of them well."""
        query = (
            "select count(*) from job join stage on stage.job_id = job.id"
            "  join line on line.stage_id = stage.id join package on package.line_id = line.id"
            " where job.name = ? and stage.seq = 2 and package.phase = 'done'"
        )
        is_done = lambda: self.site.ask(query, job) == [(HONEST,)]  # noqa: E731
        wait_until(is_done, what=f"the honest packages of {job} are done")

    def honest_attempts(self, job: str) -> list[tuple[str]]:
        """How each attempt of the honest node has ended."""
        query = (
            "select attempt.outcome from job join stage on stage.job_id = job.id"
            "  join line on line.stage_id = stage.id join package on package.line_id = line.id"
            "  join attempt on attempt.package_id = package.id"
            " where job.name = ? and stage.seq = 2"
        )
        return self.site.ask(query, job)

    def is_over(self, attack: str) -> bool:
        """Whether the hostile node has done its worst, and all of it was read."""
        self.most_disk = max(self.most_disk, self.disk())
        outcome = self.outcome(attack)[1]
        is_read = not any((self.site.home.root / "dropbox" / "new").iterdir())
        is_believed = outcome == ENDS.get(attack, outcome)
        return is_read and is_believed and self.has_tried(attack)

    def has_tried(self, attack: str) -> bool:
        """Whether all of an attack that ends no attempt was made, as far as d0ctl let it."""
        return attack != "frame" or self.outcome(attack)[1] == "lost lost"

    def outcome(self, attack: str) -> tuple[str, str]:
        """How the hostile package stands, and how its last attempt that has ended did so."""
        phase = self.site.phase(f"{attack}/1/1/1")
        query = (
            "select attempt.outcome, coalesce(attempt.reason, '') from job"
            "  join stage on stage.job_id = job.id"
            "  join line on line.stage_id = stage.id join package on package.line_id = line.id"
            "  join attempt on attempt.package_id = package.id"
            " where job.name = ? and stage.seq = 1 and outcome is not null order by attempt.id desc"
        )
        found = self.site.ask(query, attack)
        return phase, " ".join(found[0]).strip() if found else ""

    def verbs(self, job: str) -> Iterator[tuple[str, Done]]:
        """Ask all that people ask about a job."""
        for words in VERBS:
            asked = [word.format(job=job) for word in words]
            yield " ".join(asked), self.site.d0ctl(*asked)

    def disk(self) -> int:
        """How many bytes all files of the home take, without the database."""
        size = 0
        for path in self.site.home.root.rglob("*"):
            with suppress(OSError):
                if not path.name.startswith("d0ctl.db"):
                    size += path.lstat().st_blocks * 512
        return size

    def database(self) -> int:
        """How many bytes the tables take, whether they are in the file already or not."""
        ((pages, size),) = self.site.ask(
            "select page_count, page_size from pragma_page_count, pragma_page_size"
        )
        return int(pages) * int(size)

    def forget_peak(self) -> None:
        """Count the greatest memory of the daemon from now on."""
        Path(f"/proc/{self.daemon}/clear_refs").write_text("5")

    def peak(self) -> int:
        """The greatest memory of the daemon, in bytes."""
        lines = Path(f"/proc/{self.daemon}/status").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM:"))


ENDS: Mapping[str, str] = {
    "zero": "failed verification",
    "times": "failed verification",
    "detail": "failed exit-code",
    "missing": "failed exit-code",
    "binaries": "failed exit-code",
    "notes": "failed exit-code",
    "forged": "failed exit-code",
    "theft": "failed exit-code",
    "nothing": "failed missing-output",
}
"""How an attempt ends whose node attacks; those of the other attacks have no end to be believed."""

ATTACKS = tuple(relay.ATTACKS)


@contextmanager
def battlefield(folder: Path) -> Iterator[Field]:
    """The site, gone at the end with all its processes."""
    site = Site(folder)
    make_home(site.home.root)
    field = Field(site)
    try:
        field.begin()
        yield field
    finally:
        site.close()
