"""`history` without a selector: actions, outages and failures on all jobs and nodes."""

import time

import pytest

from d0ctl.nodes.transports.transport import Address
from d0ctl.store import lifecycle
from d0ctl.store.nodes import contact, registry
from tests.cli.conftest import Type
from tests.support.building import document, production
from tests.support.rows import change
from tests.support.site import Site


def test_the_history_of_all_has_the_actions_on_jobs_and_nodes_and_failures_by_job(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production())
    site.submit(production("other"))
    d0ctl("hold", "prod", "--reason", "disk is full")
    d0ctl("node", "drain", "localhost", "--reason", "new kernel")
    lifecycle.keep_action(site.store, verb="node drain", target="farm02", actor="d0ctl",
                          note="3 packages failed", packages=0, now=time.time())  # fmt: skip
    for line in (1, 2):
        site.fail(f"other/1/{line}/1")

    page = " ".join(d0ctl("history").stdout.split())
    answer = document(d0ctl("history", "--json").stdout)

    assert "hold prod 8 packages disk is full" in page
    assert "node drain localhost new kernel" in page
    assert "d0ctl node drain farm02 3 packages failed" in page
    assert "other 2 times on localhost 2 packages, 2 failed now last" in page
    assert page.index("disk is full") < page.index("new kernel") < page.index("3 packages failed")
    assert [(action["verb"], action["target"]) for action in answer["actions"]][:3] == [
        ("node drain", "farm02"), ("node drain", "localhost"), ("hold", "prod")]  # fmt: skip
    (failures,) = answer["failures"]
    assert (failures["job"], failures["reason"], failures["count"], failures["failed"]) == (
        "other", "exit-code", 2, 2)  # fmt: skip
    assert answer["since"] is None


def test_failures_with_different_messages_do_not_look_like_one_cause(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production())
    site.fail("prod/1/1/1", detail="exit code 3: no calibration")
    said = "2 different messages"
    assert said not in d0ctl("history").stdout + d0ctl("report", "failures").stdout

    site.fail("prod/1/2/1", detail="exit code 12: no answer")

    assert "2 different messages, the last of a package failed now: " in (
        " ".join(d0ctl("history").stdout.split()))  # fmt: skip
    assert f"one of {said}: " in " ".join(d0ctl("report", "failures").stdout.split())


