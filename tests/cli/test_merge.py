"""`merge: yes` in a job file, and the commands of a site for it."""

from pathlib import Path

import pytest

from tests.cli.conftest import Type

JOB = """\
job: merged
stages:
  - name: sim
    lines:
      - for: {n: {range: [1, 3]}}
        run: printf 'n,m\\n{n},1\\n' > t-{n}.csv
        outputs: ["t-{n}.csv"]
  - name: merge
    lines:
      - merge: yes
        inputs: {from: sim}
        outputs: [all.csv]
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a job file, where commands are typed."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "job.yaml").write_text(JOB)
    return tmp_path


def test_a_package_merges_its_inputs_by_their_type(folder: Path, d0ctl: Type) -> None:
    assert d0ctl("run", "job.yaml").exit_code == 0

    assert (folder / "home/results/merged/all.csv").read_text() == "n,m\n1,1\n2,1\n3,1\n"


def test_a_site_may_merge_a_type_in_its_own_way(folder: Path, d0ctl: Type) -> None:
    (folder / "site.yaml").write_text("merge: {.csv: 'tail -qn +2 {inputs} >{output}'}\n")
    assert d0ctl("site", "apply", "site.yaml", "--yes").exit_code == 0

    assert d0ctl("run", "job.yaml").exit_code == 0

    assert (folder / "home/results/merged/all.csv").read_text() == "1,1\n2,1\n3,1\n"


FAULTS = [
    ("outputs: [all.csv]", "outputs: [all.xyz]", "is not of a type that can be merged: `.txt`"),
    ("outputs: [all.csv]", "outputs: ['all.{x}']", "needs the suffix of `all.{x}` written out"),
    ("outputs: [all.csv]", "outputs: [all.csv, b.csv]", "`merge` needs one output"),
    ("outputs: [all.csv]", "shell: sh\n        outputs: [all.csv]", "replaces `shell`"),
    ("merge: yes", "merge: perhaps", "`merge` takes `yes` or `no`, not `perhaps`"),
    ("merge: yes", "merge: no", "needs `run`"),
    ("        inputs: {from: sim}\n", "", "`merge` needs `inputs`"),
]


@pytest.mark.parametrize(("old", "new", "said"), FAULTS)
def test_files_that_can_not_be_merged_are_a_fault(
    folder: Path, d0ctl: Type, old: str, new: str, said: str
) -> None:
    (folder / "job.yaml").write_text(JOB.replace(old, new))

    reply = d0ctl("validate", "job.yaml")

    assert (reply.exit_code, said in reply.stderr) == (2, True), reply.stderr


def test_an_invalid_merge_value_is_one_fault(folder: Path, d0ctl: Type) -> None:
    (folder / "job.yaml").write_text(JOB.replace("merge: yes", "merge: perhaps"))

    assert d0ctl("validate", "job.yaml").stderr.count("job.yaml:") == 1


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("merge: {root: 'hadd {output} {inputs}'}", "is not the end of a file name"),
        ("merge: {.root: 'hadd x {inputs}'}", "needs `{output}`"),
        ("merge: {.root: 'hadd \"{output}\" {inputs}'}", "is inside quotes"),
        ("merge: hadd", "takes a mapping of names"),
    ],
)
def test_a_command_of_a_site_that_can_not_merge_is_a_fault(
    folder: Path, d0ctl: Type, text: str, said: str
) -> None:
    (folder / "site.yaml").write_text(f"{text}\n")

    reply = d0ctl("site", "check", "site.yaml")

    assert (reply.exit_code, said in reply.stderr) == (2, True), reply.stderr
