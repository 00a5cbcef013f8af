"""Packages that are not launched yet leave nodes that are drained or where inputs come too late."""

from pathlib import Path

from d0ctl.daemon.loop import Loop
from d0ctl.daemon.steps.schedule import rebroker, schedule
from d0ctl.show.drawing.remark_texts import remark
from tests.daemon.field import Field
from tests.support.jobs import job, simple, submitted
from tests.support.rows import change, insert, read, value


def assigned_to(field: Field) -> str | None:
    """The node of the package."""
    name: str | None = value(field.desk.store, "v_package", "node")
    return name


def placed(field: Field, tmp_path: Path, *, late_s: float) -> None:
    """A package has node `first` since then, and waits there for its input."""
    for name in ("first", "second"):
        field.add(name)
    (tmp_path / "data").write_bytes(bytes(1000))
    submitted(field.desk.store, job("job", [simple(inputs=[f"{tmp_path}/data"])]))
    Loop(field.desk).work([schedule])
    assert assigned_to(field) == "first"
    with field.desk.store.writing():
        for row in read(field.desk.store, "package", "id", "changed"):
            change(field.desk.store, "package", {"id": row[0]}, changed=row[1] - late_s,
                   planned=row[1] - late_s + 1.0)  # fmt: skip


def test_a_package_moves_from_a_drained_node_before_its_launch(
    field: Field, tmp_path: Path
) -> None:
    placed(field, tmp_path, late_s=0.0)
    with field.desk.store.writing():
        change(field.desk.store, "node", {"name": "first"}, drained=1)

    Loop(field.desk).work([rebroker, schedule])

    assert assigned_to(field) == "second"


def test_a_package_whose_inputs_are_much_too_late_goes_to_another_node(
    field: Field, tmp_path: Path
) -> None:
    placed(field, tmp_path, late_s=600.0)

    Loop(field.desk).work([rebroker])
    ((phase, note),) = read(field.desk.store, "package", "phase", "note")
    Loop(field.desk).work([schedule])

    assert phase == "ready"
    assert remark(note) == (
        "it waited 10 min 00 s for its inputs on first, and would end earlier on second"
    )
    assert assigned_to(field) == "second"


def test_a_package_stays_after_three_moves_or_if_it_is_not_late(
    field: Field, tmp_path: Path
) -> None:
    placed(field, tmp_path, late_s=30.0)
    Loop(field.desk).work([rebroker])
    assert assigned_to(field) == "first"
    with field.desk.store.writing():
        change(field.desk.store, "package", {}, planned=0.0, changed=0.0)
        for _ in range(3):
            insert(field.desk.store, "event", at=0.0, package_id=1, old="assigned", new="ready")

    Loop(field.desk).work([rebroker])

    assert assigned_to(field) == "first"
