"""Messages in any order, any number of times, early or late: the rows are the same."""

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from d0ctl.jobfile.spec import OutputSpec
from d0ctl.store import Store, lifecycle, open_store
from d0ctl.store.attempts import messages
from d0ctl.store.attempts.launching import launches
from tests.support.examples import examples
from tests.support.homes import faults, make_home
from tests.support.jobs import NOW, job, phases, simple, stage, submitted
from tests.support.world import Message, World, end_message, output, start_message

TABLES = {
    "package": "id, phase, missing, attempt_id, attempts, restarts, request",
    "attempt": "id, started, ended, outcome, reason, exit_code, message, cpu, phase, partial",
    "progress": "package_id, attempt_id, seq, percent, line",
    "note": "attempt_id, seq, text",
    "binary_attempt": "attempt_id, seq, exit_code, ended",
    "file": "id, present, size, checksum",
    "location": "file_id, cluster_id, path",
    "transfer": "file_id, cluster_id, result",
    "stage_count": "stage_id, phase, n",
}


def rows(store: Store) -> dict[str, list[tuple[object, ...]]]:
    """All that messages change, but for when that was."""
    return {
        table: [tuple(row) for row in store.connection.execute(f"select {columns} from {table}")]
        for table, columns in TABLES.items()
    }


@contextmanager
def launched() -> Iterator[tuple[Store, World]]:
    """Six packages launched as attempts 1 to 6, one of them being killed, and a merge."""
    with tempfile.TemporaryDirectory() as folder:
        with open_store(make_home(Path(folder, "home"))) as store:
            store.connection.execute("pragma synchronous = off")
            makers = [simple(outputs=[f"f{n}"]) for n in range(1, 6)]
            last = simple(outputs=[OutputSpec("result", result=True)])
            merge = simple(inputs=[f"f{n}" for n in range(1, 6)])
            submitted(store, job("all", stage(*makers, last), stage(merge)))
            world = World(store, cpus=8)
            world.schedule()
            world.launch(world.node("localhost"))
            with store.writing():
                lifecycle.choose(store, [5])
                lifecycle.kill(store, actor="tester", note=None, now=NOW)
            yield store, world


def more(attempt: int, kind: str, seq: int, **fields: object) -> Message:
    """Another message of an attempt under way."""
    return {"attempt": attempt, "kind": kind, "seq": seq, "time": NOW + seq, **fields}


def state(attempt: int, seq: int, phase: str) -> Message:
    """A wrapper says which phase its attempt is in."""
    return more(attempt, "state", seq, phase=phase, why=f"it is {phase}")


def progress(attempt: int, seq: int, percent: float, eta: float | None = None) -> Message:
    """A wrapper says how far its attempt is."""
    numbers = {"binary": 1, "done": percent, "total": 100.0, "percent": percent, "eta": eta}
    return more(attempt, "progress", seq, **numbers, line=f"{percent} %", cpu=1.0, rss=4096)


def note(attempt: int, seq: int) -> Message:
    """A wrapper says what it found."""
    return more(attempt, "note", seq, binary=1, text=f"note {seq}")


def reported(attempt: int) -> list[Message]:
    """What the wrapper of an attempt says: four go well or badly, one is killed, one goes on."""
    start = start_message(attempt)
    if attempt == 1:
        first = [{**start, "phase": "staging-in"}, state(1, 2, "running"), progress(1, 3, 10.0)]
        return [*first, state(1, 4, "suspended"), note(1, 5), progress(1, 6, 20.0), note(1, 7)]
    if attempt == 4:
        return [start, end_message(attempt, "failed", "exit-code")]
    if attempt == 5:
        return [start, end_message(attempt, "killed", "killed")]
    name = "result" if attempt == 6 else f"f{attempt}"
    return [start, end_message(attempt, outputs=[output(f"/c/{attempt}", name)])]


ALL = [message for attempt in range(1, 7) for message in reported(attempt)]

UNKNOWN = [start_message(99), end_message(99)]


def in_order() -> dict[str, list[tuple[object, ...]]]:
    """The rows after every message has come once, in order, alone."""
    with launched() as (store, _):
        for message in ALL:
            apply(store, [message])
        return rows(store)


def apply(store: Store, batch: list[Message]) -> messages.Applied:
    """Apply a batch in a transaction of its own."""
    with store.writing():
        return messages.apply(store, batch, now=NOW + 5)


EXPECTED = in_order()


