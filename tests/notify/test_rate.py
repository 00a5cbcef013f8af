"""Digest and rate on a clock of its own: nothing is lost, never too much, each sent once."""

import json
import re
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from d0ctl.daemon.delivery import NotificationSender
from d0ctl.store import open_store
from d0ctl.store.mail import mail_queue
from d0ctl.store.mail.mail_queue import Notice
from tests.notify.conftest import Clock
from tests.support.homes import make_home
from tests.support.smtp import PostOffice, free_port

JOBS = ("red", "green", "blue")
PEOPLE = ("eve@lab.example", "adam@lab.example")

TOLD = re.compile(r"^(\w+): [\d,]+ packages? failed \(x\)\n  ([\d,]+) failures?: ", re.MULTILINE)


class Telling(RuleBasedStateMachine):
    """Things fail, time goes on, the server comes and goes, processes die before they note it."""

    @initialize(rate=st.integers(1, 3), digest=st.sampled_from([0.0, 60.0, 600.0]))
    def begin(self, rate: int, digest: float) -> None:
        """A site and its server."""
        self.folder = tempfile.TemporaryDirectory()
        self.home = make_home(Path(self.folder.name) / "home")
        self.store = open_store(self.home)
        self.post = PostOffice().__enter__()
        self.clock = Clock(1e6)
        self.rate, self.digest = rate, digest
        self.happened: dict[tuple[str, str], int] = {}
        self.sent_at: list[float] = []
        self.restart()
        self.say(self.post.port)

    def say(self, port: int) -> None:
        """Put the server in force."""
        said = self.post.said(port=port, rate=self.rate)
        with self.store.writing():
            self.store.change("keep_setting", name="mail", value=json.dumps(said))

    @rule()
    def restart(self) -> None:
        """Another process carries from now on."""
        self.carrier = NotificationSender(self.home, is_command=False, clock=self.clock)

    @rule(person=st.sampled_from(PEOPLE), job=st.sampled_from(JOBS), number=st.integers(1, 5))
    def fail(self, person: str, job: str, number: int) -> None:
        """Packages of a job fail."""
        now = self.clock.now
        with self.store.writing():
            mail_queue.add(self.store, Notice(
                person, "failures", JOBS.index(job), job, now, now, now + self.digest, "x",
                number, number,
            ))  # fmt: skip
        self.happened[person, job] = self.happened.get((person, job), 0) + number

    @rule(seconds=st.sampled_from([1, 30, 61, 599, 1800, 3599, 3601]))
    def wait(self, seconds: float) -> None:
        """Time goes on, and the carrier looks."""
        self.clock.now += seconds
        self.look()

    def look(self) -> None:
        """The carrier looks whether something is due."""
        before = len(self.post.letters)
        self.carrier.round(self.store)
        self.sent_at += [self.clock.now] * (len(self.post.letters) - before)

    @rule()
    def down(self) -> None:
        """The server is away."""
        self.say(free_port())

    @rule()
    def up(self) -> None:
        """The server is back."""
        self.say(self.post.port)

    @rule(mails=st.integers(1, 3))
    def busy(self, mails: int) -> None:
        """The server takes the next mails another time."""
        self.post.busy = mails

    @invariant()
    def never_over_the_rate(self) -> None:
        """No hour has more mails for a recipient than they want."""
        for person in PEOPLE:
            times = [at for at, (to, _) in zip(self.sent_at, self.post.letters, strict=True)
                     if to == person]  # fmt: skip
            for first in times:
                assert sum(first <= at < first + 3600 for at in times) <= self.rate

    @invariant()
    def what_waits_is_bounded(self) -> None:
        """For each person at most one mail is on its way, and a row a job waits."""
        for person in PEOPLE:
            rows = [row for row in self.store.rows("open_deliveries") if row["recipient"] == person]
            assert len(rows) <= 1
            assert len(mail_queue.notices(self.store, person)) <= len(JOBS)

    def teardown(self) -> None:
        """In the end everything is sent, and once."""
        if not hasattr(self, "post"):
            return
        self.up()
        self.post.busy = 0
        for _ in range(30):
            self.wait(1200)
        notified: dict[tuple[str, str], int] = {}
        for number, (to, _) in enumerate(self.post.letters):
            for job, count in TOLD.findall(self.post.text(number)):
                notified[to, job] = notified.get((to, job), 0) + int(count)
        try:
            assert notified == self.happened
            assert len({str(mail["Message-ID"]) for mail in self.post.mails}) == len(
                self.post.letters
            )
        finally:
            self.store.close()
            self.post.__exit__()
            self.folder.cleanup()


Telling.TestCase.settings = settings(
    max_examples=20, stateful_step_count=25, deadline=None,
    suppress_health_check=list(HealthCheck),
)  # fmt: skip

TestTelling: Any = Telling.TestCase
