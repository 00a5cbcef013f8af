"""What is missing when a task is submitted: a fault with its position, unless it may come later."""

from pathlib import Path

import pytest

from d0ctl.errors import BadJobFile
from d0ctl.jobfile.site_names import KnownNames
from d0ctl.taskfile import reader
from tests.support.site import Site
from tests.tasks.making import text

LATER = ": `wait-for-input: yes` under `split` if its files come later"

KNOWN = KnownNames(nodes=["farm01"], cached=lambda node, unread: [],
                   outputs_of={"other": ["output", "histograms"]}.get)  # fmt: skip


def faults(folder: Path, more: str = "", **parts: str) -> list[str]:
    """The faults of a task file that is submitted."""
    try:
        reader.read_text(text(**parts) + more, "task.yaml", folder, known=KNOWN, is_new=True)
    except BadJobFile as error:
        return list(error.faults)
    return []


@pytest.mark.parametrize(
    ("source", "fault"),
    [
        ("{glob: '*.rew'}", f"22: no file matches `*.rew`{LATER}"),
        ("[a.raw, b.raw]", f"23: there is no file `b.raw` (did you mean `a.raw`?){LATER}"),
        ("{list: [b.raw]}", f"23: there is no file `b.raw` (did you mean `a.raw`?){LATER}"),
        ("{lines: none.txt}", f"23: there is no file `none.txt` beside the task file{LATER}"),
        ("{csv: none.csv}", f"21: there is no file `none.csv` beside the task file{LATER}"),
        ("{catalogue: rucio d}", "27: no installed package has a catalogue `rucio`; there are"
         " `csv` and `sqlite`"),
        ("{cache: farm02}", "23: there is no node `farm02` (did you mean `farm01`?)"),
        ("{task: another}", "22: there is no task `another`: d0ctl task list"),
        ("{task: other, dataset: histogram}", "38: task `other` has no output dataset `histogram`"
         " (did you mean `histograms`?)"),
    ],
)  # fmt: skip
def test_a_missing_input_is_a_fault_at_its_position(
    tmp_path: Path, source: str, fault: str
) -> None:
    (tmp_path / "a.raw").touch()

    found = faults(tmp_path, inputs=f"{{raw: {source}}}", files='["{files}"]')

    assert found == [f"task.yaml:3:{fault}"]


@pytest.mark.parametrize("source", ["{glob: '*.rew'}", "[b.raw]", "{lines: none.txt}"])
def test_files_may_come_later_if_the_task_waits_for_input(tmp_path: Path, source: str) -> None:
    parts = {"inputs": f"{{raw: {source}}}", "files": '["{files}"]'}

    assert faults(tmp_path, split="{wait-for-input: yes}", **parts) == []


def test_files_that_are_on_the_nodes_are_not_looked_for_here(tmp_path: Path) -> None:
    entry = '[{file: "{files}", acquire: none}]'

    assert faults(tmp_path, inputs="{raw: [/data/b.raw]}", files=entry) == []


def test_an_unknown_parent_is_a_fault(tmp_path: Path) -> None:
    found = faults(tmp_path, more="parent: nobody\n")

    assert found == ["task.yaml:10:9: there is no task `nobody`: d0ctl task list"]


def test_a_parameter_that_the_task_does_not_have_is_a_fault() -> None:
    with pytest.raises(BadJobFile) as caught:
        reader.read_text(text(more="parameters: {mode: fast}"), "task.yaml",
                         parameters={"moed": "slow"})  # fmt: skip

    assert list(caught.value.faults) == [
        "task.yaml:9:1: the task has no parameter `moed` to set (did you mean `mode`?)"
    ]


def test_what_would_break_the_first_package_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "a.raw").touch()

    found = faults(tmp_path, inputs="{raw: [a.raw]}", files='["{files}", reco.sh]')

    assert found == [
        "task.yaml:7:23: no package makes `reco.sh`, and it is not beside the task file"
    ]


def test_what_would_break_the_first_merge_is_a_fault(tmp_path: Path) -> None:
    merge = 'merge: {files-per-merge: 2, run: cat, inputs: ["{files}", hadd.sh], outputs: [all]}'

    found = faults(tmp_path, more=merge)

    assert found == [
        "task.yaml:10:59: no package makes `hadd.sh`, and it is not beside the task file"
    ]


def test_a_submission_with_a_missing_input_leaves_nothing(real_site: Site) -> None:
    task = text(inputs="{raw: {glob: '*.rew'}}", files='["{files}"]')

    answer = real_site.d0ctl("task", "submit", real_site.write(task, "task.yaml"))

    assert answer.code == 2
    assert f"task.yaml:3:22: no file matches `*.rew`{LATER}" in str(answer)
    assert real_site.json("task", "list", "--json") == {"tasks": []}


@pytest.mark.parametrize("rule", ["files-per-package: 2", "gigabytes-per-package: 1"])
def test_a_command_that_takes_one_file_only_is_a_fault_if_packages_have_several(
    tmp_path: Path, rule: str
) -> None:
    for name in ("a.raw", "b.raw"):
        (tmp_path / name).touch()
    parts = {"inputs": "{raw: {glob: '*.raw'}}", "files": '["{files}"]',
             "run": "sh -c 'cat {files} > out-{package.index}.txt'"}  # fmt: skip

    (found, *_) = faults(tmp_path, split=f"{{{rule}}}", **parts)

    assert "`{files}` is inside quotes" in found
    assert faults(tmp_path, split="{files-per-package: 1}", **parts) == []
