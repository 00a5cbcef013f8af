"""The task that every schedule of agents disturbs, and what the database says of it."""

from pathlib import Path
from typing import Any

from d0ctl.store import open_store
from d0ctl.store.tasks import state, submission
from tests.chaos.field import Field
from tests.chaos.work import JOB, RULE

STEP = Path(__file__).with_name("step.sh")

BAD = "bad"
"""The file that can't be processed, in the middle of others."""

FILES = 24
"""With how many others the dataset begins."""

MORE = 4
"""How many arrive at a time."""

TEXT = """\
task: {job}
inputs: {{numbers: {{lines: numbers.txt}}}}
split: {{files-per-package: 3, attempts: 5{scouts}}}
policy:
  exit-code: {{tries: 0}}
  signal: {rule}
  stage-in: {rule}
  stage-out: {rule}
  missing-output: {rule}
  disk-full: {rule}
  launch-failed: {rule}
  platform-failure: {{tries: 60}}
  lost: {{tries: 60}}
process:
  run: sh {step} {journal} {{package.index}} {{files}}
  outputs: ["out-{{package.index}}.txt"]
"""


def write(field: Field) -> Path:
    """Write the task file and its list, once: a repeated submission finds what has arrived."""
    path = field.folder / "storm.yaml"
    if not path.exists():
        scouts = ", scouts: 3, scout-success: 1%" if field.plan.seed % 3 == 0 else ""
        text = TEXT.format(job=JOB, rule=RULE, step=STEP, journal=field.journal.path, scouts=scouts)
        path.write_text(text)
        numbers = [f"n{number}" for number in range(1, FILES + 1)]
        _keep(field, [*numbers[:10], BAD, *numbers[10:]])
    return path


def arrive(field: Field) -> None:
    """More files come into the dataset."""
    there = names(field)
    _keep(field, [*there, *(f"n{len(there) + number}" for number in range(MORE))])


def names(field: Field) -> list[str]:
    """The files of the dataset at present."""
    return (field.folder / "numbers.txt").read_text().split()


def _keep(field: Field, files: list[str]) -> None:
    aside = field.folder / "numbers.aside"
    aside.write_text("".join(f"{name}\n" for name in files))
    aside.rename(field.folder / "numbers.txt")


def status(field: Field) -> str:
    """The status of the task; nothing before its submission."""
    with open_store(field.home, read_only=True) as store:
        number = submission.find(store, JOB)
        task = None if number is None else state.task(store, number)
    return "" if task is None else task.status


def ask(field: Field, query: str) -> list[tuple[Any, ...]]:
    """What a query finds."""
    with open_store(field.home, read_only=True) as store:
        return [tuple(row) for row in store.connection.execute(query)]
