"""update: a job that was submitted, corrected by its job file."""

from pathlib import Path

import pytest

from tests.cli.conftest import Type
from tests.support.building import document, production
from tests.support.site import Site

FIRST = """\
job: mc
priority: 50
parameters: {word: hello}
stages:
  - name: sim
    lines:
      - for: {n: {range: [1, 2]}}
        run: "echo {word} {n} > s{n}.txt"
        outputs: "s{n}.txt"
  - name: merge
    lines:
      - run: "cat {inputs} > all.txt"
        inputs: {from: sim}
        outputs: all.txt
"""
SECOND = FIRST.replace("[1, 2]", "[2, 4]").replace("cat {inputs}", "sort {inputs}")


@pytest.fixture
def file(tmp_path: Path, d0ctl: Type) -> Path:
    """A job file that is submitted, with one parameter set, and then corrected."""
    path = tmp_path / "mc.yaml"
    path.write_text(FIRST)
    assert d0ctl("submit", str(path), "--set", "word=bye").exit_code == 0
    path.write_text(SECOND.replace("priority: 50", "priority: 80"))
    return path


PLAN = """\
would update `mc`
priority: 50 -> 80
2 packages added: 2 new
  mc/1/3/1
  mc/1/4/1
1 package removed, no longer in the job file: 1 ready
  mc/1/1/1
1 package changed, with the new definition from now on: 1 waiting
  mc/2/1/1
unchanged: 1 package
"""


def test_a_rehearsal_shows_the_plan_and_changes_nothing(file: Path, d0ctl: Type) -> None:
    assert d0ctl("submit", "--update", str(file), "--dry-run").stdout == PLAN
    assert d0ctl("update", "mc", "--dry-run").stdout == PLAN

    counts = document(d0ctl("status", "mc", "--json").stdout)["packages"]
    assert counts["unscheduled"] == 3


def script(d0ctl: Type, path: str) -> str:
    """What a binary runs."""
    found: str = document(d0ctl("status", path, "--json").stdout)["script"]
    return found


def test_lines_that_the_job_file_no_longer_has_are_not_called_a_loss(
    file: Path, d0ctl: Type
) -> None:
    d0ctl("submit", "--update", str(file))
    assert d0ctl("kill-line", "mc/1/2", "--drop-outputs").exit_code == 0

    card, answer = d0ctl("status", "mc").stdout, document(d0ctl("status", "mc", "--json").stdout)

    assert "1 line dropped · 1 line removed by `update`" in card
    assert (answer["dropped"], answer["removed"]) == (2, 1)
    assert (
        "`update` removed the line: the job file does not have it" in d0ctl("why", "mc/1/1").stdout
    )
    assert "`update` removed" not in d0ctl("why", "mc/1/2").stdout


def test_an_update_adds_removes_and_changes_and_keeps_what_was_set(file: Path, d0ctl: Type) -> None:
    reply = d0ctl("submit", "--update", str(file))

    assert reply.stdout.startswith("updated `mc`\npriority: 50 -> 80\n2 packages added")
    assert "to undo: d0ctl update mc --previous" in reply.stderr
    assert "echo bye 4" in script(d0ctl, "mc/1/4/1/1")
    assert "sort" in script(d0ctl, "mc/2/1/1/1")
    reads = document(d0ctl("status", "mc/2/1/1", "--json").stdout)["inputs"]
    assert [one["file"] for one in reads] == ["s2.txt", "s3.txt", "s4.txt"]
    found = document(d0ctl("status", "mc", "--json").stdout)
    assert (found["dropped"], found["packages"]["unscheduled"]) == (1, 4)
    assert "update" in d0ctl("history", "mc").stdout
    again = d0ctl("update", "mc")
    assert again.stdout == f"`mc` already matches its job file {file}\nunchanged: 4 packages\n"
    assert "to undo" not in again.stderr


def test_an_update_by_a_file_without_a_priority_leaves_one_that_a_person_set(
    tmp_path: Path, d0ctl: Type
) -> None:
    path = tmp_path / "mc.yaml"
    path.write_text(FIRST.replace("priority: 50\n", ""))
    d0ctl("submit", str(path))
    d0ctl("priority", "mc", "80")
    path.write_text(SECOND.replace("priority: 50\n", ""))

    assert "priority" not in d0ctl("update", "mc").stdout
    assert document(d0ctl("status", "mc", "--json").stdout)["priority"] == 80
    path.write_text(SECOND.replace("priority: 50", "priority: 60"))
    assert "priority: 80 -> 60" in d0ctl("update", "mc").stdout
    assert "priority: 60 -> 50" in d0ctl("update", "mc", "--previous").stdout


