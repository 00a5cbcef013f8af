"""`retry --set`: failed packages run with other parameters of their job."""

from pathlib import Path

import pytest

from d0ctl.store.views import one_package
from tests.cli.conftest import Type
from tests.support.site import Site

JOB = """
job: cuts
parameters: {cut: 5}
stages:
  - lines:
      - for: {n: {range: [1, 3]}}
        run: "select --cut {cut} --n {n} > out-{n}"
        outputs: ["out-{n}"]
"""


@pytest.fixture
def cuts(site: Site, d0ctl: Type, tmp_path: Path) -> Path:
    """A job from a file with a parameter, of which the second line has failed."""
    file = tmp_path / "cuts.yaml"
    file.write_text(JOB)
    assert d0ctl("submit", str(file)).exit_code == 0
    site.fail("cuts/1/2/1")
    return file


def script(site: Site, path: str) -> str:
    """What the only binary of a package runs."""
    return str(one_package.binaries(site.store, site.id_of(path))[0].script)


@pytest.mark.usefixtures("cuts")
def test_a_retry_can_run_with_another_parameter(site: Site, d0ctl: Type) -> None:
    assert d0ctl("retry", "cuts", "--set", "cut=7").exit_code == 0

    assert "--cut 7 --n 2" in script(site, "cuts/1/2/1")
    assert "--cut 5 --n 1" in script(site, "cuts/1/1/1")
    assert site.phase("cuts/1/2/1") == "ready"
    assert "--set cut=7" in d0ctl("status", "cuts/1/2/1").stdout


@pytest.mark.usefixtures("cuts")
def test_results_with_another_parameter_are_out_of_date_until_the_job_has_it(
    site: Site, d0ctl: Type
) -> None:
    said = d0ctl("retry", "cuts", "--set", "cut=7").stdout
    for number in (1, 2, 3):
        site.finish(f"cuts/1/{number}/1")

    assert "keep the parameters of the job, so the results of these will be out of date; " in said
    assert "d0ctl update cuts --set cut=7 changes the job" in said
    told = " ".join(d0ctl("status", "cuts").stdout.split())
    assert "1 package of `cuts` is out of date" in told
    assert (
        "all retried with `--set cut=7`: `d0ctl update cuts --accept` keeps the results, "
        "`d0ctl update cuts --set cut=7` changes the job (--dry-run says what is out of date "
        "then), "
        "and `d0ctl update cuts --again` runs them again without"
    ) in told
    of_package = d0ctl("why", "cuts/1/2/1").stdout
    assert (
        "it was retried with `--set cut=7`: --again runs it without, as its job says" in of_package
    )
    commands = ["cuts/1/2/1 --accept", "cuts --set cut=7", "cuts/1/2/1 --again"]
    found = [line.partition("d0ctl update ")[2] for line in of_package.splitlines()]
    assert [line for line in found if line] == commands
    plan = d0ctl("update", "cuts", "--again", "--dry-run").stdout
    assert "1 package was retried with other parameters, which the job does not have; " in plan
    assert "to change the job instead: d0ctl update cuts --set cut=7\n" in plan
    assert "retried" not in d0ctl("update", "cuts", "--set", "cut=7", "--dry-run").stdout
    assert d0ctl("update", "cuts", "--accept").exit_code == 0
    assert "out of date" not in d0ctl("status", "cuts").stdout


@pytest.mark.usefixtures("cuts")
def test_a_retry_with_the_parameters_of_the_job_again_is_up_to_date(
    site: Site, d0ctl: Type
) -> None:
    d0ctl("retry", "cuts", "--set", "cut=7")
    site.fail("cuts/1/2/1")

    again = d0ctl("retry", "cuts", "--set", "cut=7")
    back = d0ctl("retry", "cuts", "--set", "cut=5")
    for number in (1, 2, 3):
        site.finish(f"cuts/1/{number}/1")

    assert "`cuts` runs with cut=7 already" in again.stderr
    assert back.exit_code == 0 and "--cut 5 --n 2" in script(site, "cuts/1/2/1")
    assert "out of date" not in back.stdout + d0ctl("status", "cuts").stdout


def test_each_parameter_of_several_has_to_matter(d0ctl: Type, cuts: Path) -> None:
    cuts.write_text(JOB.replace("cut: 5", "cut: 5, seed: 1"))
    d0ctl("update", "cuts")

    refused = d0ctl("retry", "cuts", "--set", "cut=7", "--set", "seed=2")

    assert refused.exit_code == 4
    assert "no binary of `cuts` depends on `seed`" in refused.stderr


def test_other_parameters_are_doubted_as_at_submission(d0ctl: Type, site: Site, cuts: Path) -> None:
    cuts.write_text(
        JOB.replace("--n {n}", "--n {n} -m {size}")
        .replace("cut: 5", "cut: 5, size: 1GB")
        .replace("outputs:", 'memory: "{size}"\n        outputs:')
    )
    d0ctl("update", "cuts", "--again")
    site.fail("cuts/1/2/1")

    doubted = d0ctl("retry", "cuts", "--set", "cut=low", "--dry-run").stdout
    kept = d0ctl("retry", "cuts", "--set", "size=900GB", "--dry-run").stdout
    updated = d0ctl("update", "cuts", "--set", "cut=low", "--dry-run").stdout

    doubt = "warning: parameter `cut` is the number 5, and --set makes it `low`"
    assert doubt in doubted and doubt in updated
    assert "warning: --set does not change what packages request, but --memory does\n" in kept


