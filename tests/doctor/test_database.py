"""Each rule of the database is broken by hand, and the fault is reported."""

import json
import threading
import time
from pathlib import Path

import pytest

from d0ctl.jobfile.spec import JobSpec
from d0ctl.store import open_store
from d0ctl.store.checks import check
from d0ctl.store.nodes import leases
from d0ctl.store.nodes.holder import holder
from d0ctl.store.nodes.leases import LEASE
from tests.doctor.conftest import Found, damage
from tests.support.building import job, line, package, production
from tests.support.rows import change, spoil
from tests.support.site import Site

ANYHOW = "drop trigger package_refused"
"""From here on a package may go from any phase to any other."""


def test_a_healthy_home_has_no_findings(site: Site, found: Found) -> None:
    site.submit(production())
    site.launch("prod/1/1/1")
    site.fail("prod/1/2/1")
    damage(site, "update node set base = null")  # there is nothing of it to be looked at

    assert found() == []


TASK = [
    "insert into task (job_id, text, rules, since) values (1, x'', '{}', 1)",
    "insert into dataset (task_id, seq, type, name, since) values (1, 1, 'input', 'raw', 1)",
    "insert into content (dataset_id, output, seq, name, status) values (1, 0, 1, 'a', 'ready')",
]
"""A task with a file."""

SPLIT = [*TASK, "update content set status = 'picked', events = 20, next_event = 10",
         "update task_cursor set event = 1000"]  # fmt: skip
"""A task with a file that is split into ranges of events."""


