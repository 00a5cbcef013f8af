"""A job to which lines are added after its last package has succeeded."""

import pytest

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
WITH_SCALE = GROW.replace(
    "run: echo {n} > s-{n}.txt", "run: echo {n} $(cat scale) > s-{n}.txt\n        inputs: scale"
).replace("outputs: s-{n}.txt", "outputs: {file: 's-{n}.txt', result: yes}")
BY_RECIPE = "run with another recipe or other inputs than the job has now"
BY_FILES = (
    "run before files were changed, dropped or restored, or with files that outdated packages made"
)
SAID = (
    f"2 packages of `grow` are out of date (1 {BY_RECIPE}; 1 {BY_FILES}): "
    "`d0ctl update grow --again`"
)
CUT = f"2 packages of `grow` are out of date, {BY_FILES}: `d0ctl update grow --again`"


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
    for words, why in (
        (["why", "grow:all.txt"], BY_FILES), (["why", "grow/2/1/1"], BY_RECIPE),
        (["status", "grow/2/1/1"], BY_RECIPE), (["why", "grow/2"], BY_RECIPE),
    ):  # fmt: skip
        assert f"out of date, {why}" in (answer := site.ok(*words)), answer
        assert "d0ctl update grow" in answer and "--again" in answer
    assert "out of date" not in site.ok("why", "grow/1/1/1") + site.ok("why", "grow/1")
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

    assert (
        "2 packages have read these files or what was made of them, and will not run again by this"
        in plan
    )
    assert "to run them again without: d0ctl update grow --again" in plan
    for words in (["results"], ["wait"], ["run"]):
        assert CUT in site.d0ctl(*words, "grow").err
    assert "1 package to run again: 1 successful" in site.ok("update", "grow", "--again")
    site.ok("run", "grow")
    assert site.result("grow/all.txt") == "1\n"
    assert CUT not in site.d0ctl("results", "grow").err
    assert "already matches" in site.ok("update", "grow")


def test_packages_of_a_dropped_line_do_not_count_as_running_again(site: Site) -> None:
    site.submit(GROW)
    site.ok("run", "grow")
    site.ok("kill-line", "grow/1/2", "--drop-outputs")

    plan = site.ok("set-status", "grow/2/1/1", "unscheduled", "--dry-run")

    assert "1 package would run again, too" in plan and "grow/1/1/1" in plan, plan
    site.ok("set-status", "grow/2/*", "unscheduled")
    assert "1 package of `grow` is out of date" in site.d0ctl("results", "grow").err


def test_only_the_outdated_packages_of_a_part_run_again(site: Site) -> None:
    site.write(GROW)
    (site.jobs / "scale").write_text("1\n")
    site.submit(WITH_SCALE)
    site.ok("run", "grow")
    (site.jobs / "scale").write_text("2\n")
    site.write(WITH_SCALE.replace("[1, 2]", "[1, 2, 3]"))
    before = site.ok("update", "grow")
    site.ok("run", "grow")

    hint = site.d0ctl("retry", "grow/2").err
    old = site.ok("set-status", "grow/2", "unscheduled", "--dry-run")
    plan = site.ok("update", "grow/2", "--again", "--dry-run")

    assert "1 package out of date, run with another recipe or other inputs: 1" in before
    assert "2 packages out of date, run before files were changed, dropped or restored" in before
    assert "`d0ctl update grow/2 --again` runs them again" in hint
    assert (
        "1 package would run with its former recipe or inputs; with those that the job has now: "
        "d0ctl update grow/2 --again"
    ) in old
    assert "1 package to run again: 1 successful\n  grow/2/1/1\n" in plan
    assert "to run again, too: 1 package that has read their files" in plan
    assert "2 packages out of date" in plan
    copied = site.d0ctl("clone", "grow/2", "--dry-run")
    assert "1 package of `grow/2` is out of date, and the copy has its former recipe" in copied.out
    site.ok("update", "grow/2", "--again")
    site.ok("run", "grow")
    assert site.result("grow/all.txt") == "1 1\n2 1\n3 2\n"
    left = site.ok("update", "grow", "--dry-run")
    assert "2 packages out of date" in left and "out of date, too: 2 packages" in left
    assert "4 packages of `grow` are out of date" in site.ok("status", "grow")


