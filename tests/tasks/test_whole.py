"""Whole tasks with the programs of d0ctl on this machine."""

import time

from tests.support import rows
from tests.support.site import Site

TASK = """
task: {name}
split: {split}
inputs: {inputs}
process:
  run: |
    {run}
  inputs: {files}
  outputs: ["{output}"]
{more}
"""


def submit(site: Site, name: str, **parts: str) -> None:
    """Submit a task as a user does."""
    given = {"split": "{}", "files": "[]", "output": "out-{package.index}.txt", "more": "",
             "run": "echo {files} > out-{package.index}.txt", **parts}  # fmt: skip
    site.ok("task", "submit", site.write(TASK.format(name=name, **given), f"{name}.yaml"))


def test_a_task_of_100_numbers_is_done(real_site: Site) -> None:
    submit(real_site, "demo", inputs="{seeds: {range: [1, 100]}}", split="{files-per-package: 10}")
    real_site.drive("demo")

    card = real_site.json("task", "status", "demo")
    assert card["status"] == "done"
    assert card["packages"] == 10
    assert [dataset["files"] for dataset in card["datasets"]] == [
        {"finished": 100},
        {"finished": 10},
    ]
    assert real_site.result("demo/out-1.txt") == "1 2 3 4 5 6 7 8 9 10\n"
    changes = real_site.json("task", "history", "demo")["changes"]
    assert [change["new"] for change in changes] == [
        "defined",
        "ready",
        "running",
        "prepared",
        "done",
    ]


def test_packages_that_are_made_later_wait_from_then_on(real_site: Site) -> None:
    submit(real_site, "demo", inputs="{seeds: {range: [1, 2]}}")
    with real_site.opened() as store:
        rows.change(store, "job", submitted=time.time() - 3600)

    real_site.drive("demo")

    assert real_site.json("report", "usage", "demo")["total"]["longest_wait"] < 600


def test_files_of_a_failed_package_go_into_smaller_ones_until_the_bad_one_is_alone(
    real_site: Site,
) -> None:
    submit(real_site, "flaky", inputs="{seeds: {range: [1, 16]}}",
           split="{files-per-package: 8, attempts: 4}",
           run="for n in {files}; do test $n != 5; done; echo {files} > {files.first}.txt",
           output="{files.first}.txt")  # fmt: skip
    real_site.d0ctl("run", "flaky")

    card = real_site.json("task", "status", "flaky")
    assert card["status"] == "finished"
    assert card["datasets"][0]["files"] == {"finished": 15, "failed": 1}


def test_a_goal_that_is_missed_exhausts_a_task(real_site: Site) -> None:
    submit(real_site, "goal", inputs="{seeds: {range: [1, 4]}}", split="{attempts: 1}",
           run="test {files} != 2; echo > out-{package.index}.txt", more="goal: 90%")  # fmt: skip
    real_site.d0ctl("run", "goal")

    card = real_site.json("task", "status", "goal")
    assert card["status"] == "exhausted"
    assert card["note"] == "3 of 4 files were processed, less than the goal of 90 %"


def test_why_of_a_task_names_the_reason_of_its_failed_scouts(real_site: Site) -> None:
    submit(real_site, "sick", inputs="{seeds: {range: [1, 9]}}", split="{scouts: 2}",
           run="echo no calibration >&2; exit 7")  # fmt: skip
    real_site.d0ctl("run", "sick")

    for words in (("task", "why", "sick"), ("why", "sick"), ("why", "sick/1/1/1")):
        said = real_site.ok(*words)
        assert "package `sick/1/1/1` failed: exit-code: " in said
        assert "no calibration" in said
    assert "it was dropped by d0ctl" in real_site.ok("why", "sick/1/1/1")


def test_why_of_a_job_without_packages_says_what_its_task_lacks(real_site: Site) -> None:
    real_site.write("file,events\na.raw,9000000\nb.raw,9000000\n", "many.csv")
    submit(real_site, "none", inputs="{raw: {csv: many.csv}}", split="{events-per-package: 1}",
           output="{package.first}.txt")  # fmt: skip
    real_site.d0ctl("run", "none")

    said = real_site.ok("why", "none")
    assert said.startswith("job `none` has no packages: its task is broken: ")
    assert "d0ctl task why none" in said
    assert "d0ctl why none" not in real_site.ok("task", "why", "none")


def test_files_of_a_folder_are_inputs_of_packages(real_site: Site) -> None:
    for number in range(5):
        (real_site.jobs / f"f{number}.raw").write_text(f"{number}\n")
    submit(real_site, "reco", inputs="{raw: {glob: '*.raw'}}", split="{files-per-package: 2}",
           files='["{files}"]', run="cat {files} > {files.first.stem}.txt",
           output="{files.first.stem}.txt")  # fmt: skip
    real_site.drive("reco")

    assert real_site.json("task", "status", "reco")["status"] == "done"
    assert real_site.result("reco/f2.txt") == "2\n3\n"


def test_two_packages_that_would_make_the_same_file_break_the_task(real_site: Site) -> None:
    submit(real_site, "same", inputs="{seeds: {range: [1, 4]}}", run="touch x", output="x")
    real_site.d0ctl("run", "same")

    card = real_site.json("task", "status", "same")
    assert card["status"] == "broken"
    assert "`x`" in card["note"]


def test_the_job_of_a_task_takes_no_job_file(real_site: Site) -> None:
    submit(real_site, "demo", inputs="{seeds: {range: [1, 4]}}")
    file = real_site.write("stages: [{lines: [{run: 'true'}]}]")

    answer = real_site.d0ctl("update", "demo", "--file", file)

    assert answer.code == 4
    assert "the packages of job `demo` are made by its task, not by a job file" in str(answer)


def test_outputs_are_merged_and_the_small_files_removed(real_site: Site) -> None:
    merge = """
merge:
  files-per-merge: 4
  run: cat {files} > all-{package.index}.txt
  inputs: ["{files}"]
  outputs: ["all-{package.index}.txt"]
"""
    submit(real_site, "merged", inputs="{seeds: {range: [1, 10]}}", more=merge)
    real_site.drive("merged")

    card = real_site.json("task", "status", "merged")
    assert card["status"] == "done"
    files = {dataset["dataset"]: dataset["files"] for dataset in card["datasets"]}
    assert files == {
        "seeds": {"finished": 10}, "output.unmerged": {"finished": 10}, "output": {"finished": 3},
    }  # fmt: skip
    parts = [real_site.result(f"merged/all-{number}.txt") for number in (1, 2, 3)]
    numbers = sorted(int(line) for part in parts for line in part.splitlines())
    assert numbers == list(range(1, 11))
    results = sorted(path.name for path in (real_site.home.results / "merged").glob("*.txt"))
    assert results == ["all-1.txt", "all-2.txt", "all-3.txt"]
    assert [file["copies"] for file in real_site.json("file", "list", "merged:out-*")["files"]] == (
        [[]] * 10
    )
