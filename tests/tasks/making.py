"""Tasks for tests: their files, their submission, and rounds of the agents."""

from pathlib import Path
from typing import Any

from d0ctl.agents import round as rounds
from d0ctl.store import Store
from d0ctl.store.tasks import submission
from d0ctl.taskfile import reader
from d0ctl.taskfile.spec import TaskSpec
from tests.support.jobs import NOW

TEXT = """
task: {name}
inputs: {inputs}
split: {split}
process:
  run: {run}
  inputs: {files}
  outputs: ["{output}"]
{more}
"""


def text(
    name: str = "demo",
    inputs: str = "{seeds: {range: [1, 100]}}",
    split: str = "{}",
    run: str = "echo {files} > out-{package.index}.txt",
    files: str = "[]",
    output: str = "out-{package.index}.txt",
    more: str = "",
) -> str:
    """The text of a task file."""
    return TEXT.format(
        name=name, inputs=inputs, split=split, run=run, files=files, output=output, more=more
    )


def read(folder: Path = Path("/"), **parts: Any) -> TaskSpec:
    """A task as its file says."""
    return reader.read_text(text(**parts), "task.yaml", folder)


def submit(store: Store, folder: Path = Path("/"), now: float = NOW, **parts: Any) -> int:
    """Submit a task; return its number."""
    name, _ = submission.submit(store, read(folder, **parts), now=now, actor="tester")
    found = submission.find(store, name)
    assert found is not None
    return found


def submitted(store: Store, contents: int = 0) -> int:
    """A task with files in its datasets, and a range of events, without any agent."""
    task = submit(store)
    ask = store.connection.execute
    for dataset, output in ask("select id, output from dataset").fetchall():
        for seq in range(contents):
            ask("insert into content (dataset_id, output, seq, name, status)"
                " values (?, ?, ?, ?, ?)",
                [dataset, output, seq, f"file{seq}", "defined" if output else "ready"])  # fmt: skip
    ask(
        "insert into event_range (content_id, dataset_id, first, last)"
        " select min(id), dataset_id, 1, 9 from content"
    )
    return task


def work(store: Store, now: float = NOW, most: int = 50) -> None:
    """Let the agents work until nothing changes any more."""
    for _ in range(most):
        if not rounds.take(store, clock=lambda: now):
            return
    raise AssertionError("the agents do not come to rest")


def status_of(store: Store, task: int) -> str:
    """The status of a task."""
    return str(store.connection.execute("select status from task where id = ?", [task])
               .fetchone()[0])  # fmt: skip


def contents(store: Store, output: int = 0) -> dict[str, str]:
    """The status of each file, by its name."""
    rows: list[Any] = store.connection.execute(
        "select name, status from content where output = ? order by seq", [output]
    ).fetchall()
    return {row["name"]: row["status"] for row in rows}