@pytest.mark.parametrize(
    ("rule", "subject", "detail", "statements"),
    [
        ("counts", "prod/1", "4 counted as ready, really 3",
         ["update stage_count set n = 4 where phase = 'ready' and stage_id = 1"]),
        ("ready", "prod", "4 given to the scheduler as ready, really 3",
         ["update requirement set ready = ready + 1 where id = 1"]),
        ("acknowledged", "prod/1", "counts 2 acknowledged failures, really 0",
         ["update stage set acknowledged = 2 where id = 1"]),
        ("lines", "prod/1", "has 9 lines, really 3", ["update stage set lines = 9 where id = 1"]),
        ("missing", "prod/1/1/2", "waits for 7 things, really 2",
         ["update package set missing = 7 where id = 2"]),
        ("early", "prod/2/1/1", "has 5 inputs and awaits 0, really 0 and 3",
         ["update package set early = 1, gathered = 5 where stage_id = 2"]),
        ("places", "prod/1/1/1", "is assigned on no node",
         ["update package set phase = 'assigned' where id = 1"]),
        ("places", "prod/1/1/1", "is ready, and waits for 1 things",
         ["update package set missing = 1 where id = 1"]),
        ("places", "prod/1/1/1", "is ready, and waits for copies",
         ["update package set staging = 1 where id = 1"]),
        ("places", "prod/1/1/1", "cools off, and nobody knows until when",
         [ANYHOW, "update package set phase = 'cooloff' where id = 1"]),
        ("places", "prod/1/1/1", "is ready, and has a time for the next try",
         ["update package set not_before = 5 where id = 1"]),
        ("places", "prod/1/1/1", "is held by nobody",
         ["update package set phase = 'held' where id = 1"]),
        ("places", "prod/1/1/1", "is ready, and counts as paused",
         ["update package set parked = 1 where id = 1"]),
        ("places", "prod/1/1/1", "does not start early, and counts its inputs",
         ["update package set awaited = 1 where id = 1"]),
        ("staging", "prod/1/1/1", "waits for 2 copies, really 0",
         ["update package set phase = 'assigned', node_id = 1, staging = 2 where id = 1"]),
        ("streamed_inputs", "the end of a list", "is to be sent to a package that does not run",
         ["insert into streamed_input (package_id, file_id, node_id) values (1, 0, 1)"]),
        ("attempts", "prod/1/1/1", "is ready with 1 live attempts",
         ["insert into attempt (package_id, number, node_id, node_name, launched)"
          " values (1, 1, 1, 'x', 1.0)"]),
        ("attempts", "prod/1/1/1", "has had 3 attempts, really 0",
         ["update package set attempts = 3 where id = 1"]),
        ("attempts", "prod/1/1/1", "has an attempt that ended without an outcome, or the reverse",
         ["insert into attempt (package_id, number, node_id, node_name, launched, outcome)"
          " values (1, 1, 1, 'x', 1.0, 'lost')", "update package set attempts = 1 where id = 1"]),
        ("history", "prod/1/1/1", "is ready, and its history ends with done",
         ["insert into event (at, package_id, old, new) values (1, 1, 'running', 'done')"]),
        ("strays", "prod/package 1", "is of no requirement",
         ["update package set requirement_id = 99 where id = 1"]),
        ("strays", "prod/package 1", "is not of the stage of its line",
         ["update package set stage_id = 2 where id = 1"]),
        ("strays", "package 1", "is of no job", ["update package set job_id = 9 where id = 1"]),
        ("needs", "prod/1/1/2", "is wrong about who makes `gen-1`",
         ["update input set own = 1 where package_id = 2"]),
        ("needs", "second/1/1/1", "reads `all` of a job that is not known to be needed",
         ["delete from need"]),
        ("dropped", "prod/1/1/1", "is ready in a dropped line",
         ["update line set dropped = 1 where id = 1"]),
        ("dropped", "prod/1/1/1", "is dropped, and its outputs are not",
         ["update package set phase = 'dropped' where id = 1"]),
        ("copies", "prod:gen-1", "is present, but there is no copy of it",
         ["update file set present = 1 where name = 'gen-1'"]),
        ("copies", "prod:gen-1", "is not present, but there is a copy of it",
         ["insert into location (file_id, cluster_id, path, made) values (1, 1, '/x', 1)"]),
        ("makers", "file 1 (gen-1)", "is of no job", ["update file set job_id = 9 where id = 1"]),
        ("makers", "file 1 (gen-1)", "came of a pattern that is none",
         ["update file set pattern_id = 2 where id = 1"]),
        ("makers", "file 1 (gen-1)", "is made in another job than its own",
         ["update file set job_id = 2 where id = 1"]),
        ("parked", "prod:gen-1", "is to be copied, and nobody tries, though it is there",
         ["insert into location (file_id, cluster_id, path, made) values (1, 1, '/x', 1)",
          "insert into transfer (file_id, cluster_id, wanted, not_before) values (1, 1, 1, 1e13)"]),
        ("transferring", "prod/1/1/1", "transfers results, of which none is under way",
         [ANYHOW, "update package set phase = 'transferring' where id = 1"]),
        ("bad_nodes", "node localhost", "drained by d0ctl, and not drained",
         ["insert into bad_node (node_id, job_id, stage_id, since, began, evidence,"
          " next_try) values (1, 1, 1, 1, 1, '{}', 9)"]),
        ("node_records", "node localhost", "2 failures of stage 1 in a row, of 1",
         ["insert into node_record (stage_id, node_id, job_id, failed, streak)"
          " values (1, 1, 1, 1, 2)"]),
        ("progress", "prod/1/1/1", "has progress, and is ready",
         ["insert into progress (package_id, attempt_id, seq, at, binary, line, cpu, rss)"
          " values (1, 1, 1, 1, 1, '', 0, 0)"]),
        ("requests", "prod/1/1/1", "is asked to pause, and is ready",
         ["update package set request = 'pause' where id = 1"]),
        ("ids", "table file", "the next number is 1, and 17 was given already",
         ["update sqlite_sequence set seq = 0 where name = 'file'"]),
        ("ids", "table job", "the next number is 3, and 2199023255552 was given already",
         ["update site set generation = 2"]),
        ("dataset_counts", "dataset raw", "counts 2 files as ready, and has 1",
         [*TASK, "update dataset_count set n = 2 where status = 'ready'"]),
        ("dataset_files", "dataset raw", "file a is picked, and its package has ended",
         [*TASK, "update content set status = 'picked'",
          "update task_cursor set event = 1000"]),
        ("event_ranges", "dataset raw",
         "events 1 to 9 of file a are sent, and their package has ended",
         [*SPLIT, "insert into event_range (content_id, dataset_id, first, last, status)"
                  " values (1, 1, 1, 9, 'sent')"]),
        ("split_files", "dataset raw", "file a is picked, and no range of its events is", SPLIT),
        ("texts", "table node", "localhost is no JSON", ["update node set facts = '{'"]),
        ("foreign_keys", "table package", "row 1 points at a missing line",
         ["delete from line where id = 1"]),
        ("schema", "trigger package_moved", "is missing", ["drop trigger package_moved"]),
        ("schema", "index package_ready", "differs from what the migrations made",
         ["drop index package_ready", "create index package_ready on package (requirement_id)"]),
        ("schema", "trigger mine", "is not from d0ctl, and may change rows",
         ["create trigger mine after insert on job begin delete from job; end"]),
    ],
    ids=lambda value: value.partition(" ")[0] if isinstance(value, str) else "",
)  # fmt: skip
def test_violations_of_a_rule_are_reported(
    site: Site, found: Found, rule: str, subject: str, detail: str, statements: list[str]
) -> None:
    site.submit(production())
    site.submit(production_of_second())
    damage(site, *statements)

    answer = [(finding.check, finding.subject, finding.detail) for finding in found()]

    assert (rule, subject, detail) in answer
    assert all(finding.advice and not finding.heals for finding in found())


