"""Estimates of packages that wait for CPUs: nothing is late before it has begun."""

import time
from datetime import datetime
from pathlib import Path

import pytest

from d0ctl.store.nodes import placement
from tests.cli.conftest import Type
from tests.cli.test_check import drive
from tests.cli.test_rehearse import JOB
from tests.support.building import document, production
from tests.support.jobs import binary, job, package
from tests.support.rows import change
from tests.support.site import Site

LATE = "late"


def full(site: Site, runtime: float | None) -> None:
    """A job with a low priority has the only CPU since 20 s; one with a higher one has to wait."""
    drive(site)
    site.up(cpus=1)
    site.submit(job("bulk", [package(binary(runtime=runtime))], priority=10))
    site.launch("bulk/1/1/1")
    change(site.store, "package", changed=time.time() - 20)
    change(site.store, "attempt", started=time.time() - 20)


def left_s(at: dict[str, str]) -> float:
    """The seconds until an estimated time."""
    return datetime.fromisoformat(at["at"]).timestamp() - time.time()


def pages(d0ctl: Type, path: str) -> list[str]:
    """The pages that tell an operator when a job ends: its row, its details, its estimate, why."""
    name = path.partition("/")[0]
    words = (["status"], ["status", name], ["eta", name], ["why", path])
    return [d0ctl(*each).stdout for each in words]


@pytest.mark.parametrize("is_sent", [False, True], ids=["ready", "on-its-node"])
def test_a_package_of_unknown_run_time_is_not_late_before_it_has_begun(
    site: Site, d0ctl: Type, *, is_sent: bool
) -> None:
    full(site, None)
    site.submit(job("quick", [package(binary())]))
    if is_sent:
        site.send("quick/1/1/1")

    texts = pages(d0ctl, "quick/1/1/1")

    assert not any(LATE in text for text in texts), texts
    head, left, *_ = texts[2].splitlines()
    assert head == (
        "quick  no estimate of its end: the run time of packages of `stage` is unknown until some "
        "are done"
    )
    assert left.split(maxsplit=3)[3] == "1 package whose run time is unknown"
    assert document(d0ctl("eta", "quick", "--json").stdout)["end"] is None


@pytest.mark.parametrize("is_sent", [False, True], ids=["ready", "on-its-node"])
def test_a_package_begins_when_a_running_one_of_a_lower_priority_has_ended(
    site: Site, d0ctl: Type, *, is_sent: bool
) -> None:
    full(site, 50.0)
    site.submit(job("quick", [package(binary(runtime=2.0))]))
    if is_sent:
        site.send("quick/1/1/1")

    found = document(d0ctl("status", "quick/1/1/1", "--json").stdout)
    ends = [document(d0ctl(*words, "--json").stdout) for words in
            (["eta", "quick"], ["status", "quick"])]  # fmt: skip
    (stage,) = ends[0]["stages"]

    assert left_s(found["estimated_start"]) == pytest.approx(30, abs=4)
    for end in (found["estimated_end"], ends[0]["end"], ends[1]["estimated_end"], stage["end"]):
        assert left_s(end) == pytest.approx(32, abs=4)
        assert end["low"] <= end["at"] <= end["high"]
    assert not any(LATE in text for text in pages(d0ctl, "quick/1/1/1"))


@pytest.mark.parametrize("is_sent", [False, True], ids=["ready", "on-its-node"])
def test_nobody_knows_when_packages_of_unknown_run_time_leave_their_cpus(
    site: Site, d0ctl: Type, *, is_sent: bool
) -> None:
    full(site, None)
    site.submit(job("quick", [package(binary(runtime=2.0))]))
    if is_sent:
        site.send("quick/1/1/1")

    row, card, estimate, why = pages(d0ctl, "quick/1/1/1")

    assert estimate.splitlines()[0] == (
        "quick  no estimate of its end: packages whose end is unknown have all CPUs"
    )
    assert "ends" not in card and "begins" not in why
    assert LATE not in row


def test_packages_queued_on_a_node_begin_one_after_another(site: Site, d0ctl: Type) -> None:
    full(site, 50.0)
    site.submit(job("quick", [package(binary(runtime=60.0)) for _ in range(2)]))
    site.send("quick/1/1/1")
    site.send("quick/1/2/1")

    begins = [document(d0ctl("status", f"quick/1/{line}/1", "--json").stdout)["estimated_start"]
              for line in (1, 2)]  # fmt: skip

    assert [left_s(begin) for begin in begins] == pytest.approx([30, 90], abs=4)


def test_a_ready_package_that_finds_a_free_cpu_does_not_begin_late(site: Site, d0ctl: Type) -> None:
    drive(site)
    site.up(cpus=2)
    site.submit(job("quick", [package(binary(runtime=60.0))]))

    why = d0ctl("why", "quick/1/1/1").stdout

    assert "`quick/1/1/1` takes about 1 min 00 s (30 s to 2 min 00 s) once it begins" in why


def test_what_a_person_suspended_keeps_its_cpus_of_others(site: Site, d0ctl: Type) -> None:
    full(site, 50.0)
    site.up(cpus=2)
    site.submit(job("other", [package(binary(runtime=60.0))]))
    site.launch("other/1/1/1")
    bulk = {"id": site.id_of("bulk/1/1/1")}
    change(site.store, "package", bulk, phase="suspended", request="pause")
    site.submit(job("quick", [package(binary(runtime=2.0))]))

    begin = document(d0ctl("status", "quick/1/1/1", "--json").stdout)["estimated_start"]

    assert left_s(begin) == pytest.approx(60, abs=4)


def test_the_estimates_of_several_jobs_say_which_of_them_have_ended(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    (tmp_path / "mc.yaml").write_text(JOB)
    for name in ("mc", "over"):
        d0ctl("submit", str(tmp_path / "mc.yaml"), "--as", name)
    d0ctl("kill", "over", "--yes")
    with site.store.writing():
        placement.end_jobs(site.store, now=time.time())
    drive(site)

    answer = d0ctl("eta", "over", "mc")

    assert answer.stdout.startswith("mc  ends about")
    assert "d0ctl: job `over` has ended\n" in answer.stderr
    assert answer.exit_code == 4


@pytest.mark.parametrize(("age", "left"), [(1, "due now"), (60, "time left unknown")])
def test_a_package_past_the_end_that_it_reported_is_due_unless_it_is_silent(
    site: Site, d0ctl: Type, age: int, left: str
) -> None:
    drive(site)
    site.submit(production())
    attempt = site.launch("prod/1/1/1")
    site.tell({"attempt": attempt, "kind": "progress", "seq": 2, "time": (now := time.time()),
               "done": 16, "total": 40, "percent": 40.0, "line": "", "eta": now, "cpu": 1.0,
               "binary": 1, "rss": 1})  # fmt: skip
    change(site.store, "progress", at=now - age)

    assert f"40 % · {left}" in d0ctl("status", "prod").stdout
    assert f"40 % · {left}" in d0ctl("status", "prod/1/1/1").stdout
    assert document(d0ctl("status", "prod/1/1/1", "--json").stdout)["progress"]["eta"] is None
