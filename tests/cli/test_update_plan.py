"""What an update says: the requests that it changes, and whether there is a way back."""

import time
from pathlib import Path

import pytest

from d0ctl.store.files import copies
from tests.cli.conftest import Type
from tests.cli.test_update import FIRST
from tests.support.building import document
from tests.support.rows import read
from tests.support.site import Site


@pytest.fixture
def file(tmp_path: Path, d0ctl: Type) -> Path:
    """A job file that is submitted."""
    path = tmp_path / "mc.yaml"
    path.write_text(FIRST)
    d0ctl("submit", str(path))
    return path


def test_an_update_after_which_the_job_file_is_the_same_says_how_to_go_back(
    file: Path, d0ctl: Type
) -> None:
    table = file.with_name("points.csv")
    table.write_text("n\n1\n2\n")
    text = FIRST.replace("{n: {range: [1, 2]}}", "{row: {csv: points.csv}}").replace(
        "{n}", "{row.n}"
    )
    file.write_text(text.replace("job: mc", "job: points"))
    d0ctl("submit", str(file))
    table.write_text("n\n1\n3\n")
    assert "1 package added" in d0ctl("update", "points", "--again").stdout

    refused = d0ctl("update", "points", "--previous")

    said = "the updates of job `points` did not change its job file"
    assert (refused.exit_code, said in refused.stderr) == (4, True), refused.stderr
    again = "`d0ctl update points --again`"
    assert f"if a file that it reads was changed, change it back, then {again}" in refused.stderr


def test_the_plan_names_the_requests_that_it_takes_back_from_a_retry(
    site: Site, file: Path, d0ctl: Type
) -> None:
    asks = FIRST.replace('outputs: "s{n}.txt"', 'outputs: "s{n}.txt"\n        wall-time: 2s')
    file.write_text(asks)
    d0ctl("update", "mc")
    site.fail("mc/1/1/1")
    site.fail("mc/1/2/1")
    d0ctl("retry", "mc:failed", "--wall-time", "30s", "--memory", "1GB", "--yes")
    d0ctl("edit", "mc/1/2/1", "--env", "DEBUG=secret", "--on", "localhost")

    file.write_text(asks.replace("job: mc", "job: mc\ntitle: Night run"))
    plan = d0ctl("update", "mc", "--dry-run").stdout

    taken = "1 package: memory 1GB -> none, wall-time 30s -> 2s"
    assert f"{taken}\n" in plan
    assert f"{taken}, nodes localhost -> none, variable DEBUG set -> none\n" in plan
    assert "secret" not in plan
    assert taken in d0ctl("update", "mc").stdout
    assert "1GB" not in d0ctl("update", "mc").stdout


def test_the_plan_to_run_packages_again_names_the_requests_that_it_takes_back(
    site: Site, file: Path, d0ctl: Type
) -> None:
    site.fail("mc/1/1/1")
    d0ctl("retry", "mc:failed", "--memory", "1GB", "--yes")
    for path in ("mc/1/1/1", "mc/1/2/1", "mc/2/1/1"):
        site.finish(path)
    file.write_text(FIRST.replace("echo {word}", "echo again {word}"))

    plan = d0ctl("update", "mc", "--again", "--dry-run").stdout

    assert "1 package: memory 1GB -> none\n" in plan
    assert "memory" not in d0ctl("update", "mc", "--dry-run").stdout


def test_packages_of_other_jobs_are_named_and_stay_as_they_are(
    site: Site, file: Path, d0ctl: Type
) -> None:
    reader = file.with_name("reader.yaml")
    reader.write_text("stages: [{lines: [{run: cat all.txt, inputs: ['mc:all.txt']}]}]\n")
    d0ctl("submit", str(reader))
    for path in ("mc/1/1/1", "mc/1/2/1", "mc/2/1/1", "reader-001/1/1/1"):
        site.finish(path)
    file.write_text(FIRST.replace("cat {inputs}", "sort {inputs}"))

    plan = d0ctl("update", "mc", "--again", "--dry-run").stdout

    assert (
        "1 package of other jobs has read these files or what was made of them, and will not run "
        "again by this\n"
        "  reader-001/1/1/1\n"
        "once these have changed: d0ctl update reader-001/1/1/1 --again\n"
    ) in plan
    assert plan.splitlines()[-1] == "unchanged: 2 packages"
    d0ctl("update", "mc", "--again")
    assert (site.phase("mc/2/1/1"), site.phase("reader-001/1/1/1")) == ("ready", "done")


