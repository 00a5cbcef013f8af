"""Everything that can happen to packages, as moves that a random search makes."""

import os
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from d0ctl.errors import Refused
from d0ctl.model import STATUS_OF, Phase, Status
from d0ctl.store import lifecycle, open_store
from d0ctl.store.connection import Selection
from d0ctl.store.jobs import pause as pausing
from d0ctl.store.jobs import restore_line as restoring
from d0ctl.store.jobs import retry as retrying
from d0ctl.store.jobs.correction import correct, planning
from d0ctl.store.nodes import placement
from tests.store.telling import progress
from tests.store.two_jobs import FIRST, SECOND, changed
from tests.support.homes import make_home
from tests.support.jobs import submitted
from tests.support.rows import checkpoint
from tests.support.site import Node, Site

LIVE = {phase for phase, status in STATUS_OF.items() if status is Status.LAUNCHED} - {
    Phase.TRANSFERRING
}

PICK = st.integers(0, 999)

MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
"""Where homes of a search are: thousands of small folders cost a disk more than the moves."""


@cache
def begun(moves: "type[Moves]") -> bytes:
    """The database of a home in which these jobs were submitted: a search has thousands of them."""
    with tempfile.TemporaryDirectory() as folder:
        home = make_home(Path(folder, "home"))
        with open_store(home) as store:
            for spec in moves.specs:
                submitted(store, spec)
            checkpoint(store)
        return home.database.read_bytes()


