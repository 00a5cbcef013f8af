"""A large job, whose rows a child makes: the same rows, and nothing left whatever ends either."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from d0ctl.config import Home
from d0ctl.store import open_store
from d0ctl.store.jobs.removal import sweep
from d0ctl.store.jobs.submission.making import LARGE
from tests.store.test_submit import TABLES, rows
from tests.support.waiting import wait_until

SUBMIT = """
import sys, threading
from pathlib import Path
from d0ctl.config import Home
from d0ctl.errors import D0Error
from d0ctl.jobfile.reader import read_text
from d0ctl.store import open_store
from d0ctl.store.jobs.submission.submit import submit
def main():
    with open_store(Home(Path(sys.argv[1])), create=True) as store:
        try:
            submit(store, read_text(sys.argv[3]), now=1.0, actor="tester")
        except D0Error as error:
            print(error)
if sys.argv[2] == "beside a thread":
    thread = threading.Thread(target=main)
    thread.start()
    thread.join()
else:
    main()
"""

JOB = """
job: large
stages:
  - name: early
    lines: [{{run: "use {{inputs}}", inputs: all, outputs: used}}]
  - name: sim
    lines:
      - for: {{n: {{range: [1, {count}]}}, e: [a, b c]}}
        run: [sim, "{{e}}", "{{n}}"]
        inputs: [{{file: /etc/hostname, acquire: none}}]
        outputs: "{{n}}-{{e.stem}}"
  - name: merge
    lines:
      - {{run: "cat {{inputs}}", inputs: {{from: sim, match: "1*"}}, outputs: all}}
      - {{run: "use {{inputs}}", inputs: {{file: "{foreign}", required: no}}, outputs: last}}
"""


def submission(
    home: Path, count: int, how: str = "alone", foreign: str = "all"
) -> subprocess.Popen[str]:
    """Start a process that submits a job of two packages for each of `count` numbers."""
    words = [sys.executable, "-c", SUBMIT, str(home), how, JOB.format(count=count, foreign=foreign)]
    return subprocess.Popen(words, stdout=subprocess.PIPE, text=True)


def child_of(process: subprocess.Popen[str]) -> int:
    """Wait for the child of a process."""
    children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
    wait_until(children.read_text, 60)
    return int(children.read_text().split()[0])


def is_gone(pid: int) -> bool:
    """Whether a process has ended."""
    return not Path(f"/proc/{pid}").exists()


def contents(root: Path) -> dict[str, list[tuple[object, ...]]]:
    """All rows of a home that jobs fill, but for the jobs themselves."""
    with open_store(Home(root)) as store:
        return {
            table: sorted(map(tuple, store.connection.execute(f"select * from {table}")), key=repr)
            for table in TABLES
            if table != "job"
        }


def test_a_child_makes_the_same_rows_as_the_process_itself(tmp_path: Path) -> None:
    for how in ("alone", "beside a thread"):
        assert submission(tmp_path / how, LARGE // 2, how).communicate()[0] == ""

    by_child, by_itself = contents(tmp_path / "alone"), contents(tmp_path / "beside a thread")

    assert len(by_child["package"]) == LARGE + 3
    assert by_child == by_itself


def test_a_fault_that_shows_after_many_rows_leaves_none(tmp_path: Path) -> None:
    process = submission(tmp_path / "home", LARGE, foreign="gone:file")

    assert "job `gone` makes no file `file` any more" in process.communicate()[0]
    with open_store(Home(tmp_path / "home")) as store:
        assert rows(store) == {}


@pytest.mark.parametrize("killed", ["child", "parent"])
def test_a_submission_whose_child_or_parent_is_killed_leaves_nothing(
    tmp_path: Path, killed: str
) -> None:
    process = submission(tmp_path / "home", 6 * LARGE)
    child = child_of(process)

    os.kill(child if killed == "child" else process.pid, signal.SIGKILL)
    said = process.communicate()[0]
    wait_until(lambda: is_gone(child), 60)

    assert ("the process that makes the rows of the job was killed" in said) == (killed == "child")
    with open_store(Home(tmp_path / "home")) as store:
        sweep(store, now=2.0)
        assert rows(store) == {}
