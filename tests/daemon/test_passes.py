"""Turns of the loop place packages if a node may take more, or if more packages are ready."""

import time
from pathlib import Path

import pytest

from d0ctl.daemon.in_progress import CONTROL_HOST, Transfer
from d0ctl.daemon.loop import Loop
from d0ctl.daemon.steps.schedule import schedule
from d0ctl.daemon.turn import Turn
from d0ctl.dropbox import ReceivedMessages
from d0ctl.nodes.courier_reports import Received, Report, StreamEnded, TransferEnded
from d0ctl.schedule.resources import SOON_S
from tests.daemon.field import Field
from tests.support.jobs import job, simple, submitted
from tests.support.rows import count, read


def assigned(field: Field, *what: Report | str, ready_left: int = 2) -> int:
    """How many packages a turn places in which these messages and reports have arrived."""
    field.add("first")
    submitted(field.desk.store, job("job", [simple(), simple()]))
    field.desk.is_between_passes, field.desk.ready_left = True, ready_left
    messages = [{"kind": kind} for kind in what if isinstance(kind, str)]
    received = ReceivedMessages(messages)  # type: ignore[arg-type]
    reports = [report for report in what if not isinstance(report, str)]
    Loop(field.desk).work([schedule], received, reports)
    return count(field.desk.store, "package", phase="assigned")


QUIET: list[Report | str] = [
    "start", "progress", "note", StreamEnded(1, 2), TransferEnded(1, Transfer(1, 2, 0), None),
    Received(1, {"kind": "accepted", "attempts": [1]}),
]  # fmt: skip


def test_a_turn_that_only_brings_copies_starts_and_progress_places_nothing(field: Field) -> None:
    assert assigned(field, *QUIET) == 0


@pytest.mark.parametrize(
    "arrived",
    ["end", "state", "part", TransferEnded(1, Transfer(1, CONTROL_HOST, 0), None),
     Received(1, {"kind": "pong"})],
    ids=["end", "state", "part", "copy-here", "pong"],
)  # fmt: skip
def test_a_turn_in_which_a_node_may_take_more_places_packages(
    field: Field, arrived: Report | str
) -> None:
    assert assigned(field, *QUIET, arrived) > 0


def test_a_turn_in_which_more_packages_are_ready_places_them(field: Field) -> None:
    assert assigned(field, *QUIET, ready_left=1) > 0


def test_a_free_cpu_is_kept_until_inputs_that_come_soon_are_there_or_late(
    field: Field, tmp_path: Path
) -> None:
    field.add("first")
    (tmp_path / "data").write_bytes(bytes(1000))
    store = field.desk.store
    submitted(store, job("urgent", [simple(inputs=[f"{tmp_path}/data"])]))
    submitted(store, job("bulk", [simple(), simple()]))

    def placed(at: float) -> list[tuple[object, ...]]:
        with store.writing():
            schedule(field.desk, Turn(at))
        return read(store, "package", "job_id", phase="assigned")

    now = time.time()
    urgent = placed(now)
    again = placed(now + SOON_S / 2)
    late = placed(now + SOON_S + 0.1)

    assert urgent == again == [(1,)]
    assert late == [(1,), (2,)]