def test_an_update_is_undone_by_the_previous_job_file(file: Path, d0ctl: Type) -> None:
    d0ctl("update", "mc")

    assert d0ctl("update", "mc", "--previous").exit_code == 0
    counts = document(d0ctl("status", "mc/1", "--json").stdout)["packages"]
    assert (counts["unscheduled"], counts["canceled"]) == (2, 2)
    assert "echo bye 1" in script(d0ctl, "mc/1/1/1/1")


@pytest.mark.parametrize("has_changed", [True, False])
def test_the_undo_of_an_update_that_holds_the_job_releases_it(
    file: Path, d0ctl: Type, has_changed: bool
) -> None:
    if not has_changed:
        d0ctl("update", "mc")

    undo = d0ctl("update", "mc", "--hold").stderr.partition("to undo: ")[2].splitlines()[0]

    assert undo.split(" && ") == ["d0ctl update mc --previous"] * has_changed + ["d0ctl release mc"]
    for command in undo.split(" && "):
        assert d0ctl(*command.split()[1:]).exit_code == 0
    assert document(d0ctl("status", "mc", "--json").stdout)["held"] is None


def test_packages_that_run_again_by_the_same_job_file_leave_the_previous_one(
    site: Site, file: Path, d0ctl: Type
) -> None:
    site.finish("mc/1/2/1")
    changed = FIRST.replace("echo {word}", "echo again {word}")
    file.write_text(changed)
    d0ctl("update", "mc")

    again = d0ctl("update", "mc", "--again")

    assert "1 package to run again" in again.stdout and "to undo" not in again.stderr
    assert d0ctl("update", "mc", "--previous").exit_code == 0
    assert "echo bye 1" in script(d0ctl, "mc/1/1/1/1")


@pytest.mark.parametrize("word", ["bye", "hello"])
def test_an_update_that_changes_only_a_parameter_can_be_undone(
    file: Path, d0ctl: Type, word: str
) -> None:
    file.write_text(FIRST)
    undo = d0ctl("update", "mc", "--set", f"word={word}").stderr

    assert ("to undo: d0ctl update mc --previous" in undo) is (word != "bye")
    history = d0ctl("history", "mc").stdout
    assert (f"--set word={word}" in history) is (word != "bye")


def test_lines_that_a_job_file_has_again_are_restored(file: Path, d0ctl: Type) -> None:
    d0ctl("update", "mc")
    file.write_text(FIRST)

    reply = d0ctl("update", "mc").stdout

    assert "1 package restored, in the job file again: 1 dropped" in reply
    assert "unchanged: 1 package" in reply


def test_failed_packages_with_another_recipe_wait_for_a_retry(
    site: Site, file: Path, d0ctl: Type
) -> None:
    site.fail("mc/1/2/1")
    file.write_text(FIRST.replace("echo {word}", "echo again {word}"))

    reply = d0ctl("update", "mc")

    assert "to run the failed ones: d0ctl retry 'mc:failed'" in reply.stdout
    assert "out of date" not in reply.stdout


def test_a_failed_package_with_another_recipe_says_so_and_offers_the_retry(
    site: Site, file: Path, d0ctl: Type
) -> None:
    site.fail("mc/1/2/1")
    before = " ".join(d0ctl("status", "mc/1/2/1").stdout.split())
    file.write_text(FIRST.replace("echo {word}", "echo again {word}"))
    d0ctl("update", "mc", "--yes")

    after = " ".join(d0ctl("status", "mc/1/2/1").stdout.split())
    d0ctl("retry", "mc/1/2/1", "--yes")
    site.fail("mc/1/2/1")
    again = " ".join(d0ctl("status", "mc/1/2/1").stdout.split())

    advice, fact = "a plain retry may fail again", "`update` changed what it runs, reads or makes"
    assert [advice in said for said in (before, after, again)] == [True, False, True]
    assert [fact in said for said in (before, after, again)] == [False, True, False]
    assert "d0ctl retry mc/1/2/1" in after


