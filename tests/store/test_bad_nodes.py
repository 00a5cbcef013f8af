"""Nodes that burn packages, in the store: drained with the evidence, tried again, taken back."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from d0ctl.config import Home
from d0ctl.jobfile.spec import OutputSpec
from d0ctl.schedule.place import Decision
from d0ctl.store import Store, lifecycle, open_store
from d0ctl.store.attempts import messages, node_record
from d0ctl.store.attempts.launching import launches
from d0ctl.store.attempts.outputs import lose_spoilt
from d0ctl.store.jobs import retry
from d0ctl.store.nodes import draining, placement, registry
from tests.support.acting import act
from tests.support.homes import faults, make_home
from tests.support.jobs import NOW, job, phases, simple, submitted
from tests.support.world import Node, World, end_message


class Site(World):
    """A world whose time stands still until it is moved."""

    at = NOW

    @property
    def now(self) -> float:
        """What time it is."""
        return self.at

    def fill(self) -> None:
        """Plan, and launch what is planned."""
        self.schedule()
        for node in self.nodes.values():
            self.launch(node)
            self.order(node)

    def running(self, node: Node) -> list[int]:
        """The attempts that run on a node, the oldest first."""
        return [attempt for attempt, state in node.attempts.items() if state == "running"]

    def end(self, node: Node, outcome: str, reason: str | None = None, most: int = 99) -> int:
        """Let what runs on a node end now; how many that were."""
        answer = self.running(node)[:most]
        for attempt in answer:
            node.end(attempt, outcome, reason)
        ends = [{**one, "started": self.at, "ended": self.at} if one["kind"] == "end" else one
                for one in node.spool]  # fmt: skip
        node.spool = ends
        self.deliver(node, ends)
        return len(answer)

    def round(self, *bad: str, reason: str = "exit-code", step: float = 60.0) -> None:
        """Everybody gets packages; those on bad nodes fail, the others go well."""
        self.fill()
        for node in self.nodes.values():
            if node.name in bad:
                self.end(node, "failed", reason)
        for node in self.nodes.values():
            if node.name not in bad:
                self.end(node, "successful")
        self.at += step

    def row(self, name: str) -> Any:
        """A node as the database has it."""
        return registry.named(self.store, name)

    def launched_on(self, name: str) -> int:
        """How many attempts there were on a node."""
        query = "select count(*) from attempt where node_name = ?"
        return int(self.store.connection.execute(query, [name]).fetchone()[0])

    def trouble(self) -> list[tuple[str, str]]:
        """Which nodes are in trouble, and of which kind."""
        rows = self.store.connection.execute("select name, kind from node_trouble order by name")
        return [tuple(row) for row in rows]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A fresh home."""
    return make_home(tmp_path / "home")


@pytest.fixture
def store(home: Home) -> Iterator[Store]:
    """Its store."""
    with open_store(home) as store:
        yield store


def set_up(store: Store, *names: str, packages: int = 40, cpus: int = 1, **more: Any) -> Site:
    """A job of many packages, and nodes beside this machine."""
    submitted(store, job("sim", [simple() for _ in range(packages)], **more))
    return Site(store, *names, cpus=cpus)


def burn(site: Site, *bad: str, rounds: int = 9) -> None:
    """Go on until a node is drained."""
    for _ in range(rounds):
        site.round(*bad)
        if site.row(bad[0])["drained"]:
            return
    raise AssertionError("nobody was drained")


def test_a_node_that_burns_what_others_run_well_is_drained_with_the_evidence(store: Store) -> None:
    site = set_up(store, "good", "hole")

    burn(site, "hole", rounds=200)

    assert site.launched_on("hole") == 3
    bad = draining.bad_node(store, site.node("hole").id)
    assert bad is not None
    assert bad["evidence"].startswith(
        "3 packages of `sim/1` failed here in a row, the longest after 0.0 s (exit-code 3 times),"
        " while other nodes ran "
    )
    answer = json.loads(bad["details"])
    assert answer["reasons"] == {"exit-code": 3}
    assert len(answer["packages"]) == 3
    assert site.trouble() == [("hole", "drained")]
    deeds = store.rows("node_deeds", name="hole", limit=9)
    assert [(row["actor"], row["verb"]) for row in deeds] == [("d0ctl", "node drain")]