def test_jobs_that_read_files_of_each_other_run_again_after_these(
    site: Site, file: Path, d0ctl: Type
) -> None:
    for name, reads in (("ana", "mc:all.txt"), ("pub", "mc:all.txt"), ("sum", "ana:of-ana")):
        reader = file.with_name(f"{name}.yaml")
        line = f"run: cat, inputs: ['{reads}'], outputs: of-{name}"
        reader.write_text(f"job: {name}\nstages: [{{lines: [{{{line}}}]}}]\n")
        assert d0ctl("submit", str(reader)).exit_code == 0
    for path in ("mc/1/1/1", "mc/1/2/1", "mc/2/1/1", "ana/1/1/1", "pub/1/1/1", "sum/1/1/1"):
        site.finish(path)
    file.write_text(FIRST.replace("cat {inputs}", "sort {inputs}"))

    plan = d0ctl("update", "mc", "--again", "--dry-run").stdout
    dropped = d0ctl("kill-line", "mc/1/1", "--drop-outputs", "--dry-run").stdout

    first = "d0ctl update ana --again && d0ctl update pub --again"
    assert f": {first}, and once that has ended: d0ctl update sum --again\n" in plan
    own = "d0ctl update mc --again, and once that has ended"
    assert f": {own}: {first}, and once that has ended: d0ctl update sum --again\n" in dropped


def test_an_update_counts_all_packages_that_would_run_again(
    site: Site, file: Path, d0ctl: Type
) -> None:
    for path in ("mc/1/1/1", "mc/1/2/1", "mc/2/1/1"):
        site.finish(path)
    files = read(site.store, "location", "file_id", "cluster_id", "path", by="file_id")
    lost = [(file, cluster) for file, cluster, path in files if "all.txt" not in path]
    with site.store.writing():
        copies.lose(site.store, lost, now=time.time())
    file.write_text(FIRST.replace("[1, 2]", "[1, 3]"))

    updated = d0ctl("update", "mc").stdout
    remark = d0ctl("why", "mc").stdout
    site.finish("mc/1/3/1")
    again = d0ctl("update", "mc", "--again", "--dry-run").stdout

    more = "and 2 more because their outputs were removed"
    assert f"to run what is out of date, {more}: d0ctl update mc --again\n" in updated
    assert "which also reruns packages whose outputs were removed (--dry-run counts them)" in remark
    assert "in all: 3 packages to run again\n" in again


def test_the_plan_calls_packages_blocked_whose_inputs_can_not_come(
    site: Site, file: Path, d0ctl: Type
) -> None:
    site.finish("mc/1/1/1")
    site.fail("mc/1/2/1")
    file.write_text(FIRST.replace("cat {inputs}", "sort {inputs}"))

    plan = d0ctl("update", "mc", "--dry-run").stdout

    assert "1 package changed, with the new definition from now on: 1 blocked\n" in plan


def test_the_plan_for_a_part_says_why_outdated_packages_before_it_run_again(
    site: Site, file: Path, d0ctl: Type
) -> None:
    for path in ("mc/1/1/1", "mc/1/2/1", "mc/2/1/1"):
        site.finish(path)
    files = read(site.store, "location", "file_id", "cluster_id", "path", by="file_id")
    lost = [(file, cluster) for file, cluster, path in files if "s1.txt" in path]
    with site.store.writing():
        copies.lose(site.store, lost, now=time.time())
    file.write_text(FIRST.replace("echo", "printf").replace("cat {inputs}", "sort {inputs}"))

    plan = d0ctl("update", "mc/2", "--again", "--dry-run").stdout

    assert "1 package to run again: 1 successful\n  mc/2/1/1\n" in plan
    assert (
        "1 package to run again, because its outputs were removed: 1 successful\n  mc/1/1/1\n"
    ) in plan
    assert "in all: 2 packages to run again\n" in plan
    assert "1 package out of date, run with another recipe" in plan


def test_an_update_says_that_packages_that_ran_keep_the_dispositions_of_their_files(
    site: Site, file: Path, d0ctl: Type
) -> None:
    site.finish("mc/1/1/1")

    file.write_text(FIRST.replace('"s{n}.txt"\n', '{file: "s{n}.txt", disposition: deletable}\n'))
    plan = d0ctl("update", "mc", "--dry-run").stdout
    file.write_text(FIRST.replace('"s{n}.txt"\n', '"s{n}.txt"\n        memory: 1GB\n'))
    other = d0ctl("update", "mc", "--dry-run").stdout

    said = (
        "files of 1 package that has run keep their dispositions: "
        "d0ctl file set-disposition FILE DISPOSITION\n"
    )
    assert said in plan
    assert "disposition" not in other
    d0ctl("file", "set-disposition", "mc:s1.txt", "deletable", "--yes")
    file.write_text(FIRST.replace('"s{n}.txt"\n', '{file: "s{n}.txt", disposition: deletable}\n'))
    assert "keep their dispositions" not in d0ctl("update", "mc", "--dry-run").stdout