class Moves(RuleBasedStateMachine):
    """Everything that can happen to two jobs on two nodes."""

    specs = (FIRST, SECOND)

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory(dir=MEMORY)
        home = make_home(Path(self.folder.name, "home"))
        home.database.write_bytes(begun(type(self)))
        self.store = open_store(home)
        self.store.connection.execute("pragma synchronous = off")
        rows = self.store.connection.execute("select id from job order by id")
        self.jobs = [row[0] for row in rows]
        self.site = Site.of(self.store, "far", cpus=2)
        self.list_packages()
        self.ended: dict[int, str] = {}
        self.paused: dict[int, bool] = {}
        """Whether a person asked last that an attempt pauses, and not that it goes on."""
        self.looked_at = -1

    def list_packages(self) -> None:
        """Note which packages there are."""
        rows = self.store.connection.execute("select id from package order by id")
        self.packages = [row[0] for row in rows]

    def is_changed(self) -> bool:
        """Whether a row was written since this was asked last."""
        before, self.looked_at = self.looked_at, self.store.connection.total_changes
        return before != self.looked_at

    def finish(self) -> None:
        """Check what is true once everything has settled."""
        raise NotImplementedError

    @classmethod
    def replay(cls, *calls: tuple[Any, ...]) -> None:
        """Play what a random search once found, with all that it checks at each step."""
        machine = cls()
        try:
            for name, *arguments in calls:
                picks = getattr(cls, name).hypothesis_stateful_rule.arguments
                getattr(machine, name)(**dict(zip(picks, arguments, strict=True)))
                for check in machine.invariants:
                    check.function(machine)
        finally:
            machine.teardown()

    def teardown(self) -> None:
        self.finish()
        self.store.close()
        self.folder.cleanup()

    def a_node(self, pick: int) -> Node:
        return list(self.site.nodes.values())[pick % len(self.site.nodes)]

    def select(self, pick: int) -> Selection:
        return self.store.select([self.packages[pick % len(self.packages)]])

    # what the agents do --------------------------------------------------------------

    @rule()
    def schedule(self) -> None:
        self.site.schedule()

    @rule()
    def carry(self) -> None:
        self.site.carry()

    @rule(pick=PICK)
    def launch(self, pick: int) -> None:
        self.site.hand_out(self.a_node(pick))

    @rule(pick=PICK)
    def hear(self, pick: int) -> None:
        self.site.hear(self.a_node(pick))

    @rule(pick=PICK, which=st.lists(PICK, max_size=4))
    def deliver(self, pick: int, which: list[int]) -> None:
        node = self.a_node(pick)
        if node.spool:
            self.site.deliver(node, [node.spool[i % len(node.spool)] for i in which])

    @rule(pick=PICK)
    def deliver_all(self, pick: int) -> None:
        node = self.a_node(pick)
        self.site.deliver(node, node.spool)

    @rule(of=st.integers(1, 3))
    def get_on(self, of: int) -> None:
        """A turn in which some of the running packages go on well."""
        self.site.schedule()
        self.site.carry()
        for node in self.site.nodes.values():
            self.site.hand_out(node)
            self.site.order(node)
            running = [a for a, state in node.attempts.items() if state == "running"]
            for attempt in running[:of]:
                node.end(attempt, "successful")
            self.site.hear(node)
            self.site.deliver(node, node.spool)

    @rule(of=st.integers(1, 3))
    def get_on_further(self, of: int) -> None:
        for _ in range(3):
            self.get_on(of)

    # what happens on the nodes ---------------------------------------------------------

    @rule(pick=PICK)
    def obey(self, pick: int) -> None:
        self.site.order(self.a_node(pick))

    @rule(pick=PICK, which=PICK, outcome=st.sampled_from(["successful"] * 4 + ["failed"]))
    def end(self, pick: int, which: int, outcome: str) -> None:
        node = self.a_node(pick)
        running = [a for a, state in node.attempts.items() if state == "running"]
        if running:
            reason = None if outcome == "successful" else "exit-code"
            node.end(running[which % len(running)], outcome, reason)

    @rule(pick=PICK)
    def report_progress(self, pick: int) -> None:
        node = self.a_node(pick)
        node.spool += [progress(a, 2, 50.0) for a, at in node.attempts.items() if at == "running"]

    @rule(pick=PICK)
    def unlink(self, pick: int) -> None:
        node = self.a_node(pick)
        if node.linked:
            self.site.unlink(node)

    @rule(pick=PICK)
    def link(self, pick: int) -> None:
        self.site.link(self.a_node(pick))

    @rule(pick=PICK)
    def reboot(self, pick: int) -> None:
        self.site.reboot(self.a_node(pick))

    @rule(pick=PICK, which=PICK)
    def lose_a_file(self, pick: int, which: int) -> None:
        node = self.a_node(pick)
        if node.disk:
            node.disk.discard(sorted(node.disk)[which % len(node.disk)])

    @rule()
    def end_jobs(self) -> None:
        with self.store.writing():
            placement.end_jobs(self.store, now=self.site.now)

    # what people do ----------------------------------------------------------------------

    @rule(pick=PICK)
    def retry(self, pick: int) -> None:
        """A failed or killed package runs again."""
        with self.store.writing():
            selected = self.select(pick)
            retrying.keep_phases(selected, ["failed", "canceled", "cooloff"])
            retrying.retry(selected, actor="tester", note=None, now=self.site.now)

    @rule(pick=PICK)
    def kill(self, pick: int) -> None:
        with self.store.writing():
            lifecycle.kill(self.select(pick), actor="tester", note=None, now=self.site.now)

    @rule(pick=PICK)
    def hold(self, pick: int) -> None:
        with self.store.writing():
            lifecycle.hold(self.select(pick), actor="tester", note=None, now=self.site.now)

    @rule(pick=PICK)
    def release(self, pick: int) -> None:
        with self.store.writing():
            lifecycle.release(self.select(pick), actor="tester", note=None, now=self.site.now)

    @rule(pick=PICK)
    def pause(self, pick: int) -> None:
        with self.store.writing():
            pausing.pause(self.select(pick), running=False, actor="tester", note=None,
                          now=self.site.now)  # fmt: skip

    @rule(pick=PICK)
    def resume(self, pick: int) -> None:
        self.by_a_person("unpark_packages", pick)

    @rule(pick=PICK)
    def pause_running_packages(self, pick: int) -> None:
        self.by_a_person("ask_to_pause", pick)

    @rule(pick=PICK)
    def resume_suspended_packages(self, pick: int) -> None:
        self.by_a_person("ask_to_resume", pick)

    def by_a_person(self, query: str, pick: int) -> None:
        with self.store.writing():
            self.select(pick).change(query, actor="tester", note=None, now=self.site.now)
        if query != "unpark_packages":
            row = self.store.connection.execute(
                "select attempt_id from package where id = ? and phase in"
                " ('starting', 'staging-in', 'running', 'suspended', 'unreachable')",
                [self.packages[pick % len(self.packages)]],
            ).fetchone()
            self.paused |= {row[0]: query == "ask_to_pause"} if row else {}

    @rule(pick=PICK, again=st.booleans())
    def restore(self, pick: int, again: bool) -> None:
        """What `restore-line` does, where consumers have not been launched without the files, or
        `again` have ended.
        """
        line = "select id from package where line_id = (select line_id from package where id = ?)"
        with self.store.writing():
            package = self.packages[pick % len(self.packages)]
            mates = [row[0] for row in self.store.connection.execute(line, [package])]
            selected = self.store.select(mates)
            selected.change("keep_named")
            if not lifecycle.phases(selected) or "killing" in lifecycle.phases(selected):
                return
            requested = lifecycle.line_ids(selected)
            restoring.choose_restored(selected)
            used = restoring.launched_without(selected)
            if used is None or (again and used["phase"] == "done"):
                done = [row["id"] for row in restoring.done_without(selected)]
                restoring.restore_and_run(
                    selected, done, requested, actor="tester", note=None, now=self.site.now
                )

    @rule(pick=PICK)
    def drop(self, pick: int) -> None:
        if pick % 4:
            return
        with self.store.writing():
            selected = self.select(pick)
            requested = lifecycle.line_ids(selected)
            lifecycle.choose_without_inputs(selected)
            lifecycle.drop(selected, requested, actor="tester", note=None, now=self.site.now)

    @rule(pick=PICK, changes=st.lists(PICK, max_size=3), again=st.booleans())
    def update(self, pick: int, changes: list[int], again: bool) -> None:
        """A job file that was changed, or is as at the beginning; it may be refused."""
        number = pick % len(self.jobs)
        job, spec = self.jobs[number], changed(self.specs[number], changes)
        with suppress(Refused), self.store.writing():
            outline = planning.plan(self.store, job, spec, again=again)
            correct.correct(
                self.store, job, spec, outline, actor="tester", note="x", now=self.site.now
            )
        self.list_packages()

    # what holds at all times ---------------------------------------------------------------
