"""Estimates while the run times of some packages are unknown."""

import time
from pathlib import Path

import pytest

from tests.cli.conftest import Type
from tests.cli.test_check import down, drive
from tests.cli.test_eta import RAN
from tests.cli.test_rehearse import JOB
from tests.support.building import document, job, line
from tests.support.building import package as make
from tests.support.rows import change
from tests.support.site import Site

READER = """
job: sum
stages: [{lines: [{run: "cat {inputs} > sum.txt", inputs: {from: mc/gen}, outputs: sum.txt,
                   runtime: 10m}]}]
"""


def test_packages_of_unknown_run_time_are_no_part_of_the_work_that_is_left(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    (tmp_path / "mc.yaml").write_text(
        JOB.replace(", runtime: 10m", "").replace(", runtime: 1h", "")
    )
    drive(site)
    d0ctl("submit", str(tmp_path / "mc.yaml"))

    site.launch("mc/1/1/1")
    change(site.store, "attempt", started=time.time() - 30)

    head, left, *rows = d0ctl("eta", "mc").stdout.splitlines()

    assert head.startswith("mc  no estimate of its end")
    assert [row for row in rows if "longest chain" in row or "before it" in row] == []
    assert left.split(maxsplit=3)[3] == "20 packages whose run time is unknown"
    assert "packages that have not begun" in rows


def test_a_job_that_was_forced_past_its_nodes_is_promised_no_end(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    site.up(cpus=2)
    drive(site)
    (tmp_path / "mc.yaml").write_text(JOB)
    (tmp_path / "big.yaml").write_text(JOB.replace("runtime: 1h", "runtime: 1h, cpus: 64"))

    fits = d0ctl("submit", str(tmp_path / "mc.yaml"), "--as", "fits").stdout
    forced = d0ctl("submit", str(tmp_path / "big.yaml"), "--as", "forced", "--force")
    told = document(d0ctl("submit", str(tmp_path / "big.yaml"), "--force", "--json").stdout)

    assert "it ends about" in fits
    assert "no node can take it yet: " in forced.stderr
    assert "it ends" not in forced.stdout
    assert (bool(told["no_node"]), told["estimated_end"]) == (True, None)


def test_a_job_behind_one_of_unknown_run_time_has_no_end(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    (tmp_path / "mc.yaml").write_text(JOB)
    (tmp_path / "new.yaml").write_text(
        JOB.replace(", runtime: 10m", "")
        .replace(", runtime: 1h", "")
        .replace("job: mc", "job: new")
    )
    drive(site)
    d0ctl("submit", str(tmp_path / "mc.yaml"))
    d0ctl("submit", str(tmp_path / "new.yaml"))
    assert "ends about" in d0ctl("eta", "mc").stdout

    d0ctl("priority", "new", "90")

    head, *_ = d0ctl("eta", "mc").stdout.splitlines()
    assert head == (
        "mc  no estimate of its end: job `new` has 21 packages whose run time is unknown, "
        "and comes before it"
    )
    assert "ends" not in d0ctl("status", "mc").stdout


def test_packages_at_a_position_that_has_not_succeeded_are_named(site: Site, d0ctl: Type) -> None:
    lines = [line(make(f"a{n}"), make(f"b{n}", takes=[f"a{n}"])) for n in (1, 2)]
    site.submit(job(("gen", lines), ("merge", [line(make("m", takes=["b1", "b2"]))]), name="mc"))
    drive(site)
    change(site.store, "requirement", {"id": 1}, pace=0.3)

    page = d0ctl("eta", "mc").stdout

    assert (
        "the run time of packages of `merge` and of packages such as `mc/1/1/2` is unknown until "
        "some are done" in page
    )
    assert "run time of some unknown, such as mc/1/1/2" in page


def test_a_stage_has_an_end_while_the_run_time_of_a_later_one_is_unknown(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    (tmp_path / "mc.yaml").write_text(JOB.replace(", runtime: 1h", ""))
    drive(site)
    d0ctl("submit", str(tmp_path / "mc.yaml"))

    gen, merge = document(d0ctl("eta", "mc", "--json").stdout)["stages"]
    head, *rows = d0ctl("eta", "mc").stdout.splitlines()

    assert "`merge` is unknown until some are done; the others end about " in head
    assert gen["end"]["low"] < gen["end"]["at"] < gen["end"]["high"] and merge["end"] is None
    assert [row.split()[0] for row in rows if "ends about" in row] == ["gen"]
    assert "ends about" in d0ctl("status", "mc/1").stdout
    assert "ends" not in d0ctl("status", "mc/2").stdout
    package = document(d0ctl("status", "mc/1/1/1", "--json").stdout)
    assert package["estimated_start"]["at"] < package["estimated_end"]["at"]


def test_packages_that_end_later_than_they_reported_are_left_to_run(
    site: Site, d0ctl: Type
) -> None:
    drive(site)
    site.submit(job(("make", [line(make("a"))]), name="prod"))
    attempt = site.launch("prod/1/1/1")
    now = time.time()
    site.tell({"attempt": attempt, "kind": "progress", "seq": 2, "time": now, "binary": 1,
               "done": 16, "total": 40, "percent": 40.0, "line": "", "eta": now, "cpu": 1.0,
               "rss": 1})  # fmt: skip

    running = d0ctl("eta", "prod").stdout
    down(site, "localhost")
    unreachable = d0ctl("eta", "prod").stdout

    assert running.startswith("prod  ends later than estimated\n")
    waits = "some of its packages or inputs are on `localhost`, which is down"
    assert unreachable.strip() == f"prod  no estimate of its end: {waits}"


def test_a_job_with_packages_that_no_node_takes_has_no_end(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    (tmp_path / "mc.yaml").write_text(JOB)
    drive(site)
    d0ctl("submit", str(tmp_path / "mc.yaml"))
    site.launch("mc/1/1/1")
    assert "ends" in d0ctl("status", "mc").stdout

    change(site.store, "requirement", {"id": 1}, cpus=64)

    head, *rows = d0ctl("eta", "mc").stdout.splitlines()
    assert head == "mc  no estimate of its end: no node takes 19 packages of it"
    assert "ends" not in d0ctl("status", "mc").stdout + "".join(rows)
    assert document(d0ctl("status", "mc", "--json").stdout)["estimated_end"] is None


def test_a_job_that_waits_for_files_of_a_held_job_has_no_end(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    (tmp_path / "mc.yaml").write_text(JOB)
    (tmp_path / "sum.yaml").write_text(READER)
    drive(site)
    d0ctl("submit", str(tmp_path / "mc.yaml"), "--hold")
    d0ctl("submit", str(tmp_path / "sum.yaml"))

    head, *_ = d0ctl("eta", "sum").stdout.splitlines()

    assert (
        head == "sum  no estimate of its end: it waits for files of `mc`, which is held or paused"
    )
    assert "begins" not in d0ctl("why", "sum/1/1/1").stdout
    d0ctl("release", "mc")
    assert "ends" in d0ctl("eta", "sum").stdout.splitlines()[0]
    assert "begins" in d0ctl("why", "sum/1/1/1").stdout


def test_a_job_that_waits_for_files_of_one_of_unknown_run_time_has_no_end(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    (tmp_path / "mc.yaml").write_text(JOB.replace(", runtime: 1h", ""))
    text = READER.replace("{from: mc/gen}", "mc:all.root")
    (tmp_path / "sum.yaml").write_text(text)
    (tmp_path / "gen.yaml").write_text(READER.replace("job: sum", "job: gen"))
    drive(site)
    d0ctl("submit", str(tmp_path / "mc.yaml"))
    submitted = [d0ctl("submit", str(tmp_path / f"{name}.yaml")).stdout for name in ("sum", "gen")]

    pages = [d0ctl("eta", name).stdout for name in ("sum", "gen")]

    waits = "it waits for files of `mc`, which is without an estimated end"
    assert pages[0].startswith(f"sum  no estimate of its end: {waits}\n")
    assert "begins" not in d0ctl("why", "sum/1/1/1").stdout
    assert [" ends " in text for text in submitted] == [False, True]
    (row,) = [row for row in pages[1].splitlines() if row.lstrip().startswith("other jobs")]
    assert "packages that wait for files of other jobs end in 1 h" in row


def test_nobody_knows_when_packages_on_a_node_that_is_down_have_ended(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    (tmp_path / "mc.yaml").write_text(JOB)
    drive(site)
    d0ctl("submit", str(tmp_path / "mc.yaml"))
    site.launch("mc/1/1/1")
    down(site, "localhost")

    assert "on other nodes" not in d0ctl("eta", "mc").stdout


def test_packages_that_wait_for_failed_ones_of_an_ended_job_are_not_counted(
    site: Site, d0ctl: Type
) -> None:
    site.submit(job(("a", [line(make("x")), line(make("z"))]), name="raw"))
    readers = [line(make(f"{name}2", needs=[f"raw:{name}"])) for name in "xz"]
    site.submit(job(("a", readers), name="sum"))
    drive(site)
    site.finish("raw/1/1/1")
    site.fail("raw/1/2/1")

    page = d0ctl("eta", "sum").stdout

    assert "not counted: 1 package waits for failed, canceled or held ones" in page
    site.finish("sum/1/1/1")
    site.submit(job(("a", [line(make("y", needs=["sum:z2"]))]), name="last"))
    assert d0ctl("eta", "last").stdout.startswith("last  no estimate of its end\n")


def test_a_job_has_no_end_while_its_last_package_is_of_unknown_run_time(
    site: Site, d0ctl: Type
) -> None:
    merge = job(("gen", [line(make("a"))]), ("merge", [line(make("m", takes=["a"]))]), name="mc")
    site.submit(merge)
    drive(site)
    site.finish("mc/1/1/1")
    attempt = site.launch("mc/2/1/1")
    change(site.store, "attempt", {"id": attempt}, started=time.time() - 30)

    page = d0ctl("eta", "mc").stdout

    assert page.startswith(
        "mc  no estimate of its end: the run time of packages of `merge` is unkn"
    )
    assert "1 running package whose run time is unknown" in page
    assert "ends" not in d0ctl("status", "mc").stdout + d0ctl("status", "mc/2").stdout
    assert document(d0ctl("status", "mc", "--json").stdout)["estimated_end"] is None


def test_packages_of_unknown_run_time_that_are_not_counted_are_no_reason_for_no_estimate(
    site: Site, d0ctl: Type
) -> None:
    gen = [line(make(name)) for name in "abc"]
    site.submit(job(("gen", gen), ("merge", [line(make("m", needs=[*"abc"]))]), name="mc"))
    drive(site)
    site.finish("mc/1/1/1")
    before = d0ctl("eta", "mc").stdout
    site.fail("mc/1/2/1")

    page, card = d0ctl("eta", "mc").stdout, d0ctl("status", "mc").stdout

    assert "the run time of packages of `merge` is unknown" in before
    assert page.startswith("mc  ends in ") and "unknown" not in page
    assert "not counted: 1 package waits for failed" in page
    assert ", without 1 package that waits for failed, canceled or held ones" in card


def test_packages_that_wait_for_failed_ones_are_no_running_ones_of_unknown_run_time(
    site: Site, d0ctl: Type
) -> None:
    gen = [line(make(name)) for name in "abc"]
    site.submit(job(("gen", gen), ("merge", [line(make("m", needs=[*"abc"]))]), name="mc"))
    drive(site)
    site.finish("mc/1/1/1")
    site.fail("mc/1/2/1")

    page = d0ctl("eta", "mc").stdout

    assert "not counted: 1 package waits for failed" in page
    assert "of run time x CPUs" in page and "running" not in page


def test_a_dry_run_knows_the_run_times_of_archived_jobs_as_submit_does(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    site.up(cpus=4)
    path = tmp_path / "a.yaml"
    path.write_text("stages: [{name: s, lines: [{run: x}]}]\n")
    d0ctl("submit", str(path))
    attempt = site.launch("a-001/1/1/1")
    # a binary counts for no longer than the time since the launch
    change(site.store, "attempt", {"id": attempt}, launched=time.time() - 60)
    site.end("a-001/1/1/1", binaries=[{**RAN, "started": 1.0, "ended": 1.02}])
    assert d0ctl("archive", "a-001", "--yes").exit_code == 0
    drive(site)

    planned = d0ctl("submit", str(path), "--dry-run").stdout
    plan = document(d0ctl("submit", str(path), "--dry-run", "--json").stdout)["plan"]

    assert "takes    less than 0.1 s each" in planned
    assert "on 4 CPUs, plus the start of each package, if nothing else runs" in planned
    assert plan[0]["seconds"] == pytest.approx(0.02, rel=0.01)