@pytest.mark.parametrize("part", ["grow/2", "grow"])
def test_packages_that_run_again_for_removed_outputs_are_not_out_of_date(
    site: Site, part: str
) -> None:
    (site.jobs / "scale").write_text("1\n")
    (site.jobs / "head").write_text("first\n")
    grow = WITH_SCALE.replace(", result: yes", "").replace(
        "- run: cat {inputs} > part.txt\n        inputs: {from: sim}",
        "- run: cat head s-*.txt > part.txt\n        inputs: [{from: sim}, head]",
    )
    site.submit(grow)
    site.ok("run", "grow")
    (site.jobs / "scale").write_text("2\n")
    (site.jobs / "head").write_text("second\n")

    plan = site.ok("update", part, "--again", "--dry-run")
    site.ok("update", part, "--again")
    site.ok("run", "grow")

    is_part = part == "grow/2"
    assert f"to run again: {1 if is_part else 3} successful" in plan
    assert ("2 packages to run again, because their outputs were removed" in plan) is is_part
    assert "out of date" not in plan
    assert site.result("grow/all.txt") == "second\n1 2\n2 2\n"
    assert "out of date" not in site.ok("status", "grow")
    assert "out of date" not in site.ok("update", "grow")


def test_packages_that_run_again_for_removed_outputs_take_the_present_dispositions(
    site: Site,
) -> None:
    site.submit(GROW)
    site.ok("run", "grow")
    assert "purged" in site.ok("file", "list", "grow:s-1.txt")
    kept = GROW.replace(
        "outputs: s-{n}.txt", "outputs: {file: 's-{n}.txt', disposition: retain-indef}"
    )
    site.write(kept.replace("> part.txt", "> part.txt; echo end >> part.txt"))

    plan = site.ok("update", "grow", "--again", "--dry-run")
    site.ok("update", "grow", "--again")
    site.ok("run", "grow")

    assert "2 packages to run again, because their outputs were removed" in plan
    assert site.result("grow/all.txt") == "1\n2\nend\n"
    assert "purged" not in site.ok("file", "list", "grow:s-1.txt")
    assert site.ok("doctor")


def test_a_successful_package_of_a_dropped_line_does_not_run_again(site: Site) -> None:
    site.submit(GROW)
    site.ok("run", "grow")
    site.ok("kill-line", "grow/1/2", "--drop-outputs")
    site.write(GROW.replace("echo {n}", "echo {n} again"))

    plan = site.ok("update", "grow", "--again", "--dry-run")
    site.ok("update", "grow", "--again")
    site.ok("run", "grow")

    assert "2 packages to run again" in plan and "grow/1/2/1" not in plan
    assert site.result("grow/all.txt") == "1 again\n"
    assert site.ok("doctor")


def test_a_restored_line_of_an_earlier_recipe_is_called_out_of_date(site: Site) -> None:
    site.submit(GROW)
    site.ok("run", "grow")
    site.ok("kill-line", "grow/1/2", "--drop-outputs")
    site.write(GROW.replace("run: echo {n}", "run: echo {n}0"))
    site.ok("update", "grow", "--again")
    site.ok("run", "grow")
    for words in ((), ("grow",), ("grow", "--check")):
        assert "out of date" not in site.ok("status", *words)

    site.ok("restore-line", "grow/1/2", "--again")
    site.ok("run", "grow")

    assert site.result("grow/all.txt") == "10\n2\n"
    for words in ((), ("grow",), ("grow", "--check")):
        assert "out of date" in site.ok("status", *words)
    assert "3 packages of `grow` are out of date" in site.d0ctl("results", "grow").err
    site.ok("update", "grow", "--again")
    site.ok("run", "grow")
    assert site.result("grow/all.txt") == "10\n20\n"
    assert "out of date" not in site.ok("status", "grow")
    assert site.ok("doctor")


def test_a_part_of_a_job_is_updated_only_to_run_it_again(site: Site) -> None:
    site.submit(GROW)

    said = site.d0ctl("update", "grow/2").err

    assert "`grow/2` is a part of a job: `update` takes one only with `--again`" in said
