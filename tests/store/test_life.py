"""The whole life of packages, driven at random, held against what must hold at every step."""

import tempfile
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from d0ctl.jobfile.spec import InputSpec, OutputSpec
from d0ctl.model import STATUS_OF, Phase, Status
from d0ctl.store import lifecycle, open_store
from d0ctl.store.jobs import restore_line as restoring
from d0ctl.store.jobs import retry as retrying
from d0ctl.store.nodes import placement
from tests.support.examples import examples
from tests.support.homes import faults, make_home
from tests.support.jobs import job, line, phases, simple, stage, submitted
from tests.support.world import Node, World

LIVE = {phase for phase, status in STATUS_OF.items() if status is Status.LAUNCHED} - {
    Phase.TRANSFERRING
}

FIRST = job(
    "first",
    stage(
        simple(outputs=["a1"]),
        simple(outputs=["a2"]),
        line(simple(outputs=["b1"]), simple(inputs=["b1"], outputs=["b2", "b3"])),
    ),
    stage(
        simple(
            inputs=[
                InputSpec("a1", required=False),
                InputSpec("a2", required=False),
                InputSpec("b2"),
            ],
            outputs=["merged"],
        ),
        simple(inputs=["a1", "/outside"], outputs=["c"]),
    ),
    stage(simple(inputs=["merged", "c"], outputs=[OutputSpec("result", result=True)])),
)
SECOND = job("second", stage(simple(inputs=["first:merged"], outputs=["d"])))

PICK = st.integers(0, 999)


