"""`d0ctl eta` without a job: when each active job ends; and `why` beside it."""

from datetime import datetime
from pathlib import Path

import pytest

from tests.cli.conftest import Type
from tests.cli.test_check import drive
from tests.cli.test_rehearse import JOB
from tests.support.building import document, job, line
from tests.support.building import package as make
from tests.support.printed import check
from tests.support.rows import change
from tests.support.site import Site


def seconds(end: dict[str, str]) -> float:
    """A point in time of a document."""
    return datetime.fromisoformat(end["at"]).timestamp()


def test_eta_lists_when_each_active_job_ends(site: Site, d0ctl: Type, tmp_path: Path) -> None:
    assert d0ctl("eta").stdout == "no job is active\n"
    assert document(d0ctl("eta", "--json").stdout) == {"jobs": []}
    (tmp_path / "mc.yaml").write_text(JOB)
    for name in ("mc", "second", "quiet", "kept", "over"):
        d0ctl("submit", str(tmp_path / "mc.yaml"), "--as", name)
    assert d0ctl("eta").stdout.splitlines()[-1].split() == ["mc", "0/21", "stands", "still"]
    drive(site)
    d0ctl("pause", "quiet")
    d0ctl("hold", "kept")
    d0ctl("kill", "over")

    result, text = d0ctl("eta"), d0ctl("eta", "--json").stdout
    of_status = d0ctl("status", "--json").stdout

    assert (result.exit_code, result.stderr) == (0, "")
    kept, quiet, second, mc = [row.split(maxsplit=2) for row in result.stdout.splitlines()]
    assert (kept, quiet) == (["kept", "0/21", "held"], ["quiet", "0/21", "paused"])
    assert mc[:2] == ["mc", "0/21"] and mc[2].startswith("ends about ")
    assert second[:2] == ["second", "0/21"] and second[2].startswith("ends about ")
    check(["eta", "--json"], text)
    jobs = document(text)["jobs"]
    assert [job["job"] for job in jobs] == ["kept", "quiet", "second", "mc"]
    assert [job["state"] for job in jobs] == ["held", "paused", "submitted", "submitted"]
    ends = {job["job"]: job["estimated_end"] for job in document(of_status)["jobs"]}
    assert jobs[0]["end"] is jobs[1]["end"] is None
    for one in jobs[2:]:
        assert seconds(one["end"]) == pytest.approx(seconds(ends[one["job"]]), abs=5)
    assert seconds(jobs[2]["end"]) > seconds(jobs[3]["end"]) + 60


def test_eta_says_of_each_job_why_its_end_is_unknown(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    drive(site)
    for name in ("new", "blocked"):
        (tmp_path / "job.yaml").write_text(f"""\
job: {name}
stages:
  - name: sim
    lines: [{{for: {{n: [1, 2]}}, run: "echo > {{n}}.x", outputs: "{{n}}.x"}}]
  - name: sum
    lines: [{{run: "cat {{inputs}}", inputs: {{from: sim}}}}]
""")
        d0ctl("submit", str(tmp_path / "job.yaml"))
    d0ctl("kill", "blocked/1")

    blocked, new = d0ctl("eta").stdout.splitlines()

    assert blocked.split() == ["blocked", "0/3", "blocked"]
    assert new.split(maxsplit=2)[2] == d0ctl("eta", "new").stdout.splitlines()[0].removeprefix(
        "new  "
    )
    assert "no estimate of its end: the run time of packages of `sim`" in new


def test_why_estimates_no_end_where_no_package_at_its_position_has_succeeded(
    site: Site, d0ctl: Type
) -> None:
    lines = [line(make(f"a{n}"), make(f"b{n}", takes=[f"a{n}"])) for n in (1, 2)]
    site.submit(job(("gen", lines), name="mc"))
    drive(site)
    change(site.store, "requirement", {"id": 1}, pace=30.0)
    for requirement in (1, 2):  # those of its stage are assumed to be alike
        change(site.store, "requirement", {"id": requirement}, seconds=30.0)

    site.launch("mc/1/2/1")
    assert " ends " in d0ctl("why", "mc/1/2/1").stdout
    site.finish("mc/1/1/1")
    site.launch("mc/1/1/2")
    assert " ends " not in d0ctl("why", "mc/1/1/2").stdout
    assert "such as `mc/1/1/2` is unknown until some are done" in d0ctl("eta", "mc").stdout