def test_a_node_whose_results_are_never_what_it_says_is_drained(store: Store) -> None:
    lines = [simple(outputs=[OutputSpec(f"x-{n}", result=True)]) for n in range(40)]
    submitted(store, job("sim", lines))
    site = Site(store, "liar", cpus=1)
    query = (
        "select file_id, cluster_id from location where cluster_id ="
        " (select cluster_id from node where name = 'liar')"
    )

    for _ in range(9):
        site.round()
        copies = [tuple(row) for row in store.connection.execute(query)]
        with store.writing():
            lose_spoilt(store, copies, "`x` is larger than its 7 bytes", now=site.at)

    assert site.launched_on("liar") == 3
    bad = draining.bad_node(store, site.node("liar").id)
    assert bad is not None
    assert bad["evidence"].startswith(
        "3 packages of `sim/1` failed here in a row, the longest after 0.0 s"
        " (launches refused, or other results than reported), while other nodes ran "
    )
    assert faults(store) == {}


def test_a_package_assigned_to_a_node_that_is_drained_is_ready_for_another(store: Store) -> None:
    site = set_up(store, "good", "hole", packages=400)
    hole = site.node("hole")
    query = "select id from package where phase = 'ready' order by id desc limit 1"
    while not site.row("hole")["drained"]:
        site.fill()
        for name in ("localhost", "good"):
            site.end(site.node(name), "successful")
        (planned,) = store.connection.execute(query).fetchone()
        with store.writing():
            placement.assign(store, [Decision(planned, hole.id, 0)], now=site.at)
        site.end(hole, "failed", "exit-code")
        site.at += 60.0

    query = "select phase, node_id from package where id = ?"
    assert tuple(store.connection.execute(query, [planned]).fetchone()) == ("ready", None)


def test_what_it_burnt_runs_elsewhere_and_no_try_is_counted(store: Store) -> None:
    site = set_up(store, "good", "hole", packages=12)
    burn(site, "hole", rounds=200)

    for _ in range(20):
        site.round("hole")

    assert set(phases(store).values()) == {"done"}
    answers = store.connection.execute(
        "select distinct answer from attempt where node_name = 'hole'"
    ).fetchall()
    assert [row[0] for row in answers] == ["restart"]
    assert faults(store) == {}


def test_a_job_that_fails_everywhere_drains_no_node_and_waits_for_none(store: Store) -> None:
    site = set_up(store, "one", "two", packages=60, max_alike_failures=0)

    for _ in range(20):
        site.round("localhost", "one", "two", step=0.1)

    assert set(phases(store).values()) == {"failed"}
    assert site.trouble() == []


def test_before_others_have_run_it_a_node_that_fails_at_once_pauses(store: Store) -> None:
    site = set_up(store, "good", "hole", packages=300)

    for _ in range(600):
        site.fill()
        site.end(site.node("hole"), "failed", "software-missing")
        site.at += 1.0

    assert site.launched_on("hole") == 3
    assert not site.row("hole")["drained"]
    for name in ("localhost", "good"):
        site.end(site.node(name), "successful")
        site.fill()
    assert not site.row("hole")["drained"]
    for name in ("localhost", "good"):
        site.end(site.node(name), "successful")
    assert site.row("hole")["drained"]


def test_one_bad_package_makes_an_honest_node_pause_for_seconds_only(store: Store) -> None:
    site = set_up(store, "honest", cpus=8, packages=60)
    site.fill()
    site.end(site.node("honest"), "failed", "exit-code", most=1)
    site.fill()
    assert len(site.running(site.node("honest"))) == 7
    site.at += 40.0
    site.fill()

    assert len(site.running(site.node("honest"))) == 8


