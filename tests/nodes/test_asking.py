"""Stores that are asked, before a job is submitted, whether they can serve it."""

import time
from pathlib import Path

import pytest

from d0ctl.jobfile.reader import read_text
from d0ctl.jobfile.spec import JobSpec
from d0ctl.nodes.storage import asking

READS_TWO = """\
job: read
stages:
  - lines:
      - {run: cat a, inputs: [{file: a, locator: 'store:shelf/run 1/a'}]}
      - {run: cat b, inputs: [{file: b, locator: 'store:shelf/b'}]}
      - {run: cat c, inputs: [{file: c, locator: 'store:shelf/c'}]}
      - {run: echo > d, outputs: [{file: d, locator: 'store:tape/d'}]}
"""


@pytest.fixture
def spec(tmp_path: Path) -> JobSpec:
    """A job that reads three files of a store and stores one in another."""
    return read_text(READS_TWO, "job.yaml", tmp_path)


def test_a_file_that_a_store_lacks_and_a_store_that_is_off_are_named(
    spec: JobSpec, tmp_path: Path
) -> None:
    (tmp_path / "run 1").mkdir()
    (tmp_path / "run 1" / "a").touch()
    off = "echo the robot is off >&2; exit 1"

    found = asking.faults(spec, {"shelf": {"directory": str(tmp_path)}, "tape": {"check": off}})

    assert found == [
        "store `shelf` has no file `b`, nor 1 more that the job reads",
        "store `tape`: the robot is off",
    ]


def test_only_stores_with_missing_files_are_mentioned(spec: JobSpec, tmp_path: Path) -> None:
    (tmp_path / "run 1").mkdir()
    for name in ("run 1/a", "b", "c"):
        (tmp_path / name).touch()

    found = asking.faults(
        spec, {"shelf": {"directory": str(tmp_path)}, "unused": {"check": "exit 1"}}
    )

    assert found == []


def test_a_file_that_the_job_stores_itself_need_not_be_there_before(tmp_path: Path) -> None:
    text = """\
job: round
stages:
  - lines:
      - {run: echo > a, outputs: [{file: a, locator: 'store:shelf/a'}]}
  - lines:
      - {run: cat b, inputs: [{file: b, locator: 'store:shelf/a'}]}
"""

    assert asking.faults(read_text(text, "job.yaml", tmp_path),
                         {"shelf": {"directory": str(tmp_path)}}) == []  # fmt: skip


def test_a_store_that_hangs_delays_a_submission_for_a_bounded_time(
    spec: JobSpec, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asking, "ASKED_S", 0.5)
    begun = time.monotonic()

    found = asking.faults(spec, {"tape": {"check": "sleep 60; echo late"}})

    (fault,) = found
    assert fault.startswith("store `tape` did not answer within 0.")
    assert time.monotonic() - begun < 30
