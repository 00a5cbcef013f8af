"""The whole life of packages, driven at random; the invariants are checked at every step."""

from hypothesis import HealthCheck, settings
from hypothesis.stateful import invariant

from d0ctl.store import lifecycle
from d0ctl.store.jobs import pause
from d0ctl.store.nodes import placement
from tests.store.life import LIVE, Moves
from tests.support.examples import examples
from tests.support.homes import faults
from tests.support.jobs import phases


class Life(Moves):
    """Two jobs on two nodes, and what is true of them after each move."""

    @invariant()
    def nothing_is_wrong_with_the_database(self) -> None:
        assert not self.is_changed() or faults(self.store) == {}

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
        everywhere = [pair for node in self.site.nodes.values() for pair in node.attempts.items()]
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
        self.packages_are_suspended_if_a_person_wants_it()
        with self.store.writing():
            selected = self.store.select(self.packages)
            lifecycle.release(selected, actor="tester", note=None, now=self.site.now)
            pause.resume(selected, actor="tester", note=None, now=self.site.now)
        self.site.settle()

        assert faults(self.store) == {}
        moving = {path: p for path, p in phases(self.store).items()
                  if p not in ("done", "failed", "canceled", "dropped", "waiting")}  # fmt: skip
        assert moving == {}
        self.waiting_packages_have_a_cause()

    def packages_are_suspended_if_a_person_wants_it(self) -> None:
        """Once nodes answer, each attempt has done what it was asked last, as the database says."""
        self.site.settle(None)

        rows = self.store.connection.execute(
            "select attempt_id, phase, request, is_paused, slot from package where phase in"
            " ('starting', 'staging-in', 'running', 'suspended', 'unreachable')"
        )
        wrong = [tuple(row) for row in rows
                 if (row["phase"] == "suspended") != self.paused.get(row["attempt_id"], False)
                 or ((row["phase"] == "suspended") != row["is_paused"] and row["slot"] != 2)
                 or row["request"] == "resume"]  # fmt: skip
        assert wrong == []
        stopped = [attempt for node in self.site.nodes.values() for attempt in node.suspended]
        assert [attempt for attempt in stopped if not self.paused.get(attempt)] == []

    def waiting_packages_have_a_cause(self) -> None:
        """Packages wait for a dropped file, or for one that failed, was killed or waits itself."""
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
    max_examples=examples(12),
    stateful_step_count=40,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
"""How long the machines search: `make soak` has them try 10,000 examples."""

TestLife = Life.TestCase
TestLife.settings = MACHINES


def test_a_package_of_a_dropped_line_can_get_other_outputs_by_an_update() -> None:
    Life.replay(("drop", 300), ("update", 1, [0, 433, 575], False))


def test_a_merge_in_a_dropped_line_does_not_run_again_with_the_inputs_that_come_back() -> None:
    Life.replay(
        ("get_on_further", 1), ("drop", 0), ("get_on", 1), ("drop", 4), ("restore", 0, True)
    )
