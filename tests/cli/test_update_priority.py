"""Priorities of packages in updates: those that people gave stay, unless a job file has some."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Type
from tests.cli.test_history_undo import undoes
from tests.support.site import Site

JOB = """\
job: mc
parameters: {word: a}
stages:
- name: one
  lines: [{for: {n: {range: [1, 2]}}, run: 'echo {word} > {n}', outputs: '{n}', memory: 1GB}]
- name: two
  lines: [{run: 'cat 1 > end', inputs: [1], outputs: end}]
"""


@pytest.fixture
def file(site: Site, tmp_path: Path, d0ctl: Type) -> Path:
    """A job file that is submitted, and two of whose packages have a priority."""
    path = tmp_path / "mc.yaml"
    path.write_text(JOB)
    assert d0ctl("submit", str(path)).exit_code == 0
    assert d0ctl("priority", "mc/1/2", "mc/2", "95").exit_code == 0
    return path


def priorities(d0ctl: Type) -> list[int | None]:
    paths = ("mc/1/1/1", "mc/1/2/1", "mc/2/1/1")
    return [json.loads(d0ctl("status", path, "--json").stdout)["priority"] for path in paths]


def test_an_update_leaves_the_priorities_that_people_gave(file: Path, d0ctl: Type) -> None:
    d0ctl("limit", "mc", "--max-running", "2")

    limited = d0ctl("update", "mc").stdout
    nothing = d0ctl("update", "mc").stdout
    file.write_text(JOB.replace("range: [1, 2]", "list: [0, 1, 2]").replace("cat 1", "cp 1"))
    changed = d0ctl("update", "mc").stdout
    back = d0ctl("update", "mc", "--previous").stdout

    assert limited == "updated `mc`\nmax-running: 2 -> none\nunchanged: 3 packages\n"
    assert "already matches" in nothing
    assert "1 package added" in changed and "1 package changed" in changed
    assert "priority" not in changed + back
    assert priorities(d0ctl) == [None, 95, 95]


@pytest.mark.parametrize("has_parameter", [False, True])
def test_an_update_gives_the_priorities_of_the_job_file_and_says_so(
    has_parameter: bool, file: Path, d0ctl: Type
) -> None:
    file.write_text(JOB.replace("- name: one", "- name: one\n  priority: 0"))
    parameter = ["--set", "word=b"] if has_parameter else []

    plan = d0ctl("update", "mc", "--dry-run", *parameter).stdout
    done = d0ctl("update", "mc", *parameter).stdout
    given = priorities(d0ctl)
    file.write_text(JOB)
    back = d0ctl("update", "mc").stdout

    for text in (plan, done):
        assert "1 package: priority that of the job -> 0\n1 package: priority 95 -> 0\n" in text
    assert given == [0, 0, 95]
    assert "2 packages: priority 0 -> that of the job\n" in back
    of_their_own = d0ctl("priority", "mc", "60", "--dry-run").stdout
    assert "packages of `mc/2` have a priority of their own\n" in of_their_own
    assert priorities(d0ctl) == [None, None, 95]


def test_an_update_resets_other_requests_and_leaves_the_priority(file: Path, d0ctl: Type) -> None:
    d0ctl("edit", "mc/1/2", "--memory", "3GB")

    plan = d0ctl("update", "mc", "--dry-run").stdout
    d0ctl("update", "mc")

    assert "1 package: memory 3GB -> 1GB\n" in plan
    assert priorities(d0ctl) == [None, 95, 95]


def test_the_history_has_the_undo_of_a_priority_that_an_update_has_left(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    text = "job: mc\nstages: [{lines: [{run: a}, {run: b}]}]\n"
    (file := tmp_path / "mc.yaml").write_text(text)
    d0ctl("submit", str(file))
    d0ctl("priority", "mc/1", "80")
    file.write_text(text.replace("b}", "c}"))

    d0ctl("update", "mc")

    last = "d0ctl update mc --previous"
    assert undoes(d0ctl) == undoes(d0ctl, "mc") == ["d0ctl priority mc/1 50", last]
    d0ctl("priority", "mc/1", "50")
    assert undoes(d0ctl) == undoes(d0ctl, "mc") == [last, "d0ctl priority mc/1 80"]
