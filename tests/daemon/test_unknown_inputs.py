"""Inputs in a cache that the database does not know, as after a restore; by a real relay."""

import time
from pathlib import Path

import pytest

from d0ctl.daemon.desk import Desk
from d0ctl.daemon.steps import inventory
from d0ctl.doctor.orphans import AFTER_JOB, LATER, LEFT, NEXT, orphans
from d0ctl.nodes.inventory import Survey
from d0ctl.store.nodes import registry
from d0ctl_wrapper.protocol.paths import NodePaths
from d0ctl_wrapper.relay import listing
from tests.daemon.contact import list_again, listed, turn_until
from tests.support.jobs import job, simple, submitted
from tests.support.rows import insert, read, value

OF_NO_JOB = 2**41 + 204
"""The id of a file that a restored database does not have."""

pytestmark = pytest.mark.usefixtures("again_at_once")


@pytest.fixture
def again_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nodes list their files again without a pause."""
    monkeypatch.setattr(inventory, "AGAIN_S", 0.0)


def node_cache(desk: Desk) -> Path:
    """The folder of inputs of this machine's node, in contact."""
    turn_until(desk, lambda: listed(desk))
    return Path(value(desk.store, "node", "base", name="localhost")) / "cache/in"


def planted(cache: Path, name: str) -> Path:
    """An input in a cache."""
    path = cache / name
    path.parent.mkdir(parents=True)
    path.write_text("from before the restore")
    return path


def findings(desk: Desk, cache: Path) -> dict[str, tuple[str, bool]]:
    """What the doctor says of the files in the cache, and whether the next start repairs it."""
    base = cache.parents[1]
    survey = Survey()
    frame = {"id": "1", "checksums": False}
    for part in listing.survey(NodePaths(str(base).encode()), frame):
        survey.take(part["entries"])
    row = registry.find(desk.store, "localhost")
    assert row
    return {
        finding.subject.removeprefix("localhost:cache/in/"): (finding.detail, finding.heals)
        for finding in orphans(desk.store, row, survey)
    }


def running(desk: Desk, run: str) -> None:
    """Let a package run, and the database be restored after its launch."""
    submitted(desk.store, job("job", [simple(run)]))
    turn_until(desk, lambda: read(desk.store, "package", "phase") == [("running",)])
    with desk.store.writing():
        insert(desk.store, "action", at=time.time(), actor="eve", verb="restore", target="")


def test_an_input_of_no_job_is_removed_with_the_first_inventory(desk: Desk) -> None:
    cache = node_cache(desk)
    path = planted(cache, f"{OF_NO_JOB}/r-2.txt")
    assert findings(desk, cache) == {f"{OF_NO_JOB}/r-2.txt": (NEXT, False)}

    list_again(desk)
    assert findings(desk, cache) == {}
    turn_until(desk, lambda: not path.parent.exists())

    list_again(desk)
    assert read(desk.store, "cache_finding", "path", by="path") == []


def test_a_fetched_input_that_no_attempt_reports_is_removed_with_the_second_inventory(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache = node_cache(desk)
    path = planted(cache, "u-1/raw")
    monkeypatch.setattr(inventory, "AGAIN_S", 3600.0)

    desk.inventory_due.clear()
    turn_until(desk, lambda: desk.suspects)
    assert read(desk.store, "purge", "path") == []
    assert path.exists()
    desk.inventory_due.clear()

    turn_until(desk, lambda: not path.parent.exists())


def test_inputs_of_a_job_and_files_of_people_stay(desk: Desk) -> None:
    submitted(desk.store, job("job", [simple("true", outputs=["f"], nodes=("another",))]))
    file = value(desk.store, "file", "id")
    cache = node_cache(desk)
    paths = [planted(cache, f"{file}/f"), planted(cache, "mine/notes")]

    list_again(desk)

    assert read(desk.store, "purge", "path") == []
    assert all(path.exists() for path in paths)
    assert findings(desk, cache) == {f"{file}/f": (AFTER_JOB, False), "mine/notes": (LEFT, False)}


def test_an_input_that_a_package_from_before_a_restore_may_read_is_removed_after_it(
    desk: Desk, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    running(desk, f"while [ ! -e {gate} ]; do sleep 0.05; done")
    cache = node_cache(desk)
    path = planted(cache, f"{OF_NO_JOB}/r-2.txt")

    list_again(desk)

    assert read(desk.store, "purge", "path") == []
    assert findings(desk, cache) == {f"{OF_NO_JOB}/r-2.txt": (LATER, False)}
    gate.touch()
    turn_until(desk, lambda: read(desk.store, "package", "phase") == [("done",)])
    list_again(desk)
    turn_until(desk, lambda: not path.exists())


def test_without_inventories_the_doctor_promises_no_removal(desk: Desk) -> None:
    cache = node_cache(desk)
    planted(cache, f"{OF_NO_JOB}/r-2.txt")
    with desk.store.writing():
        desk.store.change("keep_setting", name="defaults", value='{"inventory-every": 0}')

    assert findings(desk, cache) == {f"{OF_NO_JOB}/r-2.txt": (LEFT, False)}