def test_the_message_is_that_of_a_package_that_is_failed_now(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.fail("prod/1/1/1", detail="exit code 3: no calibration")
    site.fail("prod/1/2/1", detail="exit code 12: no answer")
    d0ctl("retry", "prod/1/2/1")
    site.finish("prod/1/2/1")

    (failure,) = document(d0ctl("history", "--json").stdout)["failures"]
    page = " ".join(d0ctl("history").stdout.split())

    assert failure["message"] == "exit code 3: no calibration"
    assert (failure["failed"], failure["packages"]) == (1, 2)
    assert "the last of a package failed now: exit-code: exit code 3: no calibration" in page
    site.fail("prod/1/3/1", detail="exit code 4: no disk")
    assert "failed now: exit-code: exit code 4: no disk" in d0ctl("history").stdout

    for package in ("prod/1/1/1", "prod/1/3/1"):
        d0ctl("retry", package)
        site.finish(package)
    assert "the last of 3 different messages: exit-code: exit code 4" in d0ctl("history").stdout


def test_a_package_that_failed_again_for_another_reason_counts_once_as_failed_now(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production())
    site.fail("prod/1/1/1", reason="out-of-memory")
    d0ctl("retry", "prod/1/1/1", "--memory", "4GB")
    site.fail("prod/1/1/1", reason="wall-time")

    failures = document(d0ctl("history", "--json").stdout)["failures"]

    assert {one["reason"]: one["failed"] for one in failures} == {
        "out-of-memory": 0, "wall-time": 1}  # fmt: skip


def test_the_history_of_all_may_begin_at_a_time(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.fail("prod/1/1/1")
    d0ctl("hold", "prod", "--reason", "long ago")
    change(site.store, "action", at=time.time() - 7300)
    change(site.store, "attempt", ended=time.time() - 7300)
    change(site.store, "event", at=time.time() - 7300)
    d0ctl("release", "prod", "--reason", "just now")

    late, whole = (d0ctl("history", *words).stdout for words in (["--since", "2h"], []))

    assert "just now" in late and "long ago" not in late and "no failures" in late
    assert "just now" in whole and "long ago" in whole and "1 time on localhost" in whole
    assert document(d0ctl("history", "--since", "2h", "--json").stdout)["failures"] == []


def test_a_failure_on_a_node_that_was_down_belongs_to_the_time_when_it_was_recorded(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production())
    for line in (1, 2):
        site.fail(f"prod/1/{line}/1", ended=time.time() - 7300)

    page = " ".join(d0ctl("history", "--since", "1h").stdout.split())
    (failures,) = document(d0ctl("history", "--since", "1h", "--json").stdout)["failures"]
    late = d0ctl("history", "--since", "1h", "--node", "nowhere").stdout

    assert "prod 2 times on localhost 2 packages, 2 failed now last" in page
    assert ", recorded " in page
    assert failures["count"] == 2 and failures["recorded"] > failures["last"]
    assert "no failures" in late


def outage(site: Site, name: str, began: float, ended: float | None, error: str) -> None:
    """Let a node be down for a time."""
    node = registry.named(site.store, name).id
    with site.store.writing():
        contact.down(site.store, node, error, now=began)
        contact.down(site.store, node, "still " + error, now=began + 1)
        if ended is not None:
            contact.up(site.store, node, {"cpus": 4}, now=ended)


def test_the_history_of_all_says_when_nodes_were_down_also_of_removed_ones(
    site: Site, d0ctl: Type
) -> None:
    now = time.time()
    for name in ("n3", "n4"):
        registry.add(site.store, Address(name, "ssh", name), cpus=4)
    outage(site, "n3", now - 6000, now - 4500, "connection refused")
    outage(site, "n4", now - 600, None, "no route to host")

    page = " ".join(d0ctl("history").stdout.split())
    of_node = d0ctl("history", "--node", "n3").stdout
    why = " ".join(d0ctl("why", "n3").stdout.split())
    late = document(d0ctl("history", "--since", "1h", "--json").stdout)["outages"]
    d0ctl("node", "remove", "n4")
    all_of_them = document(d0ctl("history", "--json").stdout)["outages"]

    assert "for 25 min 00 s connection refused" in page and "still, for 10 min" in page
    assert page.index("connection refused") < page.index("no route to host")
    assert "connection refused" in of_node and "no route to host" not in of_node
    assert "for 25 min 00 s: connection refused" in why
    assert [(row["node"], row["ended"], row["error"]) for row in late] == [
        ("n4", None, "no route to host")]  # fmt: skip
    assert [(row["node"], row["became"]) for row in all_of_them] == [
        ("n4", "removed"), ("n3", "up")]  # fmt: skip


def test_the_history_of_all_says_when_the_disk_of_a_node_was_full(site: Site, d0ctl: Type) -> None:
    now = time.time()
    registry.add(site.store, Address("n3", "ssh", "n3"), cpus=4)
    node = registry.named(site.store, "n3").id
    with site.store.writing():
        for back, free in ((900, 500), (600, 1), (590, 2), (500, 500)):
            facts = {"cpus": 4, "disk_total": 10**9, "disk_free": free * 10**6}
            contact.up(site.store, node, facts, now=now - back)
        contact.note_free_disk(site.store, node, 3 * 10**6, now=now - 60)

    page = " ".join(d0ctl("history").stdout.split())
    full = " ".join(d0ctl("why", "n3").stdout.split())
    with site.store.writing():
        contact.down(site.store, node, "no answer", now=now - 50)
        contact.up(site.store, node, facts, now=now - 40)
    outages = document(d0ctl("history", "--json").stdout)["outages"]

    assert "for 1 min 40 s took no packages" in page and "still, for 1 min" in page
    assert "disk full at" in page and "for 1 min 40 s: took no packages" in full
    assert [(row["kind"], row["became"]) for row in outages] == [
        ("down", "up"), ("full", "up"), ("full", "up")]  # fmt: skip


def test_a_full_disk_ends_when_its_node_is_removed(site: Site, d0ctl: Type) -> None:
    registry.add(site.store, Address("n3", "ssh", "n3"), cpus=4)
    facts = {"cpus": 4, "disk_total": 10**9, "disk_free": 1}
    with site.store.writing():
        contact.up(site.store, registry.named(site.store, "n3").id, facts, now=time.time() - 60)
    d0ctl("node", "remove", "n3")

    (row,) = document(d0ctl("history", "--json").stdout)["outages"]
    assert (row["kind"], row["became"]) == ("full", "removed") and row["ended"]


def test_the_history_of_a_node_has_its_actions_and_failures(site: Site, d0ctl: Type) -> None:
    registry.add(site.store, Address("n3", "ssh", "n3"), cpus=4)
    site.submit(production())
    d0ctl("hold", "prod", "--reason", "disk is full")
    d0ctl("release", "prod")
    d0ctl("node", "drain", "n3", "--reason", "new kernel")
    site.fail("prod/1/1/1")

    there, here = (d0ctl("history", "--node", name).stdout for name in ("n3", "localhost"))

    assert "new kernel" in there and "disk is full" not in there and "no failures" in there
    assert "no actions" in here and "1 time on localhost" in here
    assert d0ctl("history", "n3").stdout == there
    (action,) = document(d0ctl("history", "n3", "--json").stdout)["actions"]
    assert action["verb"] == "node drain"
    refused = d0ctl("history", "n3", "--node", "n3").stderr
    assert refused == "d0ctl: there is no job `n3`\n`n3` is a node: d0ctl why n3\n"
    site.submit(production("n3"))
    assert "submit" in d0ctl("history", "n3").stdout
    assert d0ctl("history", "--node", "n3").stdout == there


def test_the_history_of_a_removed_node_is_named(site: Site, d0ctl: Type) -> None:
    registry.add(site.store, Address("n3", "ssh", "n3"), cpus=4)
    d0ctl("node", "remove", "n3", "--yes")

    refused = d0ctl("history", "n3")

    assert (refused.exit_code, refused.stderr.splitlines()[1]) == (3, "d0ctl history --node n3")
    assert "node remove" in d0ctl("history", "--node", "n3").stdout


def test_the_history_of_all_counts_the_jobs_of_archives_if_that_is_asked(
    site: Site, d0ctl: Type
) -> None:
    for name in ("old", "new"):
        site.submit(production(name))
        site.fail(f"{name}/1/1/1")
        d0ctl("kill", name, "--yes")
        change(site.store, "job", {"name": name}, ended=time.time())
    before = document(d0ctl("history", "--json").stdout)
    d0ctl("archive", "old", "--as", "spring", "--yes")

    alone = document(d0ctl("history", "--json").stdout)
    after = document(d0ctl("history", "--with-archives", "--json").stdout)
    page = d0ctl("history", "--with-archives", "--since", "1h")
    of_node = document(d0ctl("history", "localhost", "--with-archives", "--json").stdout)

    assert [row["job"] for row in alone["jobs"]] == ["new"]
    assert (after["jobs"], after["failures"]) == (before["jobs"], before["failures"])
    assert [row["verb"] for row in after["actions"]].count("kill") == 2
    assert "old" in page.stdout and page.stderr == ""
    assert [row["job"] for row in of_node["failures"]] == ["new", "old"]


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (["prod", "--with-archives"], "counts all jobs: leave out the job"),
        (["--reason", "exit-code"], "filters need a selector\nd0ctl history '*'"),
        (["prod", "--since", "8h"], "`--since` takes no job\nd0ctl history --since 8h"),
        (["--since", "soon"], "`--since`: `soon` is not a time"),
    ],
)
def test_a_history_of_all_that_makes_no_sense_is_refused(
    site: Site, d0ctl: Type, words: list[str], answer: str
) -> None:
    site.submit(production())

    result = d0ctl("history", *words)

    assert result.exit_code == 2
    assert answer in result.stderr