def test_what_only_a_suspect_can_take_does_not_wait(store: Store) -> None:
    pinned = [simple(nodes=("hole",)) for _ in range(20)]
    submitted(store, job("sim", [simple(exclude_nodes=("hole",)), *pinned]))
    site = Site(store, "hole", cpus=1)

    for _ in range(20):
        site.fill()
        site.end(site.node("hole"), "failed", "exit-code")

    assert site.launched_on("hole") == 20


def test_a_suspect_pauses_also_while_what_failed_there_waits_to_go_elsewhere(
    store: Store,
) -> None:
    with store.writing():
        rules = {"hook": {"tries": 9, "delay": [1.0], "elsewhere": "only"}}
        store.change("keep_setting", name="policy", value=json.dumps(rules))
    site = set_up(store, "hole", packages=50)
    for _ in range(9):
        site.fill()
        site.end(site.node("hole"), "failed", "hook")
        site.at += 1.0

    assert site.launched_on("hole") == 1


def test_a_node_that_has_just_run_the_stage_well_is_not_drained_for_three_failures(
    store: Store,
) -> None:
    site = set_up(store, "good", "honest", packages=40)
    honest = site.node("honest")
    for _ in range(3):
        site.round()

    for _ in range(3):
        site.round("honest")

    assert not site.row("honest")["drained"]
    assert site.launched_on("honest") == 6
    assert honest.attempts


def test_a_verdict_is_taken_back_when_a_package_that_began_later_runs_well(store: Store) -> None:
    site = set_up(store, "good", "hole", packages=400, cpus=8)
    good, hole = site.node("good"), site.node("hole")
    for _ in range(9):
        site.fill()
        site.end(good, "successful")
    while not site.row("hole")["drained"]:
        site.at += 60.0
        site.fill()
        site.end(hole, "failed", "exit-code", most=1)
    assert len(site.running(hole)) > 1

    site.at += 1.0
    site.end(hole, "successful", most=1)

    assert not site.row("hole")["drained"]
    assert draining.bad_node(store, hole.id) is None
    (deed,) = store.rows("node_deeds", name="hole", limit=1)
    assert (deed["actor"], deed["verb"]) == ("d0ctl", "node resume")
    assert "ran well" in deed["note"]


def test_a_small_job_does_not_fail_because_of_a_bad_node(store: Store) -> None:
    site = set_up(store, "good", "hole", packages=12)
    hole = site.node("hole")
    for _ in range(2):
        site.at += 3600.0
        site.fill()
        site.end(hole, "failed", "exit-code")
    assert site.launched_on("hole") == 2

    others = [node for node in site.nodes.values() if node is not hole]
    while sum(site.end(node, "successful") for node in others):
        site.fill()

    assert set(phases(store).values()) == {"done"}
    assert site.launched_on("hole") == 2
    assert not site.row("hole")["drained"]
    assert faults(store) == {}


def drained(store: Store) -> Site:
    """A site of which one node has been drained."""
    site = set_up(store, "good", "hole", packages=400)
    burn(site, "hole", rounds=200)
    return site


def wait(site: Site) -> None:
    """Let time go on until the drained node is to be tried."""
    bad = draining.bad_node(site.store, site.node("hole").id)
    assert bad is not None
    site.at = bad["next_try"]


def test_after_a_while_one_package_tries_it_and_what_goes_well_brings_it_back(
    store: Store,
) -> None:
    site = drained(store)
    site.at += 1000.0
    site.fill()
    assert not site.running(site.node("hole"))
    wait(site)
    site.fill()
    site.fill()
    assert len(site.running(site.node("hole"))) == 1

    site.end(site.node("hole"), "successful")

    assert not site.row("hole")["drained"]
    assert site.trouble() == []
    site.fill()
    assert len(site.running(site.node("hole"))) == 1
    deeds = store.rows("node_deeds", name="hole", limit=1)
    assert [(row["actor"], row["verb"]) for row in deeds] == [("d0ctl", "node resume")]


