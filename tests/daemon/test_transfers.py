"""What couriers carry between nodes that are slow, removed, added again or overtaken."""

import hashlib
from pathlib import Path

import pytest

from d0ctl.daemon.desk import Desk
from d0ctl.daemon.loop import Loop
from d0ctl.daemon.steps.schedule import schedule
from d0ctl.daemon.steps.transfers import begin_transfers
from d0ctl.daemon.turn import Turn
from d0ctl.store.attempts.launching import launches
from d0ctl.store.nodes import registry
from tests.daemon.contact import Disk, start_message, turn, turn_until
from tests.daemon.field import Field
from tests.support.jobs import job, simple, submitted
from tests.support.rows import change, count, insert, read, value


def test_a_slow_source_node_delays_no_other_transfer(field: Field) -> None:
    slow, quick = field.add("slow"), field.add("quick")
    field.disks["quick"].may_read.set()
    *_, wanted = field.files_at(*[slow] * 500, quick)
    turn_until(field.desk, wanted.exists)


def test_a_file_is_fetched_from_any_node_of_the_cluster_that_has_it(field: Field) -> None:
    node, _ = field.add("one", cluster="farm"), field.add("two", cluster="farm")
    (wanted,) = field.files_at(node)
    registry.forget(field.desk.store, "one", now=0.0)
    field.disks["two"].may_read.set()
    turn_until(field.desk, wanted.exists)


def test_transfers_of_a_removed_node_are_made_by_another(field: Field) -> None:
    node = field.add("one", cluster="farm")
    found = field.files_at(node, node)
    turn_until(field.desk, lambda: field.desk.transfers)
    field.disks["two"] = Disk()
    field.disks["two"].may_read.set()
    field.add("two", cluster="farm")
    registry.forget(field.desk.store, "one", now=0.0)
    turn_until(field.desk, lambda: all(file.exists() for file in found))


@pytest.mark.parametrize("destination", ["old", "new"])
def test_a_node_added_again_gets_a_new_connection(field: Field, destination: str) -> None:
    field.add("n1", "old")
    registry.forget(field.desk.store, "n1", now=0.0)
    field.add("n1", destination)
    assert field.reached == ["old", destination]


def test_a_node_that_was_another_machine_is_reached_again_once_it_is_added_again(
    field: Field,
) -> None:
    node = field.add("n1", "old")
    with field.desk.store.writing():
        change(field.desk.store, "node", machine="former")
    field.closing[-1].close()
    turn_until(
        field.desk,
        lambda: (
            "another machine" in str(registry.by_id(field.desk.store, node).last_error)  # type: ignore[union-attr]
        ),
    )
    registry.forget(field.desk.store, "n1", now=0.0)
    field.add("n1", "old")


def test_a_copy_of_a_file_that_was_made_again_does_not_count_as_the_new_one(
    field: Field,
) -> None:
    slow = field.add("slow")
    field.files_at(slow)
    turn_until(field.desk, lambda: field.desk.transfers)
    store = field.desk.store
    with store.writing():
        change(store, "file", size=5, checksum=f"sha256:{hashlib.sha256(b'fresh').hexdigest()}")
        change(store, "location", path="fresh")
    field.disks["slow"].may_read.set()
    wanted = field.home.results / "job" / "f0"
    turn_until(field.desk, lambda: not count(store, "transfer"))
    assert wanted.read_text() == "fresh"


def test_when_a_file_is_made_again_its_former_copies_elsewhere_count_no_more(
    desk: Desk,
) -> None:
    store = desk.store
    submitted(store, job("job", [simple(outputs=["f"])]))
    with store.writing():
        change(store, "node", state="up", cpus=100)
        insert(store, "cluster", id=7, name="far")
        schedule(desk, Turn(0.0))
        launches.launch(store, [1], limit=100, now=0.0)
        change(store, "file", present=1, size=3, checksum="sha256:old")
        insert(store, "location", file_id=1, cluster_id=7, path="/old", made=0)
    attempt = value(store, "attempt", "id")
    end = {
        "kind": "end", "outcome": "successful", "started": 0.0, "ended": 1.0, "binary": 1,
        "reason": None, "detail": "", "exit_code": 0, "signal": None, "cpu": 0.0, "rss": 0,
        "stderr": "", "binaries": [], "missing": [],
        "outputs": [{"name": "f", "path": "/new", "size": 3, "checksum": f"sha256:{'0' * 64}"}],
    }  # fmt: skip
    desk.dropbox.deliver("localhost", [start_message(desk, attempt, **end)])
    turn(desk)
    assert read(store, "location", "path", by="path") == [("/new",)]


def test_a_file_that_is_larger_than_the_free_space_of_a_node_is_not_copied_there(
    field: Field, tmp_path: Path
) -> None:
    field.free = 900
    node, store = field.add("n1"), field.desk.store
    cluster = value(store, "node", "cluster_id", id=node)
    submitted(store, job("job", [simple(outputs=["small", "large"])], hold=True))
    with store.writing():
        for name, size in (("small", 800), ("large", 1000)):
            (tmp_path / name).write_bytes(bytes(size))
            change(store, "file", {"name": name}, present=1, size=size)
            (file,) = read(store, "file", "id", name=name)[0]
            insert(store, "location", file_id=file, cluster_id=1, path=str(tmp_path / name), made=0)
            insert(store, "transfer", file_id=file, cluster_id=cluster, wanted=file)

    Loop(field.desk).work([begin_transfers])

    (error,) = read(store, "transfer", "last_error", by="file_id", file_id=file)[0]
    assert error == "node `n1` has 900 B of disk left, but the file has 1.0 kB"
    assert {transfer.file for transfer in field.desk.transfers} == {file - 1}


def assigned_to(desk: Desk) -> str | None:
    """The node of the first package."""
    name: str | None = value(desk.store, "v_package", "node")
    return name


def crowded(field: Field, tmp_path: Path, exclude: tuple[str, ...] = ()) -> None:
    """A package assigned to `small`, whose disk can't keep its input; `large` has room."""
    for name, free in (("small", 900), ("large", 5000)):
        field.free = free
        field.add(name)
    (tmp_path / "data").write_bytes(bytes(1000))
    submitted(
        field.desk.store, job("job", [simple(inputs=[f"{tmp_path}/data"], exclude_nodes=exclude)])
    )
    Loop(field.desk).work([schedule])
    assert assigned_to(field.desk) == "small"


def test_a_package_whose_input_its_node_has_no_space_for_goes_to_another_one(
    field: Field, tmp_path: Path
) -> None:
    crowded(field, tmp_path)

    Loop(field.desk).work([begin_transfers])
    (phase, note) = read(field.desk.store, "package", "phase", "note")[0]
    Loop(field.desk).work([schedule])

    why = "node `small` has 900 B of disk left, but the file has 1.0 kB"
    assert (phase, note) == ("ready", why)
    assert assigned_to(field.desk) == "large"


@pytest.mark.parametrize("obstacle", ["drained", "excluded", "full"])
def test_a_package_that_no_other_node_has_space_for_waits_where_it_is(
    field: Field, tmp_path: Path, obstacle: str
) -> None:
    crowded(field, tmp_path, exclude=("large",) if obstacle == "excluded" else ())
    with field.desk.store.writing():
        if obstacle == "drained":
            change(field.desk.store, "node", {"name": "large"}, drained=1)
        elif obstacle == "full":
            change(field.desk.store, "node", {"name": "large"}, facts='{"disk_free": 900}')

    Loop(field.desk).work([begin_transfers])

    assert read(field.desk.store, "package", "phase") == [("assigned",)]
    assert assigned_to(field.desk) == "small"
