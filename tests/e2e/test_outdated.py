"""A job to which lines are added after its last package has succeeded."""

from tests.support.site import Site

GROW = """\
job: grow
stages:
  - name: sim
    lines:
      - for: {n: [1, 2]}
        run: echo {n} > s-{n}.txt
        outputs: s-{n}.txt
  - name: part
    lines:
      - run: cat {inputs} > part.txt
        inputs: {from: sim}
        outputs: part.txt
  - name: merge
    lines:
      - run: cat {inputs} > all.txt
        inputs: {from: part}
        outputs: all.txt
"""
SAID = (
    "2 packages of `grow` are out of date, run with another recipe or other inputs than the job "
    "has now: `d0ctl update grow --again`"
)


def test_results_of_fewer_lines_than_the_job_has_are_called_out_of_date(site: Site) -> None:
    site.submit(GROW)
    site.ok("run", "grow")
    assert "out of date" not in site.d0ctl("results", "grow").err
    site.write(GROW.replace("[1, 2]", "[1, 2, 3]"))
    site.ok("update", "grow")

    ran, waited, results = (
        site.d0ctl(*words, "grow") for words in (["run"], ["wait"], ["results"])
    )

    copied = site.d0ctl("results", "grow", "--copy", str(site.jobs / "out"))
    assert site.result("grow/all.txt") == "1\n2\n"
    assert [SAID in answer.err for answer in (ran, waited, results, copied)] == [True] * 4
    assert SAID in site.ok("status", "grow") and SAID in site.ok("why", "grow")
    fact = "out of date, run with another recipe or other inputs than the job has now"
    for words in (["why", "grow:all.txt"], ["why", "grow/2/1/1"], ["status", "grow/2/1/1"]):
        assert fact in (answer := site.ok(*words)) and "d0ctl update grow --again" in answer
    assert fact not in site.ok("why", "grow/1/1/1")
    assert "s-3.txt" not in results.out


def test_packages_that_ran_again_are_no_longer_out_of_date(site: Site) -> None:
    site.submit(GROW)
    site.ok("run", "grow")
    site.write(GROW.replace("[1, 2]", "[1, 2, 3]"))
    site.ok("update", "grow")

    site.ok("update", "grow", "--again")
    site.ok("run", "grow")

    assert site.result("grow/all.txt") == "1\n2\n3\n"
    results = site.d0ctl("results", "grow")
    assert "out of date" not in results.err and "s-3.txt" not in results.out
    assert "out of date" not in site.ok("status", "grow")
    assert site.ok("doctor")


def test_results_with_files_of_a_line_dropped_later_are_called_out_of_date(site: Site) -> None:
    site.submit(GROW)
    site.ok("run", "grow")

    plan = site.ok("kill-line", "grow/1/2", "--drop-outputs", "--dry-run")
    site.ok("kill-line", "grow/1/2", "--drop-outputs")

    assert "2 packages have read these files, and will not run again by this" in plan
    assert "to run them again without: d0ctl update grow --again" in plan
    for words in (["results"], ["wait"], ["run"]):
        assert SAID in site.d0ctl(*words, "grow").err
    assert "1 package to run again: 1 successful" in site.ok("update", "grow", "--again")
    site.ok("run", "grow")
    assert site.result("grow/all.txt") == "1\n"
    assert SAID not in site.d0ctl("results", "grow").err
    assert "already matches" in site.ok("update", "grow")


def test_packages_of_a_dropped_line_do_not_count_as_running_again(site: Site) -> None:
    site.submit(GROW)
    site.ok("run", "grow")
    site.ok("kill-line", "grow/1/2", "--drop-outputs")

    plan = site.ok("set-status", "grow/2/1/1", "unscheduled", "--dry-run")

    assert "1 package would run again, too" in plan and "grow/1/1/1" in plan, plan
    site.ok("set-status", "grow/2/*", "unscheduled")
    assert "1 package of `grow` is out of date" in site.d0ctl("results", "grow").err
