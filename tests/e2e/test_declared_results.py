"""Files that an update declares as results after their packages have run."""

import pytest

from tests.support.site import Site

JOB = """\
job: late
stages:
  - name: gen
    lines:
      - run: echo hello > a.txt
        outputs: {file: a.txt%s}
  - name: read
    lines:
      - run: cat a.txt > b.txt
        inputs: a.txt
        outputs: b.txt
"""
KEPT = ", disposition: retain-indef"
RESULT = ", result: yes"
PATTERN = """\
job: late
stages:
  - name: gen
    lines:
      - run: touch x-1.txt x-2.txt
        outputs: {file: "x-*.txt", late: yes, disposition: retain-indef%s}
"""
SEVERAL = """\
job: late
stages:
  - name: gen
    lines:
      - for: {n: [1, 2]}
        run: echo {n} > a-{n}.txt
        outputs: {file: "a-{n}.txt"%s}
  - {name: read, lines: [{run: "cat {inputs} > b.txt", inputs: {from: gen}, outputs: b.txt}]}
"""


def results(site: Site) -> list[str]:
    """The files in the folder of the results of the job."""
    return sorted(path.name for path in (site.home.root / "results" / "late").glob("*"))


def test_a_file_that_becomes_a_result_is_copied_from_its_node(site: Site) -> None:
    site.ok("run", site.write(JOB % KEPT))
    site.write(JOB % (KEPT + RESULT))

    updated = site.ok("update", "late")
    site.ok("run", "late")

    assert "1 file is a result from now on (1 copied to results/ at once)\n" in updated
    assert results(site) == ["a.txt", "b.txt"]
    assert "already matches" in site.ok("update", "late")
    assert "no problems found" in site.ok("doctor")


def test_a_removed_file_that_becomes_a_result_is_copied_when_it_is_made_again(site: Site) -> None:
    site.ok("run", site.write(JOB % ""))
    site.write(JOB % RESULT)

    planned = site.ok("update", "late", "--dry-run")
    site.ok("update", "late", "--again")
    before = site.ok("results", "late")
    site.ok("set-status", "late/1/1/1", "unscheduled", "--yes")
    site.ok("run", "late")

    assert planned == (
        "would update `late`\n"
        "1 file is a result from now on (1 once made again)\n"
        "to make removed files again: d0ctl set-status late/1/1/1 unscheduled\n"
        "unchanged: 2 packages\n"
    )
    assert "removed since late/1/1/1 made it" in before
    assert results(site) == ["a.txt", "b.txt"]
    assert "result: yes" in site.ok("export", "late")


def test_all_makers_of_removed_results_are_named_unless_they_run_again_anyhow(site: Site) -> None:
    site.ok("run", site.write(SEVERAL % ""))
    site.write(SEVERAL % RESULT)

    planned = site.ok("update", "late", "--dry-run")
    site.write((SEVERAL % RESULT).replace("cat", "cat -n"))
    outdated = site.ok("update", "late", "--dry-run")

    assert "2 files are results from now on (2 once made again)\n" in planned
    assert "to make removed files again: d0ctl set-status late/1/1-2/1 unscheduled\n" in planned
    assert "--again" in outdated and "set-status" not in outdated


def test_a_file_that_is_declared_no_more_stays_in_results(site: Site) -> None:
    site.ok("run", site.write(JOB % RESULT))
    site.write(JOB % "")

    updated = site.ok("update", "late")

    assert "1 file stays in results/, although no longer a result\n" in updated
    assert results(site) == ["a.txt", "b.txt"]
    assert "stays in results/" not in site.ok("update", "late")


def test_a_removed_file_that_is_declared_no_more_is_no_result(site: Site) -> None:
    site.ok("run", site.write(JOB % ""))
    site.write(JOB % RESULT)
    site.ok("update", "late")

    site.write(JOB % "")
    updated = site.ok("update", "late")

    assert "no longer a result" not in updated
    assert "a.txt" not in site.ok("results", "late")
    assert "it is a result" not in site.ok("why", "late:a.txt")
    site.ok("set-status", "late/1/1/1", "unscheduled", "--yes")
    site.ok("run", "late")
    assert results(site) == ["b.txt"]


@pytest.mark.parametrize("again", [[], ["--again"]])
def test_the_files_of_a_late_output_become_results(site: Site, again: list[str]) -> None:
    site.ok("run", site.write(PATTERN % ""))
    site.write(PATTERN % RESULT)

    updated = site.ok("update", "late", *again)
    site.ok("run", "late")

    assert "2 files are results from now on (2 copied to results/ at once)\n" in updated
    assert results(site) == ["x-1.txt", "x-2.txt"]


def test_a_file_of_a_running_package_becomes_a_result(site: Site) -> None:
    gated = JOB.replace("echo hello", f"{site.gate('go')}; echo hello")
    site.submit(gated % "")
    site.start_driver("late")
    site.wait_phase("late/1/1/1", "running")
    site.write(gated % RESULT)

    updated = site.ok("update", "late")
    site.open("go")
    site.ok("wait", "late")

    assert "1 file is a result from now on (1 once made)\n" in updated
    assert results(site) == ["a.txt", "b.txt"]
