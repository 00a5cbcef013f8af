"""Nodes that a job excludes, and counts that do not depend on the order of ends."""

import json

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from d0ctl.store import Store
from d0ctl.store.attempts import node_record
from tests.store.bad_nodes import StillSite, set_up
from tests.support.jobs import NOW, job, submitted
from tests.support.rows import read


def excluding(store: Store) -> StillSite:
    """A site where a job has failed on one node again and again, though not in a row."""
    with store.writing():
        store.change("keep_setting", name="policy", value=json.dumps({"hook": {"tries": 9}}))
        store.change("keep_setting", name="bad-nodes", value=json.dumps({"failures": 0}))
    return set_up(store, "bad", packages=40)


def test_failed_packages_go_elsewhere_once_their_job_excludes_the_node(store: Store) -> None:
    site = excluding(store)
    for _ in range(6):
        site.round("bad", reason="hook")
    assert [row.name for row in node_record.exclusions(store, 1)] == ["bad"]
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
def test_counts_do_not_depend_on_how_ends_are_batched(
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
        store.change("forget_node_records_of_node", node=1)
        store.change("forget_job_node_records_of_node", node=1)
        for size in [*sizes, len(ends)]:
            batch, rest = rest[:size], rest[size:]
            node_record.keep(store, reversed(batch))
    found = store.rows("streaks", stages="[1]")
    whole = store.rows("job_node_records", job=1)

    row: list[node_record.Ended] = []
    for end in ends:
        if end.counts():
            row = [] if end.reason is None else [*row, end]
    if row:
        (node,) = found
        assert (node["streak"], node["last"]) == (len(row), row[-1].ended)
    else:
        assert found == []
    counted = [end for end in ends if end.counts(or_gone=True)]
    tallies = [(tally["successful"], tally["failed"]) for tally in whole]
    successful = sum(end.reason is None for end in counted)
    assert tallies == ([(successful, len(counted) - successful)] if counted else [])


def test_failures_in_a_row_began_with_the_first_one_in_whatever_order_they_arrive(
    store: Store,
) -> None:
    set_up(store, "one")
    end = node_record.Ended(1, 1, 1, 1, NOW + 2.0, 0.1, "exit-code")

    with store.writing():
        node_record.keep(store, [end])
        node_record.keep(store, [replace(end, package=2, ended=NOW + 1.0)])

    assert read(store, "node_record", "streak", "since", by="node_id") == [(2, NOW + 1.0)]