@pytest.fixture
def done(site: Site, file: Path) -> Path:
    """The job file, with a parameter, of a job whose packages have succeeded."""
    for package in sorted(site.phases()):
        site.finish(package)
    return file


def word(d0ctl: Type) -> object:
    """The parameter of the job."""
    return document(d0ctl("status", "mc", "--json").stdout)["parameters"]["word"]


@pytest.mark.parametrize("back", [["--previous"], ["--set", "word=hello"]])
def test_a_changed_parameter_is_undone_although_the_job_file_is_the_same(
    done: Path, d0ctl: Type, back: list[str]
) -> None:
    changed = d0ctl("update", "mc", "--set", "word=bye")
    assert "parameter word: hello -> bye\n" in changed.stdout
    assert "2 packages out of date" in changed.stdout
    assert "to undo: d0ctl update mc --previous" in changed.stderr
    assert word(d0ctl) == "bye"

    undone = d0ctl("update", "mc", *back).stdout

    assert undone.startswith("updated `mc`\nparameter word: bye -> hello\nunchanged: ")
    assert word(d0ctl) == "hello"
    assert "out of date" not in d0ctl("status", "mc").stdout
    assert "already matches its job file" in d0ctl("update", "mc").stdout


def test_the_commands_of_a_plan_have_its_options(done: Path, d0ctl: Type) -> None:
    other = done.with_name("my other.yaml")
    other.write_text(FIRST.replace("echo", "printf"))

    for words, said in (
        (["--set", "word=bye"], "--set word=bye"),
        (["--file", str(other)], f"--file '{other}'"),
    ):
        plan = d0ctl("update", "mc", *words, "--dry-run").stdout
        assert f"to run what is out of date: d0ctl update mc {said} --again\n" in plan
        assert f": d0ctl update mc {said} --accept\n" in plan
    changed = d0ctl("update", "mc", "--set", "word=bye").stdout
    assert "to run what is out of date: d0ctl update mc --again\n" in changed
    assert "to run again" in d0ctl("update", "mc", "--again").stdout
    assert word(d0ctl) == "bye"


def test_a_failed_package_with_its_definition_again_is_not_called_redefined(
    site: Site, file: Path, d0ctl: Type
) -> None:
    site.fail("mc/1/1/1")
    changed = "changed what it runs"

    d0ctl("update", "mc", "--set", "word=bye")
    assert changed in d0ctl("why", "mc/1/1/1").stdout
    d0ctl("update", "mc", "--previous")

    assert changed not in d0ctl("why", "mc/1/1/1").stdout
    assert "a plain retry may fail again" in d0ctl("why", "mc/1/1/1").stdout


def test_an_update_without_changes_names_the_job_file_that_it_has_read(
    file: Path, d0ctl: Type
) -> None:
    other = file.with_name("other.yaml")
    other.write_text(FIRST.replace("echo {word}", "echo again {word}"))
    d0ctl("update", "mc", "--file", str(other), "--yes")

    same = d0ctl("update", "mc").stdout
    d0ctl("update", "mc", "--file", str(file), "--yes")
    file.write_text(FIRST.replace("echo {word}", "echo once more {word}"))
    d0ctl("update", "mc", "--yes")
    d0ctl("update", "mc", "--previous", "--yes")
    back = d0ctl("update", "mc", "--again").stdout

    assert f"`mc` already matches its job file {other}\n" in same
    assert back.startswith("nothing to change in `mc`\nas `--previous` left it"), back


def test_the_plan_says_that_the_job_file_is_that_of_another_job(file: Path, d0ctl: Type) -> None:
    other = file.with_name("other.yaml")
    other.write_text(FIRST.replace("job: mc", "job: other"))
    said = "the job file says `job: other`; this job stays `mc`\n"

    plan = d0ctl("update", "mc", "--file", str(other), "--dry-run").stdout
    d0ctl("submit", str(file), "--as", "again")
    d0ctl("submit", str(other), "--as", "third")

    assert said in plan
    assert said in d0ctl("update", "mc", "--file", str(other), "--yes").stdout
    for job, path in (("mc", other), ("mc", file), ("again", file), ("third", other)):
        text = d0ctl("update", job, "--file", str(path), "--dry-run").stdout
        assert "the job file says" not in text, (job, path)
