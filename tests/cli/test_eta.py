"""`d0ctl eta`, and the estimates that other commands print."""

import time
from datetime import datetime
from pathlib import Path

import pytest
from msgspec.structs import replace

from d0ctl.model import Address
from d0ctl.store.nodes import contact, placement, registry
from tests.cli.conftest import Type
from tests.cli.test_check import drive
from tests.cli.test_rehearse import JOB
from tests.support.building import document, job, line
from tests.support.building import package as make
from tests.support.printed import check
from tests.support.rows import change, insert
from tests.support.site import Site


def test_the_end_of_a_job_is_estimated_at_its_submission(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    (tmp_path / "mc.yaml").write_text(JOB)
    drive(site)

    submitted = d0ctl("submit", str(tmp_path / "mc.yaml"))

    assert "it ends about" in submitted.stdout.splitlines()[1]
    assert "ends about" in d0ctl("status", "mc").stdout
    assert "`mc/2/1/1` begins about" in d0ctl("why", "mc/2/1/1").stdout
    head, *rows = d0ctl("eta", "mc").stdout.splitlines()
    assert head.startswith("mc  ends about")
    assert "4 h 20 min of run time x CPUs" in rows[0] and "1 h 10 min" in rows[2]
    text = d0ctl("eta", "mc", "--json").stdout
    check(["eta", "--json"], text)
    found = document(text)
    assert found["end"]["low"] < found["end"]["at"] < found["end"]["high"]
    assert [stage["left"] for stage in found["stages"]] == [20, 1]
    package = document(d0ctl("status", "mc/2/1/1", "--json").stdout)
    assert package["estimated_start"]["at"] < package["estimated_end"]["at"]


RAN = {"binary": 1, "started": None, "ended": None, "exit_code": 0, "signal": None,
       "cpu": 0.1, "rss": 3 * 10**9, "gap": 0.0, "disk": None}  # fmt: skip

RECO = """\
job: {name}
stages:
  - name: reco
    lines: [{{for: {{n: [1, 2]}}, run: reco, memory: {memory}}}]
  - name: sum
    lines: [{{run: "true"}}]
"""


@pytest.mark.parametrize("memory", ["1GB", "8GB"])
def test_submit_says_what_packages_take_only_if_it_is_more_memory_than_they_request(
    site: Site, d0ctl: Type, tmp_path: Path, memory: str
) -> None:
    path = tmp_path / "reco.yaml"
    path.write_text(RECO.format(name="first", memory="8GB"))
    site.up(cpus=8, memory=80 * 10**9)
    d0ctl("submit", str(path))
    for path_of_package in ("first/1/1/1", "first/1/2/1"):
        site.launch(path_of_package)
        site.end(path_of_package, rss=3 * 10**9, binaries=[RAN])

    path.write_text(RECO.format(name="next", memory=memory))
    ways = (["submit", "--dry-run"], ["validate"], ["run", "--dry-run"])
    planned = [d0ctl(*words, str(path)).stderr for words in ways]
    submitted = d0ctl("submit", str(path))
    cloned = d0ctl("clone", "next", "--as", "other", "--dry-run").stdout

    assert submitted.stdout == "submitted `next`: 3 packages in 2 stages\n"
    warning = "warning: packages of `reco` request 1.0 GB and use about 3.0 GB of memory"
    path.write_text(RECO.format(name="first", memory=memory))
    updated = [d0ctl("update", "first", *more).stdout for more in (["--dry-run"], [])]
    for said in (*planned, submitted.stderr, cloned, *updated):
        assert said.count(warning) == (memory == "1GB"), said


def test_the_plan_of_a_submission_says_where_older_results_go(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    (path := tmp_path / "mc.yaml").write_text(JOB)
    (folder := site.store.home.results / "mc").mkdir(parents=True)
    (folder / "old.txt").write_text("a person's")

    planned = d0ctl("submit", str(path), "--dry-run").stdout
    done = d0ctl("submit", str(path)).stderr

    assert f"older results of this name would be moved to {folder}.1\n" in planned
    assert f"older results of this name are now in {folder}.1\n" in done


@pytest.mark.parametrize(
    ("words", "said"),
    [(["node", "local*", "--max-running", "1"], "1 node throttled"),
     (["researcher", "*", "--max-running", "1"], "at most 1 package at once"),
     (["job", "mc", "--max-launches", "1/1h"], "at most a launch every 1 h"),
     ([], "at most 1 package at once")],
)  # fmt: skip
def test_throttles_and_limits_move_the_end_of_a_job(
    site: Site, d0ctl: Type, tmp_path: Path, words: list[str], said: str
) -> None:
    (tmp_path / "mc.yaml").write_text(JOB)
    drive(site)
    site.up(cpus=8)
    d0ctl("submit", str(tmp_path / "mc.yaml"))

    before = document(d0ctl("eta", "mc", "--json").stdout)["end"]
    if words:
        d0ctl("throttle", "set", *words)
    else:
        d0ctl("limit", "mc", "--max-running", "1")
    after = document(d0ctl("eta", "mc", "--json").stdout)["end"]

    assert hours(after) >= hours(before) + 2
    assert said in d0ctl("eta", "mc").stdout


def hours(end: dict[str, str]) -> float:
    return datetime.fromisoformat(end["at"]).timestamp() / 3600


def test_the_list_of_jobs_has_no_end_of_a_job_that_stands_still(
    d0ctl: Type, tmp_path: Path
) -> None:
    (tmp_path / "mc.yaml").write_text(JOB)
    d0ctl("submit", str(tmp_path / "mc.yaml"))

    row = next(row for row in d0ctl("status").stdout.splitlines() if row.startswith("mc "))

    assert "stands still" in row
    assert "ends" not in row


def test_an_audit_needs_no_job_and_json_takes_one(d0ctl: Type, tmp_path: Path) -> None:
    (tmp_path / "mc.yaml").write_text(JOB)
    d0ctl("submit", str(tmp_path / "mc.yaml"))

    assert "no job or package with an estimate has ended" in d0ctl("eta", "--audit").stdout
    text = d0ctl("eta", "mc", "--audit", "--json").stdout
    check(["eta", "--audit", "--json"], text)
    assert document(text) == {"estimates": []}
    assert d0ctl("eta", "mc/1").exit_code == 2
    d0ctl("submit", str(tmp_path / "mc.yaml"), "--as", "mc2")
    heads = [row for row in d0ctl("eta", "mc2", "mc").stdout.splitlines() if row.startswith("mc")]
    assert [head.split()[0] for head in heads] == ["mc2", "mc"]
    assert "`--json` takes one job" in d0ctl("eta", "mc", "mc2", "--json").stderr


def test_packages_that_only_a_retry_runs_are_not_estimated(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    (tmp_path / "mc.yaml").write_text(JOB)
    drive(site)
    d0ctl("submit", str(tmp_path / "mc.yaml"))
    before = document(d0ctl("eta", "mc", "--json").stdout)

    d0ctl("kill", "mc/1/1/1")
    after = document(d0ctl("eta", "mc", "--json").stdout)
    page, status = d0ctl("eta", "mc").stdout, d0ctl("status", "mc").stdout
    merge = document(d0ctl("status", "mc/2/1/1", "--json").stdout)
    d0ctl("retry", "mc/1/1/1")
    again = document(d0ctl("eta", "mc", "--json").stdout)

    assert [stage["left"] for stage in before["stages"]] == [20, 1]
    assert [stage["left"] for stage in after["stages"]] == [19, 0]
    assert after["longest_chain"] < before["longest_chain"]
    assert "not counted: 1 package waits for failed, canceled or held ones" in page
    assert ", without 1 package that waits for failed, canceled or held ones" in status
    assert merge["estimated_start"] is None
    assert [stage["left"] for stage in again["stages"]] == [20, 1]


def test_a_job_with_held_packages_has_no_estimate_of_its_end(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    (tmp_path / "mc.yaml").write_text(JOB)
    drive(site)
    d0ctl("submit", str(tmp_path / "mc.yaml"))

    d0ctl("hold", "mc/1/1-5")
    answer, page = document(d0ctl("eta", "mc", "--json").stdout), d0ctl("eta", "mc").stdout
    held, status = d0ctl("why", "mc/1/1/1").stdout, d0ctl("status", "mc").stdout
    d0ctl("release", "mc:held")
    again = document(d0ctl("eta", "mc", "--json").stdout)

    assert ([stage["left"] for stage in answer["stages"]], answer["end"]) == ([15, 0], None)
    assert "no estimate of its end: 5 packages are held" in page
    assert "not counted: 5 packages are held, 1 package waits for failed, canceled or held" in page
    assert "` begins" not in held and "ends in" not in status
    assert again["end"] is not None


def test_why_of_a_package_that_needs_a_canceled_one_names_no_start(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    (tmp_path / "mc.yaml").write_text(JOB)
    drive(site)
    d0ctl("submit", str(tmp_path / "mc.yaml"))

    possible = d0ctl("why", "mc/2/1/1").stdout
    d0ctl("kill", "mc/1/1/1")
    impossible = d0ctl("why", "mc/2/1/1").stdout

    assert "` begins about" in possible
    assert "` begins" not in impossible


@pytest.mark.parametrize(("wall_time", "is_ended"), [(20, True), (7200, False)])
def test_a_package_that_is_too_slow_for_its_wall_time_is_said_to_reach_it(
    site: Site, d0ctl: Type, wall_time: int, is_ended: bool
) -> None:
    now = time.time()
    drive(site)
    site.submit(job(("a", [line(make("x", wall_time=wall_time))])))
    attempt = site.launch("prod/1/1/1")
    with site.store.writing():
        change(site.store, "attempt", {"id": attempt}, started=now)
        change(site.store, "requirement", seconds=180.0)
        insert(site.store, "progress", package_id=site.id_of("prod/1/1/1"), attempt_id=attempt,
               seq=1, at=now, binary=1, percent=5.0, line="", eta=now + 1_000, cpu=1.0,
               rss=1)  # fmt: skip

    card = d0ctl("status", "prod/1/1/1").stdout
    estimated = document(d0ctl("status", "prod/1/1/1", "--json").stdout)["estimated_end"]

    assert ("reaches its wall time at" in card) is is_ended
    assert ("at this rate it does not end before its wall time of 20 s" in card) is is_ended
    assert ("ends about" in card) is not is_ended
    assert "left" not in card or not is_ended
    assert (estimated["low"] == estimated["high"]) is is_ended


def test_a_job_with_unreachable_packages_has_no_end_until_their_node_is_back(
    site: Site, d0ctl: Type
) -> None:
    timed = replace(make("x"), binaries=(replace(make("x").binaries[0], runtime=60.0),))
    registry.add(site.store, Address("far", "ssh", "far"), cpus=2)
    site.up("far", machine_id="m2", base="/tmp/far")
    site.submit(job(("a", [line(timed)])))
    site.launch("prod/1/1/1", "far")
    undriven = d0ctl("eta", "prod").stdout, d0ctl("status").stdout
    assert undriven[0].startswith("prod  no estimate of its end: no daemon is running, so nothing")
    assert "no daemon is running" in undriven[1] and "ends about" not in "".join(undriven)
    for words in (["status", "prod"], ["status", "prod/1/1/1"], ["eta", "prod"], ["status"]):
        shown = document(d0ctl(*words, "--json").stdout)
        assert shown.get("jobs", [shown])[0].get("estimated_end") is None, words
        assert shown.get("end") is None, words
    drive(site)
    assert "ends about" in d0ctl("eta", "prod").stdout
    assert "ends about" in d0ctl("status").stdout
    with site.store.writing():
        contact.down(site.store, registry.named(site.store, "far").id, "refused", now=time.time())

    waits = "some of its packages or inputs are on `far`, which is down"
    unknown = d0ctl("eta", "prod").stdout
    assert unknown.startswith(f"prod  no estimate of its end: {waits}\n")
    assert "already there" not in unknown
    assert "ends in" not in d0ctl("status", "prod").stdout
    (shown,) = document(d0ctl("status", "--json").stdout)["jobs"]
    assert (shown["estimated_end"], shown["waits_for_nodes"]) == (None, ["far"])


def test_of_a_job_that_is_blocked_the_estimate_says_so_and_names_why(
    site: Site, d0ctl: Type
) -> None:
    site.submit(job(("sim", [line(make("x"))]), ("merge", [line(make("all", needs=["x"]))])))
    site.fail("prod/1/1/1")
    with site.store.writing():
        placement.end_jobs(site.store, now=time.time())

    refused = d0ctl("eta", "prod")

    assert refused.exit_code == 4
    said = "d0ctl: job `prod` can't continue by itself: 1 package is blocked\nd0ctl why prod\n"
    assert refused.stderr == said


def test_packages_on_a_drained_node_end_there_although_no_node_takes_others(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    (tmp_path / "one.yaml").write_text("job: one\nstages: [{lines: [{run: x, runtime: 10m}]}]\n")
    drive(site)
    d0ctl("submit", str(tmp_path / "one.yaml"))
    before = d0ctl("eta", "one").stdout
    site.launch("one/1/1/1")

    d0ctl("node", "drain", "localhost")

    head, *rows = d0ctl("eta", "one").stdout.splitlines()
    assert head.startswith("one  ends about")
    assert "already there" not in before
    assert any(row.split()[:2] == ["already", "there"] for row in rows)
