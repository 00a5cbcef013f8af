"""Jobs that read files of dropped lines of other jobs."""

from pathlib import Path

import pytest

from d0ctl.store.checks.check import faults
from tests.cli.conftest import Type
from tests.support.building import document, production
from tests.support.site import Site

READER = """\
job: use
stages:
  - name: use
    lines:
      - for: {n: [1, 2]}
        run: cat sim-{n} > use-{n}
        inputs: "prod:sim-{n}"
        outputs: "use-{n}"
  - {name: merge, lines: [{run: "cat {inputs} > all", inputs: {from: use}, outputs: all}]}
"""
PACKAGES = ("1/1/1", "1/2/1", "2/1/1")
MERGE = """\
job: late
stages: [{lines: [{run: "cat {inputs} > m", inputs: {from: prod/1}, outputs: m}]}]
"""


@pytest.fixture
def file(site: Site, d0ctl: Type, tmp_path: Path) -> Path:
    """The job file of a job that reads files of another job."""
    site.submit(production(lines=2))
    path = tmp_path / "use.yaml"
    path.write_text(READER)
    assert d0ctl("submit", str(path)).exit_code == 0
    return path


def succeed(site: Site) -> None:
    """Let both jobs succeed, but for the plot of the first."""
    for package in ("1/1/1", "1/1/2", "1/2/1", "1/2/2", "2/1/1"):
        site.finish(f"prod/{package}")
    for package in PACKAGES:
        site.finish(f"use/{package}")


def test_a_plan_is_refused_like_the_update_if_a_package_would_run_again_without_a_dropped_file(
    site: Site, file: Path, d0ctl: Type
) -> None:
    succeed(site)
    planned = d0ctl("kill-line", "prod/1/2", "--drop-outputs", "--dry-run").stdout
    dropped = d0ctl("kill-line", "prod/1/2", "--drop-outputs").stdout

    way = "must be dropped first: d0ctl kill-line use/1/2 --drop-outputs\n"
    assert f"1 line of other jobs needs these files, and {way}" in planned
    assert way in dropped and "d0ctl update use" not in dropped
    for of in ("use", "use/1", "use/1/2/1", "use/2/1/1"):
        said = d0ctl("why", of).stdout
        assert "`d0ctl kill-line use/1/2 --drop-outputs` has to come before an update" in said
        assert "update use --again" not in said and "--accept` keeps the results" in said
    assert d0ctl("update", "use", "--accept", "--dry-run").exit_code == 0
    for more in ([], ["--dry-run"]):
        refused = d0ctl("update", "use", "--again", *more)
        said = "d0ctl: `use/1/2/1` would run again without `prod:sim-2`, which is dropped"
        assert refused.exit_code == 4
        assert refused.stderr.splitlines() == [said, "d0ctl kill-line use/1/2 --drop-outputs"]
    assert d0ctl("kill-line", "use/1/2", "--drop-outputs").exit_code == 0
    assert d0ctl("update", "use", "--again").exit_code == 0

    assert [site.phase(f"use/{package}") for package in PACKAGES] == ["done", "done", "ready"]
    assert faults(site.store) == []


def test_a_job_is_updated_although_a_line_was_dropped_with_one_of_another_job(
    site: Site, file: Path, d0ctl: Type
) -> None:
    d0ctl("kill-line", "prod/1/2", "--drop-outputs")
    file.write_text(READER.replace("cat sim", "cat -n sim"))

    updated = d0ctl("update", "use")
    restored = d0ctl("restore-line", "prod/1/2", "--again")

    assert (updated.exit_code, restored.exit_code) == (0, 0)
    assert "2 packages changed, with the new definition from now on: 1 waiting, 1 dropped" in (
        updated.stdout
    )
    for package in ("1/1/1", "1/1/2", "1/2/1", "1/2/2"):
        site.finish(f"prod/{package}")
    assert [site.phase(f"use/{package}") for package in PACKAGES] == ["ready", "ready", "waiting"]
    assert faults(site.store) == []