def test_one_that_fails_again_rests_twice_as_long_and_spends_no_try(store: Store) -> None:
    site = drained(store)
    wait(site)
    tried = site.at
    site.fill()
    (attempt,) = site.running(site.node("hole"))

    site.end(site.node("hole"), "failed", "exit-code")

    bad = draining.bad_node(store, site.node("hole").id)
    assert bad is not None
    assert (bad["times"], bad["next_try"]) == (2, tried + 3600)
    row = store.connection.execute(
        "select attempt.answer, package.phase from attempt"
        " join package on package.id = attempt.package_id where attempt.id = ?", [attempt],
    ).fetchone()  # fmt: skip
    assert tuple(row) == ("restart", "ready")
    (deed,) = store.rows("node_deeds", name="hole", limit=1)
    assert (deed["verb"], deed["note"]) == (
        "node drain", "a package that tried it failed, too; it rests for 1 h 00 min"
    )  # fmt: skip
    site.fill()
    assert not site.running(site.node("hole"))


def test_the_trial_is_made_again_when_its_package_is_gone(store: Store) -> None:
    site = drained(store)
    wait(site)
    site.fill()
    hole = site.node("hole")
    site.unlink(hole)
    assert site.trouble() == [("hole", "down"), ("hole", "drained")]
    hole.attempts.clear()
    site.link(hole)
    site.fill()

    assert len(site.running(hole)) == 1


def test_a_person_who_resumes_it_clears_what_was_held_against_it(store: Store) -> None:
    site = drained(store)

    act(store, "node resume", "hole", actor="eve", note="new disk", now=NOW)

    assert site.trouble() == []
    site.fill()
    assert len(site.running(site.node("hole"))) == 1
    assert store.rows("streaks", stages="[1]") == []


def test_a_person_who_drains_it_has_it_stay_so(store: Store) -> None:
    site = drained(store)

    act(store, "node drain", "hole", actor="eve", note="to the shop", now=NOW)
    site.at += 1e6
    site.fill()

    assert site.row("hole")["drain_note"] == "to the shop"
    assert not site.running(site.node("hole"))


def test_a_retry_by_a_person_clears_the_nodes_of_its_job(store: Store) -> None:
    site = drained(store)
    site.fill()
    site.end(site.node("good"), "failed", "exit-code")
    failed = [row[0] for row in store.connection.execute(
        "select id from package where phase = 'failed'")]  # fmt: skip
    assert failed

    with store.writing():
        lifecycle.choose(store, failed)
        retry.retry(store, actor="eve", note=None, now=site.at)

    assert site.trouble() == []
    assert store.rows("conduct_of_job", job=1) == []


def test_kills_and_lost_contact_drain_nobody(store: Store) -> None:
    site = set_up(store, "good", "hole", packages=200)
    for _ in range(6):
        site.fill()
        hole = site.node("hole")
        with store.writing():
            messages.fail(store, hole.id, site.running(hole), reason="platform-failure",
                          message="rebooted", now=site.at)  # fmt: skip
        hole.attempts.clear()
        for name in ("localhost", "good"):
            site.end(site.node(name), "successful")
        site.at += 60.0

    assert site.trouble() == []
    assert {row["node_id"]: row["failed"] for row in store.rows("conduct_of_job", job=1)}[
        site.node("hole").id
    ] == 6


def test_launches_that_a_node_refuses_speak_against_it(store: Store) -> None:
    site = set_up(store, "good", "hole", packages=200)
    hole = site.node("hole")
    for _ in range(200):
        site.fill()
        with store.writing():
            for attempt in site.running(hole):
                launches.refuse(store, hole.id, attempt, "launch-failed", "fork: no", now=site.at)
        hole.attempts.clear()
        for name in ("localhost", "good"):
            site.end(site.node(name), "successful")
        site.at += 10.0

    assert site.trouble() == [("hole", "drained")]
    assert site.launched_on("hole") == 3