def test_a_parameter_of_requests_only_is_changed_by_their_option(d0ctl: Type, cuts: Path) -> None:
    cuts.write_text(
        JOB.replace("cut: 5", "cut: 5, size: 1GB").replace(
            "outputs:", 'memory: "{size}"\n        outputs:'
        )
    )
    d0ctl("update", "cuts")

    refused = d0ctl("retry", "cuts", "--set", "size=900GB")

    assert refused.exit_code == 4
    assert "--memory changes what it requests" in refused.stderr


@pytest.mark.usefixtures("cuts")
def test_an_unknown_parameter_is_reported(site: Site, d0ctl: Type) -> None:
    assert d0ctl("retry", "cuts", "--set", "cud=7").exit_code == 2
    assert site.phase("cuts/1/2/1") == "failed"


def test_a_retry_with_another_parameter_runs_the_job_as_it_was_submitted(
    site: Site, d0ctl: Type, cuts: Path
) -> None:
    cuts.write_text(JOB.replace("select", "choose").replace("out-{n}", "other-{n}"))

    planned = d0ctl("retry", "cuts", "--set", "cut=7", "--dry-run").stdout
    done = d0ctl("retry", "cuts", "--set", "cut=7").stdout

    assert "select --cut 7 --n 2 > out-2" in script(site, "cuts/1/2/1")
    said = "`cuts` was changed since, and a retry runs the job as it was submitted: `d0ctl update"
    assert said in planned and said in done


def test_a_retry_with_another_parameter_needs_no_job_file(
    site: Site, d0ctl: Type, cuts: Path
) -> None:
    cuts.unlink()

    assert d0ctl("retry", "cuts", "--set", "cut=7").exit_code == 0
    assert "--cut 7 --n 2" in script(site, "cuts/1/2/1")


def test_a_parameter_that_only_the_edited_job_file_has_needs_an_update(
    d0ctl: Type, cuts: Path
) -> None:
    cuts.write_text(JOB.replace("cut: 5", "cut: 5, seed: 1"))

    refused = d0ctl("retry", "cuts", "--set", "seed=2")

    assert refused.exit_code == 2 and "`seed`" in refused.stderr
    assert "the job file of `cuts` was changed since" in refused.stderr
    assert "`d0ctl update cuts` corrects it" in refused.stderr


def test_faults_of_the_stored_job_file_name_it_after_an_update_was_taken_back(
    site: Site, d0ctl: Type, cuts: Path
) -> None:
    cuts.write_text(JOB.replace("cut: 5", "cut: 5, seed: 1"))
    d0ctl("update", "cuts")
    d0ctl("update", "cuts", "--previous")
    wrong = ("cuts", "--set", "sed=2")

    again, plain = d0ctl("update", *wrong, "--again"), d0ctl("update", *wrong)

    assert again.exit_code == plain.exit_code == 2
    assert "the job file as `--previous` left it; `d0ctl update cuts` takes the" in again.stderr
    assert "`--previous`" not in plain.stderr
    for verb in ("retry", "clone"):
        assert "the job file of `cuts` was changed since" in d0ctl(verb, *wrong).stderr


def test_a_parameter_that_names_outputs_is_not_changed_by_a_retry(
    site: Site, d0ctl: Type, cuts: Path
) -> None:
    cuts.write_text(JOB.replace("out-{n}", "out-{cut}-{n}"))
    d0ctl("update", "cuts")

    refused = d0ctl("retry", "cuts", "--set", "cut=7")

    assert refused.exit_code == 4
    assert "another job: `cuts/1/2/1` would read or make other files" in refused.stderr
    assert "d0ctl update cuts --set cut=7 --dry-run" in refused.stderr
    assert site.phase("cuts/1/2/1") == "failed"


def test_what_was_made_of_files_of_such_a_retry_names_the_ways_of_the_job(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    file = tmp_path / "cuts.yaml"
    merge = "  - {name: m, lines: [{run: merge, inputs: {from: stage1}, outputs: all.txt}]}\n"
    file.write_text(JOB + merge)
    assert d0ctl("submit", str(file)).exit_code == 0
    site.fail("cuts/1/2/1")
    d0ctl("retry", "cuts:failed", "--set", "cut=7")
    for path in ("cuts/1/1/1", "cuts/1/2/1", "cuts/1/3/1", "cuts/2/1/1"):
        site.finish(path)

    for of in ("cuts/2/1/1", "cuts:all.txt", "cuts/2"):
        said = d0ctl("why", of).stdout
        assert "`d0ctl update cuts --accept` keeps the results, " in said
        assert "`d0ctl update cuts --set cut=7` changes the job" in said
        assert "update cuts/2" not in said  # it would run again with the same files
    d0ctl("update", "cuts", "--set", "cut=7")
    assert "out of date" in d0ctl("why", "cuts/1/1/1").stdout