def test_a_job_that_reads_a_dropped_file_is_refused_before_it_is_submitted(
    site: Site, file: Path, d0ctl: Type
) -> None:
    d0ctl("kill-line", "prod/1/2", "--drop-outputs")
    error = "`prod:sim-2` was dropped, so nothing can read it"

    for more in ([], ["--dry-run"]):
        refused = d0ctl("submit", str(file), "--as", "other", *more)
        assert refused.exit_code == 4
        assert refused.stderr.splitlines() == [f"d0ctl: {error}", "d0ctl why prod:sim-2"]
    assert f"{file}: warning: {error}\n" in d0ctl("validate", str(file)).stderr
    assert "d0ctl restore-line prod/1/2" in d0ctl("why", "prod:sim-2").stdout


def test_a_line_that_the_job_file_no_longer_has_is_not_out_of_date_by_a_drop(
    site: Site, file: Path, d0ctl: Type
) -> None:
    succeed(site)
    file.write_text(READER.replace("[1, 2]", "[1]"))
    d0ctl("update", "use", "--accept")
    d0ctl("update", "use", "--again")
    site.finish("use/2/1/1")

    dropped = d0ctl("kill-line", "prod/1/2", "--drop-outputs").stdout

    assert "update use" not in dropped
    assert "out of date" not in d0ctl("status", "use").stdout


def test_a_package_that_reads_outdated_files_of_another_job_is_not_out_of_date(
    site: Site, file: Path, d0ctl: Type
) -> None:
    succeed(site)
    file.write_text(READER.replace("cat sim", "cat -n sim"))
    d0ctl("update", "use")
    last = file.with_name("last.yaml")
    last.write_text(
        "job: last\nstages: [{lines: [{for: {n: [1, 2]}, run: 'cat all > {n}', inputs: 'use:all', "
        "outputs: '{n}'}]}]\n"
    )
    d0ctl("submit", str(last))
    site.finish("last/1/1/1")
    last.write_text(last.read_text().replace("cat all", "cat -n all"))
    d0ctl("update", "last")

    site.finish("last/1/2/1")

    assert "1 package of `last` is out of date" in " ".join(d0ctl("status", "last").stdout.split())