class Life(RuleBasedStateMachine):
    """Everything that can happen to two jobs on two nodes."""

    specs = (FIRST, SECOND)

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.store = open_store(make_home(Path(self.folder.name, "home")))
        self.store.connection.execute("pragma synchronous = off")
        self.jobs = [submitted(self.store, spec) for spec in self.specs]
        self.world = World(self.store, "far")
        rows = self.store.connection.execute("select id from package order by id")
        self.packages = [row[0] for row in rows]
        self.ended: dict[int, str] = {}

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
        return list(self.world.nodes.values())[pick % len(self.world.nodes)]

    def choose(self, pick: int) -> None:
        lifecycle.choose(self.store, [self.packages[pick % len(self.packages)]])

    # what the agents do --------------------------------------------------------------

    @rule()
    def schedule(self) -> None:
        self.world.schedule()

    @rule()
    def carry(self) -> None:
        self.world.carry()

    @rule(pick=PICK)
    def launch(self, pick: int) -> None:
        self.world.launch(self.a_node(pick))

    @rule(pick=PICK)
    def hear(self, pick: int) -> None:
        self.world.hear(self.a_node(pick))

    @rule(pick=PICK, which=st.lists(PICK, max_size=4))
    def deliver(self, pick: int, which: list[int]) -> None:
        node = self.a_node(pick)
        if node.spool:
            self.world.deliver(node, [node.spool[i % len(node.spool)] for i in which])

    @rule(pick=PICK)
    def deliver_all(self, pick: int) -> None:
        node = self.a_node(pick)
        self.world.deliver(node, node.spool)

    @rule(of=st.integers(1, 3))
    def get_on(self, of: int) -> None:
        """A turn in which all goes well, for some of what runs."""
        self.world.schedule()
        self.world.carry()
        for node in self.world.nodes.values():
            self.world.launch(node)
            self.world.order(node)
            running = [a for a, state in node.attempts.items() if state == "running"]
            for attempt in running[:of]:
                node.end(attempt, "successful")
            self.world.hear(node)
            self.world.deliver(node, node.spool)

    @rule(of=st.integers(1, 3))
    def get_on_further(self, of: int) -> None:
        for _ in range(3):
            self.get_on(of)

    # what happens on the nodes ---------------------------------------------------------

    @rule(pick=PICK)
    def obey(self, pick: int) -> None:
        self.world.order(self.a_node(pick))

    @rule(pick=PICK, which=PICK, outcome=st.sampled_from(["successful"] * 4 + ["failed"]))
    def end(self, pick: int, which: int, outcome: str) -> None:
        node = self.a_node(pick)
        running = [a for a, state in node.attempts.items() if state == "running"]
        if running:
            reason = None if outcome == "successful" else "exit-code"
            node.end(running[which % len(running)], outcome, reason)

    @rule(pick=PICK)
    def unlink(self, pick: int) -> None:
        node = self.a_node(pick)
        if node.linked:
            self.world.unlink(node)

    @rule(pick=PICK)
    def link(self, pick: int) -> None:
        self.world.link(self.a_node(pick))

    @rule(pick=PICK)
    def reboot(self, pick: int) -> None:
        self.world.reboot(self.a_node(pick))

    @rule(pick=PICK, which=PICK)
    def lose_a_file(self, pick: int, which: int) -> None:
        node = self.a_node(pick)
        if node.disk:
            node.disk.discard(sorted(node.disk)[which % len(node.disk)])

    @rule()
    def end_jobs(self) -> None:
        with self.store.writing():
            placement.end_jobs(self.store, now=self.world.now)

    # what people do ----------------------------------------------------------------------

    @rule(pick=PICK)
    def retry(self, pick: int) -> None:
        """A failed or killed package runs again."""
        with self.store.writing():
            self.choose(pick)
            retrying.keep_phases(self.store, ["failed", "canceled", "cooloff"])
            retrying.retry(self.store, actor="tester", note=None, now=self.world.now)

    @rule(pick=PICK)
    def kill(self, pick: int) -> None:
        with self.store.writing():
            self.choose(pick)
            lifecycle.kill(self.store, actor="tester", note=None, now=self.world.now)

    @rule(pick=PICK)
    def hold(self, pick: int) -> None:
        with self.store.writing():
            self.choose(pick)
            lifecycle.hold(self.store, actor="tester", note=None, now=self.world.now)

    @rule(pick=PICK)
    def release(self, pick: int) -> None:
        with self.store.writing():
            self.choose(pick)
            lifecycle.release(self.store, actor="tester", note=None, now=self.world.now)

    @rule(pick=PICK)
    def pause(self, pick: int) -> None:
        self.by_a_person("park_packages", pick)

    @rule(pick=PICK)
    def resume(self, pick: int) -> None:
        self.by_a_person("unpark_packages", pick)

    @rule(pick=PICK)
    def pause_what_runs(self, pick: int) -> None:
        self.by_a_person("ask_to_pause", pick)

    @rule(pick=PICK)
    def resume_what_runs(self, pick: int) -> None:
        self.by_a_person("ask_to_resume", pick)

    def by_a_person(self, query: str, pick: int) -> None:
        with self.store.writing():
            self.choose(pick)
            self.store.change(query, actor="tester", note=None, now=self.world.now)

    @rule(pick=PICK)
    def restore(self, pick: int) -> None:
        """What `restore-line` does, where no consumer was launched without the files."""
        line = "select id from package where line_id = (select line_id from package where id = ?)"
        with self.store.writing():
            package = self.packages[pick % len(self.packages)]
            mates = [row[0] for row in self.store.connection.execute(line, [package])]
            lifecycle.choose(self.store, mates)
            self.store.change("keep_named")
            if not lifecycle.phases(self.store) or "killing" in lifecycle.phases(self.store):
                return
            restoring.choose_restored(self.store)
            if restoring.launched_without(self.store) is None:
                restoring.restore(self.store, actor="tester", note=None, now=self.world.now)

    @rule(pick=PICK)
    def drop(self, pick: int) -> None:
        if pick % 4:
            return
        with self.store.writing():
            self.choose(pick)
            lifecycle.ask_lines(self.store)
            lifecycle.choose_bereft(self.store)
            lifecycle.drop(self.store, actor="tester", note=None, now=self.world.now)

    # what holds at all times ---------------------------------------------------------------

    @invariant()
    def nothing_is_wrong_with_the_database(self) -> None:
        assert faults(self.store) == {}

    @invariant()
    def what_is_about_to_run_misses_nothing(self) -> None:
        rows = self.store.connection.execute(
            "select id, phase, missing from package"
            " where phase in ('ready', 'assigned') and missing > 0"
        )
        assert [tuple(row) for row in rows] == []

    @invariant()
    def what_is_carried_can_be_carried(self) -> None:
        """Copies that a package or a node waits for are of files that are there."""
        rows = self.store.connection.execute(
            "select transfer.file_id, transfer.cluster_id from transfer"
            "  join file on file.id = transfer.file_id"
            " where transfer.result = 0 and file.package_id is not null and file.present = 0"
        )
        assert [tuple(row) for row in rows] == []

    @invariant()
    def a_job_with_something_to_do_has_not_ended(self) -> None:
        rows = self.store.connection.execute(
            "select job.name, package.id, package.phase from job"
            "  join package on package.job_id = job.id where job.ended is not null"
            "   and package.phase not in ('waiting', 'done', 'failed', 'canceled', 'dropped')"
        )
        assert [tuple(row) for row in rows] == []

    @invariant()
    def one_attempt_counts_and_its_package_is_launched(self) -> None:
        rows = self.store.connection.execute(
            "select package.id, package.phase, package.attempt_id, attempt.id as live"
            "  from attempt join package on package.id = attempt.package_id"
            " where attempt.outcome is null"
        ).fetchall()
        assert all(row["attempt_id"] == row["live"] and row["phase"] in LIVE for row in rows)
        assert len({row["id"] for row in rows}) == len(rows)

    @invariant()
    def a_second_attempt_runs_only_where_the_first_was_given_up(self) -> None:
        everywhere = [pair for node in self.world.nodes.values() for pair in node.attempts.items()]
        for attempt in [attempt for attempt, state in everywhere if state == "running"]:
            row = self.store.connection.execute(
                "select outcome, message from attempt where id = ?", [attempt]
            ).fetchone()
            assert row["outcome"] is None or "out of contact" in row["message"]

    @invariant()
    def no_node_has_more_than_its_cpus(self) -> None:
        """What computes and what is brought ahead; lists that were closed come on top."""
        closed = self.store.connection.execute(
            "select count(*) from package where early > 0 and phase <> 'assigned'"
        ).fetchone()[0]
        for room in placement.nodes(self.store):
            assert room.used + room.bringing <= 2 * room.cpus + closed

    @invariant()
    def an_outcome_never_changes(self) -> None:
        rows = self.store.connection.execute(
            "select id, outcome from attempt where outcome is not null"
        )
        for row in rows:
            assert self.ended.setdefault(row["id"], row["outcome"]) == row["outcome"]

    def finish(self) -> None:
        """Once all goes well, nothing is left that could move."""
        with self.store.writing():
            lifecycle.choose(self.store, self.packages)
            lifecycle.release(self.store, actor="tester", note=None, now=self.world.now)
        self.world.settle()

        assert faults(self.store) == {}
        moving = {path: p for path, p in phases(self.store).items()
                  if p not in ("done", "failed", "canceled", "dropped", "waiting")}  # fmt: skip
        assert moving == {}
        self.waiting_packages_have_somebody_to_blame()

    def waiting_packages_have_somebody_to_blame(self) -> None:
        """Packages wait for a dropped file, or for what failed, was killed or waits itself."""
        rows = self.store.connection.execute(
            "select package.id from package where phase = 'waiting'"
            " and not exists (select 1 from input join file on file.id = input.file_id"
            "   join package as maker on maker.id = file.package_id"
            "   where input.package_id = package.id and input.dropped = 0 and file.present = 0"
            "     and (file.dropped = 1"
            "          or maker.phase in ('failed', 'canceled', 'dropped', 'waiting')))"
            " and not exists (select 1 from package as before"
            "   where before.line_id = package.line_id and before.seq = package.seq - 1"
            "     and before.phase in ('failed', 'canceled', 'dropped', 'waiting'))"
        )
        assert [row[0] for row in rows] == []


MACHINES = settings(
    max_examples=examples(25),
    stateful_step_count=40,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
"""How long the machines search: `make soak` has them try 10,000 examples."""

TestLife = Life.TestCase
TestLife.settings = MACHINES
