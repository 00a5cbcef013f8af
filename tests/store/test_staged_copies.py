"""Copies that a wrapper brings or stores by itself."""

import json
from typing import Any

import pytest

from d0ctl.jobfile.spec import Acquire, Disposition, InputSpec
from d0ctl.store import Store
from d0ctl.store.attempts import messages
from d0ctl.store.attempts.launching import launches
from d0ctl.store.clusters import capacity
from d0ctl.store.jobs import unneeded_files
from tests.store.bad_nodes import StillSite
from tests.store.copying import copies, made, purged, work
from tests.support.homes import faults
from tests.support.jobs import NOW, job, simple, stage, submitted
from tests.support.messages import end_message
from tests.support.rows import change, read, value
from tests.support.site import Site


def end(store: Store, number: int, outcome: str) -> None:
    """End the attempt of the package of this number in some way."""
    attempt = store.connection.execute(
        "select attempt_id from package where id = ?", [number]
    ).fetchone()[0]
    reason = None if outcome == "successful" else "exit-code"
    with store.writing():
        messages.apply(store, [end_message(attempt, outcome, reason)], now=NOW)


def url(name: str) -> InputSpec:
    """An input that the wrapper brings."""
    return InputSpec(f"/jobs/{name}", made=False, locator=f"http://far/{name}")


def launched(site: Site, name: str) -> list[dict[str, Any]]:
    """The launches that a node gets."""
    node = site.node(name)
    site.schedule()
    site.hand_out(node)
    found = [what for kind, what in node.orders if kind == "launch"]
    site.order(node)
    return found


def staged(site: Site, name: str, attempt: int, digit: str = "7") -> None:
    """Let an attempt end well that has brought a file; its checksum consists of this digit."""
    node = site.node(name)
    answer = end_message(attempt)
    answer["staged"] = [
        {
            "locator": "http://far/raw",
            "path": f"/{name}/cache/in/u-1/raw",
            "size": 7,
            "checksum": "sha256:" + digit * 64,
        }
    ]
    node.attempts[attempt] = "ended"
    site.deliver(node, [answer])


def test_files_that_a_wrapper_fetched_are_recorded_and_go_with_their_last_reader(
    store: Store,
) -> None:
    submitted(store, job("one", [simple(inputs=[url("raw")]), simple(inputs=[url("raw")])]))
    site = Site.of(store, cpus=2)
    first, second = launched(site, "localhost")
    assert first["inputs"][0]["locator"] == "http://far/raw"
    assert first["inputs"][0]["path"] is None

    staged(site, "localhost", first["attempt"])
    with store.writing():
        unneeded_files.clean_up(store, now=NOW)
    assert copies(store, "/jobs/raw") == ["/localhost/cache/in/u-1/raw"]
    assert purged(store) == []

    staged(site, "localhost", second["attempt"])
    with store.writing():
        unneeded_files.clean_up(store, now=NOW)
    assert purged(store) == ["/localhost/cache/in/u-1/raw"]
    assert faults(store) == {}


def test_a_file_was_replaced_before_the_first_launch_that_read_other_contents(
    store: Store,
) -> None:
    submitted(store, job("one", [simple(inputs=[url("raw")]) for _ in range(3)]))
    site = StillSite.of(store, "far", cpus=1)
    first = launched(site, "localhost")[0]["attempt"]
    site.at += 10.0
    second = launched(site, "far")[0]["attempt"]
    times = dict(read(store, "attempt", "id", "launched"))
    assert times[first] < times[second]
    with store.writing():
        change(store, "file", {"name": "/jobs/raw"}, checksum="sha256:" + "7" * 64)

    staged(site, "far", second, "8")
    assert value(store, "file", "replaced", name="/jobs/raw") == times[second]
    staged(site, "localhost", first, "8")

    assert value(store, "file", "replaced", name="/jobs/raw") == times[first]
    assert set(read(store, "read_content", "replaced_checksum", by="package_id")) == {(None,)}


def test_a_copy_that_jobs_share_goes_with_the_last_of_them(store: Store) -> None:
    for name in ("one", "other"):
        submitted(store, job(name, [simple(inputs=[url("raw")])]))
    site = Site.of(store, cpus=2)
    first, second = launched(site, "localhost")

    with store.writing():
        store.connection.execute("update package set changed = changed")
    staged(site, "localhost", first["attempt"])
    with store.writing():
        store.connection.execute(
            "insert into location (file_id, cluster_id, path, node_id, made, shared)"
            " select (select max(id) from file), cluster_id, path, node_id, made, 1 from location"
        )
        unneeded_files.clean_up(store, now=NOW)
    assert purged(store) == []

    staged(site, "localhost", second["attempt"])
    with store.writing():
        unneeded_files.clean_up(store, now=NOW)
    assert purged(store) == ["/localhost/cache/in/u-1/raw"]