def test_other_requests_alone_do_not_promise_another_end(
    site: Site, file: Path, d0ctl: Type
) -> None:
    site.fail("mc/1/2/1")
    file.write_text(
        FIRST.replace('outputs: "s{n}.txt"', 'outputs: "s{n}.txt"\n        memory: 1GB')
    )
    d0ctl("update", "mc", "--yes")

    assert "a plain retry may fail again" in " ".join(d0ctl("why", "mc/1/2/1").stdout.split())


def test_another_file_corrects_a_job_that_is_named(file: Path, d0ctl: Type) -> None:
    other = file.with_name("other.yaml")
    other.write_text(FIRST.replace("[1, 2]", "[1, 3]"))

    assert "1 package added" in d0ctl("update", "mc", "--file", str(other)).stdout
    assert "echo bye 3" in script(d0ctl, "mc/1/3/1/1")


def test_an_impossible_update_is_refused_with_the_reason(
    site: Site, file: Path, d0ctl: Type
) -> None:
    site.submit(production())

    def reply(*words: str) -> tuple[int, str]:
        found = d0ctl(*words)
        return found.exit_code, found.stderr

    code, words = reply("update", "prod")
    assert (code, "--file FILE" in words) == (4, True)
    code, words = reply("update", "mc", "--previous")
    assert (code, "has no previous job file" in words) == (4, True)
    code, words = reply("submit", str(file), "--again")
    assert (code, "--again needs --update" in words) == (2, True)
    assert reply("update", "nobody")[0] == 3
    moved = file.rename(file.with_name("moved.yaml"))
    code, words = reply("update", "mc")
    assert (code, "the job file of `mc` does not exist" in words) == (4, True)
    moved.rename(file)
    file.write_text(SECOND.replace("lines:", "liens:"))
    assert reply("update", "mc")[0] == 2
    file.write_text(SECOND.replace("job: mc\n", ""))
    other = file.rename(file.with_name("never.yaml"))
    code, words = reply("submit", "--update", str(other))
    assert (code, "no job was submitted from" in words) == (3, True)


def test_an_update_can_hold_the_job_and_print_json(file: Path, d0ctl: Type) -> None:
    dry = d0ctl("submit", "--update", str(file), "--dry-run", "--json")
    done = d0ctl("submit", "--update", str(file), "--hold", "--json")

    assert document(dry.stdout) == {"job": "mc", "packages": 4, "dry_run": True}
    assert document(done.stdout) == {"job": "mc", "packages": 4, "no_node": []}
    shown = d0ctl("status", "mc").stdout
    assert "held by" in shown and ": held by" not in shown
    assert "held" in d0ctl("submit", "--update", str(file), "--wait").stdout


DIRECTORIES = """\
job: dirs
stages:
  - name: plot
    require: 50%
    lines:
      - {run: "mkdir p", inputs: "mc:s1.txt", outputs: p/}
  - name: pack
    require: 50%
    lines:
      - {run: "ls {inputs}", inputs: {from: plot}, outputs: listed}
"""


def test_a_job_with_directories_files_of_other_jobs_and_require_is_corrected(
    file: Path, d0ctl: Type
) -> None:
    path = file.with_name("dirs.yaml")
    path.write_text(DIRECTORIES)
    assert d0ctl("submit", str(path)).exit_code == 0

    assert "job `dirs` reads `s1.txt`" in d0ctl("update", "mc", "--dry-run").stderr
    path.write_text(DIRECTORIES.replace("50%", "80%").replace("p/", "q/").replace("s1", "s2"))
    assert d0ctl("update", "dirs").stdout.startswith("updated `dirs`\n2 packages changed")

    stages = document(d0ctl("export", "dirs", "--format", "json").stdout)["stages"]
    plot, pack = (stage["lines"][0]["packages"][0]["binaries"][0] for stage in stages)
    assert [stage["require"] for stage in stages] == ["0.8", "0.8"]
    assert (plot["inputs"][0]["file"], plot["outputs"][0]["file"]) == ("mc:s2.txt", "q/")
    assert pack["inputs"][0]["file"] == "q/"
    assert d0ctl("update", "mc", "--dry-run").exit_code == 0
