"""Messages in any order, any number of times, early or late: the rows are the same."""

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from d0ctl.store import Store
from d0ctl.store.attempts import messages
from d0ctl.store.attempts.launching import launches
from tests.store.telling import apply, launched, note, progress, state
from tests.support.examples import examples
from tests.support.homes import faults
from tests.support.jobs import NOW, phases
from tests.support.messages import Message, end_message, output, start_message

TABLES = {
    "package": "id, phase, missing, attempt_id, attempts, restarts, request",
    "attempt": "id, wrapper_started, started, ended, outcome, reason, exit_code, message, cpu,"
    " phase, partial",
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


def reported(attempt: int) -> list[Message]:
    """What the wrapper of an attempt says: four go well or badly, one is killed, one goes on."""
    start = start_message(attempt)
    if attempt == 1:
        run = {"started": NOW + 2}
        running, suspended = (
            {**state(1, 2, "running"), **run},
            {**state(1, 4, "suspended"), **run},
        )
        first = [{**start, "phase": "staging-in"}, running, progress(1, 3, 10.0)]
        return [*first, suspended, note(1, 5), progress(1, 6, 20.0), note(1, 7)]
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
        world.hand_out(world.node("localhost"))
        assert phases(store)["all/1/2/1"] == "starting"
        before = rows(store)

        apply(store, reported(2))

        assert rows(store) == before


def test_reports_of_another_node_about_an_attempt_do_not_count() -> None:
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