@given(st.data())
@settings(max_examples=examples(20), deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_order_and_any_repetition_gives_the_same_rows(data: st.DataObject) -> None:
    pile = [*ALL, *data.draw(st.lists(st.sampled_from([*ALL, *UNKNOWN]), max_size=12))]
    pile = data.draw(st.permutations(pile))
    with launched() as (store, _):
        while pile:
            size = data.draw(st.integers(1, len(pile)))
            apply(store, pile[:size])
            pile = pile[size:]

        assert rows(store) == EXPECTED
        assert faults(store) == {}


@given(st.permutations([m for m in ALL if m["kind"] == "end"]))
@settings(max_examples=examples(8), deadline=None)
def test_the_end_alone_says_everything(ends: list[Message]) -> None:
    untold = {"attempt": 12, "progress": 0, "note": 0}
    with launched() as (store, _):
        apply(store, reported(1))
        apply(store, ends)

        found, expected = rows(store), dict(EXPECTED)
        for table in untold:
            found.pop(table), expected.pop(table)
        assert found == expected


def test_a_start_alone_makes_a_package_run() -> None:
    with launched() as (store, _):
        apply(store, [start_message(1)])

        assert phases(store)["all/1/1/1"] == "running"


def test_an_attempt_has_started_when_its_start_message_says_so() -> None:
    with launched() as (store, _):
        apply(
            store,
            [{**start_message(1), "time": NOW + 3, "utc_offset": 7200}, state(1, 2, "running")],
        )

        assert [tuple(row) for row in store.connection.execute(
            "select started, utc_offset from attempt where id = 1"
        )] == [(NOW + 3, 7200)]  # fmt: skip


def test_only_packages_that_succeeded_say_how_long_their_kind_takes() -> None:
    with launched() as (store, _):
        failed, killed = end_message(4, "failed", "exit-code"), end_message(5, "killed", "killed")
        ends = [failed, killed, end_message(2, outputs=[output("/c/2", "f2")])]

        applied = apply(store, [{**end, "started": NOW, "ended": NOW + 1} for end in ends])

        assert [len(lengths) for lengths in applied.durations.values()] == [1]


def test_messages_of_unknown_attempts_are_named_and_change_nothing() -> None:
    with launched() as (store, _):
        before = rows(store)

        applied = apply(store, UNKNOWN)

        assert applied.unknown == {99}
        assert rows(store) == before


def test_the_late_end_of_a_lost_attempt_changes_nothing() -> None:
    with launched() as (store, world):
        with store.writing():
            messages.fail(store, 1, [2], reason="lost", message="gone", now=NOW)
        world.schedule()
        world.launch(world.node("localhost"))
        assert phases(store)["all/1/2/1"] == "starting"
        before = rows(store)

        apply(store, reported(2))

        assert rows(store) == before


def test_what_another_node_says_of_an_attempt_does_not_count() -> None:
    with launched() as (store, _):
        before = rows(store)
        with store.writing():
            messages.fail(store, 2, [1], reason="lost", message="gone", now=NOW)
            launches.refuse(store, 2, 2, "disk-full", "no space", now=NOW)
            launches.end_unstarted(store, 2, [5], now=NOW)

        assert rows(store) == before


def test_an_attempt_that_is_lost_too_often_fails() -> None:
    with launched() as (store, world):
        store.connection.execute("update package set restarts = 10 where id = 1")

        with store.writing():
            messages.fail(store, 1, [1, 2], reason="lost", message="gone", now=NOW)

        assert phases(store)["all/1/1/1"] == "failed"
        assert phases(store)["all/1/2/1"] == "ready"
        del world


def test_a_kill_that_comes_too_late_says_so() -> None:
    with launched() as (store, _):
        apply(store, [end_message(5, outputs=[output("/c/5", "f5")])])

        row = store.connection.execute("select phase, request from package where id = 5").fetchone()
        assert tuple(row) == ("done", "kill failed: it had already ended")


def test_a_refused_launch_cools_off_and_comes_back_by_itself() -> None:
    with launched() as (store, world):
        with store.writing():
            launches.refuse(store, 1, 1, "disk-full", "no space", now=NOW)
        assert phases(store)["all/1/1/1"] == "cooloff"

        world.schedule()  # the world's clock is beyond its time by now

        assert phases(store)["all/1/1/1"] == "assigned"
        assert faults(store) == {}


def test_a_refused_launch_that_is_to_be_killed_is_canceled() -> None:
    with launched() as (store, _):
        with store.writing():
            launches.refuse(store, 1, 5, "disk-full", "no space", now=NOW)

        assert phases(store)["all/1/5/1"] == "canceled"
        assert faults(store) == {}


def test_a_merge_of_many_inputs_starts_with_the_last_of_them(store: Store) -> None:
    names = [f"f{n}" for n in range(300)]
    makers = [simple(outputs=[name]) for name in names]
    submitted(store, job("many", stage(*makers), stage(simple(inputs=names))))
    world = World(store, cpus=300)
    node = world.node("localhost")
    world.schedule()
    for _ in range(30):
        world.launch(node)
    world.order(node)
    for attempt in list(node.attempts):
        node.end(attempt, "successful")

    world.deliver(node, node.spool[:-1])
    assert phases(store)["many/2/1/1"] == "waiting"
    world.deliver(node, node.spool)

    assert phases(store)["many/2/1/1"] == "ready"
    assert faults(store) == {}


def test_a_suspended_package_says_why_and_a_request_for_it_is_done() -> None:
    with launched() as (store, _):
        apply(store, [start_message(1)])
        store.connection.execute("update package set request = 'pause' where id = 1")
        assert launches.requested(store, 1) == {1: "pause"}

        apply(store, [state(1, 2, "suspended")])

        row = store.connection.execute("select phase, note, request from package where id = 1")
        assert tuple(row.fetchone()) == ("suspended", "it is suspended", None)
        assert launches.requested(store, 1) == {}


def test_a_node_that_comes_back_has_its_packages_in_the_phase_they_told_last() -> None:
    with launched() as (store, world):
        apply(store, [start_message(1), state(1, 2, "suspended"), start_message(2)])
        node = world.node("localhost")
        node.attempts = dict.fromkeys(node.attempts, "running")
        world.unlink(node)
        assert phases(store)["all/1/1/1"] == "unreachable"

        node.attempts = dict.fromkeys(range(1, 7), "running")
        world.link(node)

        assert [phases(store)[f"all/1/{line}/1"] for line in (1, 2)] == ["suspended", "running"]


def test_progress_counts_in_the_order_of_the_attempt_and_goes_with_its_end() -> None:
    with launched() as (store, _):
        apply(store, [start_message(1), progress(1, 5, 50.0, eta=NOW + 65.0)])
        apply(store, [progress(1, 3, 30.0)])

        row = store.connection.execute("select percent, eta from progress").fetchone()
        assert tuple(row) == (50.0, NOW + 5 + 60)

        apply(store, [end_message(1, "failed", "exit-code")])
        assert store.connection.execute("select count(*) from progress").fetchone()[0] == 0
        assert faults(store) == {}


def test_a_node_whose_clock_is_a_day_ahead_tells_times_of_ours() -> None:
    day = 86400.0
    with launched() as (store, _):
        store.connection.execute("update node set clock = ?", [day])
        ahead = {"started": NOW + day, "ended": NOW + day + 1}
        end = end_message(1, outputs=[output("/c/1", "f1")])
        binaries = [{**end["binaries"][0], **ahead}]

        apply(store, [{**start_message(1), "time": NOW + day}])
        apply(store, [{**end, **ahead, "binaries": binaries}])

        times = "select started, ended from"
        assert tuple(store.connection.execute(f"{times} attempt where id = 1").fetchone()) == (
            NOW,
            NOW + 1,
        )
        assert tuple(store.connection.execute(f"{times} binary_attempt").fetchone()) == (
            NOW,
            NOW + 1,
        )


def test_partial_output_of_an_early_end_is_there_and_marked() -> None:
    with launched() as (store, _):
        store.connection.execute("update package set request = 'kill partial' where id = 5")
        assert launches.killing(store, 1) == {5: "kill partial"}
        end = end_message(5, "killed", "killed", outputs=[output("/c/5", "f5")])

        apply(store, [{**end, "partial": True}])

        assert phases(store)["all/1/5/1"] == "canceled"
        row = store.connection.execute("select present, partial from file where name = 'f5'")
        assert tuple(row.fetchone()) == (1, 1)
        assert faults(store) == {}


def test_of_a_dropped_package_no_partial_output_is_kept() -> None:
    with launched() as (store, _):
        store.connection.execute("update package set request = 'drop' where id = 5")
        end = end_message(5, "killed", "killed", outputs=[output("/c/5", "f5")])

        apply(store, [{**end, "partial": True}])

        row = store.connection.execute("select present from file where name = 'f5'")
        assert row.fetchone()[0] == 0


def test_states_count_in_the_order_of_the_attempt_when_its_clock_jumps_back() -> None:
    with launched() as (store, _):
        apply(store, [start_message(1)])

        suspended, running = state(1, 4, "suspended"), {**state(1, 5, "running"), "time": NOW - 900}
        apply(store, [suspended, running])

        assert phases(store)["all/1/1/1"] == "running"
        apply(store, [{**state(1, 3, "suspended"), "time": NOW + 900}])
        assert phases(store)["all/1/1/1"] == "running"


def test_a_clock_that_is_days_ahead_makes_no_attempt_long() -> None:
    with launched() as (store, _):
        days = 3 * 86400.0
        rules = {"exit-code": {"tries": 2, "delay": [0.0]}}
        store.connection.execute("update node set clock = ?", [days])
        with store.writing():
            store.change("keep_setting", name="policy", value=json.dumps(rules))
        end = end_message(4, "failed", "exit-code")

        apply(store, [{**start_message(4), "time": NOW + days}])
        apply(store, [{**end, "started": NOW + days, "ended": NOW + days + 1}])

        assert phases(store)["all/1/4/1"] in ("ready", "cooloff", "assigned")