def test_an_end_told_twice_counts_once(store: Store) -> None:
    site = set_up(store, "hole")
    site.fill()
    (attempt,) = site.running(site.node("hole"))
    message = end_message(attempt, "failed", "exit-code")
    for _ in range(2):
        with store.writing():
            messages.apply(store, [message, message], now=site.at)

    (row,) = store.rows("streaks", stages="[1]")
    assert (row["streak"], row["failed"]) == (1, 1)


def excluding(store: Store) -> Site:
    """A site where a job has failed on one node again and again, though not in a row."""
    with store.writing():
        store.change("keep_setting", name="policy", value=json.dumps({"hook": {"tries": 9}}))
        store.change("keep_setting", name="bad-nodes", value=json.dumps({"burnt": 0}))
    return set_up(store, "bad", packages=40)


def test_what_failed_on_a_node_goes_elsewhere_once_its_job_excludes_it(store: Store) -> None:
    site = excluding(store)
    for _ in range(6):
        site.round("bad", reason="hook")
    assert [row["name"] for row in node_record.exclusions(store, 1)] == ["bad"]
    site.at += 400.0
    since = site.at

    for _ in range(8):
        site.round("bad", reason="hook", step=0.0)

    again = store.connection.execute(
        "select node_name from attempt where number > 1 and launched >= ?", [since]
    ).fetchall()
    assert {row[0] for row in again} == {"localhost"}


def test_a_package_that_has_not_failed_there_may_go_to_an_excluded_node(store: Store) -> None:
    site = excluding(store)
    for _ in range(6):
        site.round("bad", reason="hook", step=400.0)
    before = site.launched_on("bad")
    for _ in range(30):
        site.round("bad", reason="hook", step=0.0)

    assert site.launched_on("bad") > before


def test_an_excluded_node_is_taken_where_there_is_no_other(store: Store) -> None:
    site = excluding(store)
    for _ in range(6):
        site.round("bad", reason="hook")
    site.unlink(site.node("localhost"))
    site.at += 400.0
    site.fill()

    row = store.connection.execute(
        "select max(number) as number from attempt where node_name = 'bad' and outcome is null"
    ).fetchone()
    assert row["number"] > 1


answer = st.lists(
    st.tuples(st.sampled_from([None, "exit-code", "lost", "killed"]), st.integers(0, 5)),
    max_size=20,
)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(answer, st.lists(st.integers(1, 6), max_size=20))
def test_what_is_counted_does_not_depend_on_how_ends_come_together(
    store: Store, reasons: list[tuple[str | None, int]], sizes: list[int]
) -> None:
    ends = [
        node_record.Ended(1, 1, 1, n, NOW + n, float(lasted), reason)
        for n, (reason, lasted) in enumerate(reasons)
    ]
    if not store.connection.execute("select 1 from job").fetchone():
        submitted(store, job("sim"))
    rest = list(ends)
    with store.writing():
        store.change("forget_conduct_of_node", node=1)
        store.change("forget_job_conduct_of_node", node=1)
        for size in [*sizes, len(ends)]:
            batch, rest = rest[:size], rest[size:]
            node_record.keep(store, reversed(batch))
    found = store.rows("streaks", stages="[1]")
    whole = store.rows("conduct_of_job", job=1)

    row: list[node_record.Ended] = []
    for end in ends:
        if end.counts():
            row = [] if end.reason is None else [*row, end]
    if row:
        (one,) = found
        assert (one["streak"], one["last"]) == (len(row), row[-1].ended)
    else:
        assert found == []
    counted = [end for end in ends if end.counts(or_gone=True)]
    tallies = [(one["successful"], one["failed"]) for one in whole]
    successful = sum(end.reason is None for end in counted)
    assert tallies == ([(successful, len(counted) - successful)] if counted else [])