def production_of_second() -> JobSpec:
    """A job that reads what the first one makes."""
    return job(("read", [line(package("out", needs=["prod:all"]))]), name="second")


def test_every_rule_is_broken_by_a_test() -> None:
    cases = test_violations_of_a_rule_are_reported.pytestmark[0].args[1]  # type: ignore[attr-defined]
    broken = {f"check_{rule}" for rule, *_ in cases}

    assert set(check.CHECKS) - broken == {"check_integrity", *check.LASTING}


def test_a_copy_that_waits_for_one_on_this_machine_is_no_fault(site: Site, found: Found) -> None:
    """As when the node that has the file is down."""
    site.submit(production())
    damage(site,
        "insert into location (file_id, cluster_id, path, made) values (1, 2, '/x', 1)",
        "insert into transfer (file_id, cluster_id, wanted, not_before)"
        " values (1, 1, 1, 1), (1, 2, 1, 1e13)")  # fmt: skip

    assert "parked" not in {finding.check for finding in found()}


def test_a_damaged_file_is_reported_and_does_not_end_the_check(site: Site, found: Found) -> None:
    site.submit(production())
    spoil(site.store.home.database, "event_of_package")
    damage(site, "update stage set lines = 9 where id = 1")

    with open_store(site.store.home) as store:
        answer = check.faults(store)

    assert {"integrity", "lines"} <= {finding.check for finding in answer}
    assert any(
        "event_of_package" in finding.detail or "malformed" in finding.detail for finding in answer
    )


@pytest.mark.parametrize(
    ("rule", "statement"),
    [("released", "update package set missing = 0 where id = 2"),
     ("ended", "update job set ended = 1")],
)  # fmt: skip
def test_faults_that_a_turn_repairs_count_only_while_a_daemon_runs(
    site: Site, found: Found, rule: str, statement: str
) -> None:
    site.submit(production())
    damage(site, statement)
    assert rule not in {finding.check for finding in found()}

    with site.store.writing():
        leases.take_lease(site.store, LEASE, now=time.time())

    assert rule in {finding.check for finding in found()}


def test_a_submission_that_was_interrupted_heals(site: Site, found: Found) -> None:
    site.submit(production())
    damage(site, "update job set visible = 0, submitter = 'boot 17 4'")

    (finding,) = found()

    assert (finding.check, finding.subject, finding.heals) == ("hidden", "prod", True)
    assert finding.detail == "is incomplete: process 17 is gone"


def test_a_submission_under_way_is_no_fault(site: Site, found: Found) -> None:
    site.submit(production())
    damage(site, f"update job set visible = 0, submitter = '{holder()}'")

    assert found() == []


def test_packages_are_counted_right_while_they_move(site: Site) -> None:
    from d0ctl.store.checks.check import Count

    site.submit(production(lines=20))
    count = Count(site.store)
    after, paths = 0, [f"prod/1/{i}/1" for i in range(1, 21)]

    while (upto := count.take(after, 7)) is not None:
        after = upto
        for _ in range(4):
            if paths:
                site.launch(paths.pop())

    assert list(count.settle()) == []
    assert after > 20


def test_the_check_never_keeps_a_writer_waiting(site: Site) -> None:
    site.submit(production(lines=300))
    site.submit(production_of_second())
    stop, looks = threading.Event(), 0

    def look() -> None:
        nonlocal looks
        with open_store(site.store.home, read_only=True) as store:
            store.run_script("temporary_tables")
            while not stop.is_set():
                assert check.faults(store) == []
                looks += 1

    thread = threading.Thread(target=look)
    thread.start()
    with open_store(site.store.home, patience_ms=0) as store:
        number = 0
        while number < 50 or (not looks and thread.is_alive()):
            number += 1
            with store.writing():
                damage_nothing = json.dumps({"at": number})
                change(store, "job", title=damage_nothing)
    stop.set()
    thread.join()

    assert looks > 0


def test_every_rule_is_on_the_page_of_the_doctor() -> None:
    page = (Path(__file__).parents[2] / "docs" / "doctor.md").read_text()

    named = {name.removeprefix("check_") for name in check.CHECKS}
    assert [name for name in sorted(named) if f"`{name}`" not in page] == []