def test_a_job_whose_package_lacks_a_dropped_file_of_another_job_says_so_everywhere(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    site.submit(production(lines=2))
    (tmp_path / "late.yaml").write_text(MERGE)
    d0ctl("submit", str(tmp_path / "late.yaml"))
    d0ctl("kill-line", "prod/1/2", "--drop-outputs")
    lacks, counted = "1 of 2 inputs, missing: sim-2", "1 of 1 package done, 1 without some inputs"

    assert f"late/1/1/1 will run with {lacks}" in d0ctl("status", "late").stdout
    assert "without some" not in d0ctl("status", "late", "-q").stdout
    site.finish("prod/1/1/1")
    site.finish("prod/1/1/2")
    site.finish("late/1/1/1")

    status, why = d0ctl("status", "late").stdout, d0ctl("why", "late").stdout
    assert status.count(f"late/1/1/1 ran with {lacks}") == 1
    assert f"- late/1/1/1 ran with {lacks}" in why
    assert all(counted in said for said in (status, why, d0ctl("status", "late", "-q").stdout))
    assert f"late/1/1/1 ran with {lacks}" in d0ctl("results", "late").stderr
    (found,) = document(d0ctl("status", "late", "--json").stdout)["left_out"]
    assert found == {"path": "late/1/1/1", "inputs": 1, "of": 2, "missing": ["sim-2"]}
    assert "without some" not in d0ctl("why", "prod").stdout


@pytest.fixture
def lacking(site: Site, d0ctl: Type, tmp_path: Path) -> Site:
    """A job that has succeeded without a file of another job, whose line is back by now."""
    site.submit(production(lines=2))
    (tmp_path / "late.yaml").write_text(MERGE)
    d0ctl("submit", str(tmp_path / "late.yaml"))
    d0ctl("kill-line", "prod/1/2", "--drop-outputs")
    for package in ("prod/1/1/1", "prod/1/1/2", "late/1/1/1"):
        site.finish(package)
    assert d0ctl("restore-line", "prod/1/2", "--again").exit_code == 0
    return site


def test_a_restored_line_names_the_packages_of_other_jobs_that_have_run_without_it(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    site.submit(production(lines=2))
    end = MERGE.replace("late", "end").replace("prod/1", "prod/2")
    for text in (MERGE, end):
        (tmp_path / "reader.yaml").write_text(text)
        d0ctl("submit", str(tmp_path / "reader.yaml"))
    d0ctl("kill-line", "prod/1/2", "--drop-outputs")
    for package in ("prod/1/1/1", "prod/1/1/2", "prod/2/1/1", "late/1/1/1", "end/1/1/1"):
        site.finish(package)

    plan = d0ctl("restore-line", "prod/1/2", "--again", "--dry-run").stdout
    done = d0ctl("restore-line", "prod/1/2", "--again").stdout

    stays = "and will not run again by this\n"
    for said in (plan, done):
        assert f"1 package of other jobs has run without these files, {stays}  late/1/1/1\n" in said
        assert "to run it again with these: d0ctl update late/1/1/1 --again\n" in said
        assert f"other jobs has read files of those that run again, {stays}  end/1/1/1\n" in said
        assert "once these have changed: d0ctl update end/1/1/1 --again\n" in said
    assert "late/1/1/1 gets" not in plan
    phases = [site.phase(package) for package in ("prod/2/1/1", "late/1/1/1", "end/1/1/1")]
    assert phases == ["waiting", "done", "done"]


def test_a_package_that_ran_without_a_restored_file_of_another_job_is_out_of_date_until_it_reads_it(
    lacking: Site, d0ctl: Type
) -> None:
    pages = [d0ctl(*words).stdout for words in
             (["status", "late"], ["why", "late"], ["why", "late/1/1/1"])]  # fmt: skip
    assert all("out of date, run before files were changed, dropped or restored" in page
               for page in (*pages, d0ctl("results", "late").stderr))  # fmt: skip
    assert all("ran with 1 of 2 inputs, missing: sim-2" in page for page in pages)
    assert "some out of date" in d0ctl("status", "late", "-q").stdout
    assert "final" not in pages[-1]
    d0ctl("update", "late")
    assert "some out of date" in d0ctl("status", "late", "-q").stdout

    assert d0ctl("update", "late/1/1/1", "--again").exit_code == 0

    assert lacking.phase("late/1/1/1") == "waiting"
    for package in ("prod/1/2/1", "prod/1/2/2", "late/1/1/1"):
        lacking.finish(package)
    whole = "`late` is successful: 1 of 1 package done\n"
    assert d0ctl("status", "late", "-q").stdout == whole
    assert "nothing to change" in d0ctl("update", "late", "--again", "--dry-run").stdout
    assert faults(lacking.store) == []


@pytest.mark.parametrize(
    "words",
    [["kill-line", "prod/1/2", "--drop-outputs"], ["update", "late", "--accept"],
     ["set-status", "late/1/1/1", "unscheduled"]],
)  # fmt: skip
def test_a_package_that_lacked_a_restored_file_is_up_to_date_without_it_accepted_or_run_again(
    lacking: Site, d0ctl: Type, words: list[str]
) -> None:
    assert d0ctl(*words).exit_code == 0

    assert "out of date" not in d0ctl("status", "late", "-q").stdout
    is_dropped = words[0] == "kill-line"
    assert ("missing: sim-2" in d0ctl("status", "late").stdout) == is_dropped
    phase = "waiting" if words[0] == "set-status" else "done"
    assert lacking.phase("late/1/1/1") == phase
    assert "to run again" not in d0ctl("update", "late", "--again", "--dry-run").stdout
    assert faults(lacking.store) == []


def test_the_undo_of_a_second_drop_restores_a_line_that_a_package_has_run_without(
    lacking: Site, d0ctl: Type
) -> None:
    undo = "d0ctl restore-line prod/1/2 --again"

    assert f"to undo: {undo}\n" in d0ctl("kill-line", "prod/1/2", "--drop-outputs").stderr
    assert d0ctl(*undo.split()[1:]).exit_code == 0


def test_why_of_a_dropped_line_says_that_packages_of_other_jobs_do_not_run_again_with_it(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    site.submit(production(lines=2))
    (tmp_path / "late.yaml").write_text(MERGE)
    d0ctl("submit", str(tmp_path / "late.yaml"))
    d0ctl("kill-line", "prod/1/2", "--drop-outputs")
    for package in ("prod/1/1/1", "prod/1/1/2", "late/1/1/1"):
        site.finish(package)

    why = d0ctl("why", "prod/1/2/1").stdout

    assert ": --again restores the line, and leaves that package\n" in why
    assert "`late/1/1/1` was launched without its files" in why and "runs it again" not in why
    assert "$ d0ctl restore-line prod/1/2 --again\n" in why