def test_a_copy_that_jobs_share_counts_once_in_a_cache_until_the_last_of_them(store: Store) -> None:
    for name in ("one", "other"):
        submitted(store, job(name, [simple(inputs=[url("raw")])]))
    site = Site.of(store, cpus=2)
    first, second = launched(site, "localhost")
    with store.writing():
        change(store, "cluster", capacity=100)
    staged(site, "localhost", first["attempt"])
    with store.writing():
        store.connection.execute(
            "insert into location (file_id, cluster_id, path, node_id, made, shared)"
            " select (select max(id) from file), cluster_id, path, node_id, made, 1 from location"
        )
    counted = []
    for launch in (None, second):
        if launch is not None:
            staged(site, "localhost", launch["attempt"])
        with store.writing():
            capacity.count(store)
            counted.append(value(store, "cluster", "cached", id=1))
            unneeded_files.clean_up(store, now=NOW)
            counted.append(value(store, "cluster", "cached", id=1))

    assert counted == [7, 7, 7, 0]


def test_the_site_says_how_long_a_transfer_may_take(store: Store) -> None:
    answer = json.dumps({"transfer-idle": 60.0, "transfer-timeout": 600.0, "transfer-retry": 0.0})
    with store.writing():
        store.change("keep_setting", name="defaults", value=answer)
    submitted(store, job("one", [simple(outputs=[made("a", locator="root://store/a")])]))

    (launch,) = launched(Site.of(store, cpus=2), "localhost")

    assert launch["transfer"] == {"commands": {}, "idle": 60.0, "timeout": 600.0, "retry": 0.0}


def test_stored_outputs_are_recorded(store: Store) -> None:
    output = made("a", Disposition.STORE, locator="root://store/a")
    submitted(store, job("one", [simple(outputs=[output])]))
    site = Site.of(store, cpus=2)
    (launch,) = launched(site, "localhost")
    assert launch["deliver"] == [{"name": "a", "locator": "root://store/a"}]

    answer = end_message(launch["attempt"])
    answer["outputs"] = [
        {"name": "a", "path": "/localhost/cache/1/a", "size": 7, "checksum": "sha256:" + "7" * 64}
    ]
    answer["stored"] = [{"name": "a", "locator": "root://store/a"}]
    site.node("localhost").attempts[launch["attempt"]] = "ended"
    site.deliver(site.node("localhost"), [answer])
    with store.writing():
        unneeded_files.clean_up(store, now=NOW)

    row = store.connection.execute("select stored, present from file").fetchone()
    assert tuple(row) == ('["root://store/a"]', 0)
    assert purged(store) == ["/localhost/cache/1/a"]


@pytest.mark.parametrize(
    ("locator", "acquire", "there"),
    [
        ("/nfs/raw", Acquire.NONE, {"path": "/nfs/raw"}),
        ("/nfs/raw", Acquire.PRE_FETCH, {"path": None, "locator": "/nfs/raw"}),
        ("farm:/data/raw", Acquire.PRE_FETCH, {"path": "/data/raw"}),
    ],
)
def test_a_path_on_the_node_is_sent_to_the_wrapper(
    store: Store, locator: str, acquire: Acquire, there: dict[str, Any]
) -> None:
    given = InputSpec("/jobs/raw", made=False, locator=locator, acquire=acquire, size=7)
    submitted(store, job("one", [simple(inputs=[given], nodes=("farm",))]))

    (launch,) = launched(Site.of(store, "farm", cpus=2), "farm")

    (entry,) = launch["inputs"]
    assert {name: entry.get(name) for name in there} == there
    assert entry["size"] == 7


def test_a_path_on_another_node_is_carried(store: Store) -> None:
    given = InputSpec("/jobs/raw", made=False, locator="barn:/data/raw")
    submitted(store, job("one", [simple(inputs=[given], nodes=("farm",))]))
    site = Site.of(store, "farm", "barn", cpus=2)

    assert launched(site, "farm") == []
    wanted = store.connection.execute("select file_id, cluster_id from transfer").fetchall()
    assert [tuple(row) for row in wanted] == [(1, site.node("farm").cluster)]


def test_a_repeated_end_of_a_staged_attempt_changes_nothing(store: Store) -> None:
    submitted(store, job("two", stage(simple(outputs=["a"])), stage(simple(inputs=["a"]))))
    site = Site.of(store, cpus=2)
    work(store, site)
    before = purged(store)

    assert work(store, site) == []
    assert purged(store) == before
    assert launches.killing(store, 1) == {}


def work_of_an_end(store: Store, number: int) -> int:
    """How far SQLite counts at the end of an attempt that has brought so many files."""
    inputs = [url(f"{number}-{n}") for n in range(number)]
    submitted(store, job(f"merge{number}", [simple(inputs=inputs)]))
    site = Site.of(store, cpus=1)
    (launch,) = launched(site, "localhost")
    answer = end_message(launch["attempt"])
    answer["staged"] = [
        {"locator": entry.locator, "path": f"/in/{n}", "size": 7, "checksum": "sha256:" + "7" * 64}
        for n, entry in enumerate(inputs)
    ]
    counted = [0]

    def count_on() -> int:
        counted[0] += 1
        return 0

    store.connection.set_progress_handler(count_on, 1)
    with store.writing():
        messages.apply(store, [answer], now=NOW)
    store.connection.set_progress_handler(None, 0)
    return counted[0]


def test_the_end_of_a_merge_costs_the_same_for_each_file_that_it_brought(store: Store) -> None:
    few, many = work_of_an_end(store, 100), work_of_an_end(store, 1_000)

    assert value(store, "location", "count(*)") == 1_100
    assert many < 15 * few
