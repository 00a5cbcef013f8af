"""Random job files of one production, and what a job is by its rows, whatever their ids."""

from collections.abc import Iterable
from typing import Any

from hypothesis import strategies as st

from d0ctl.jobfile.spec import InputSpec, JobSpec, LineSpec, OutputSpec, StageSpec
from d0ctl.store import Store
from tests.support.jobs import job, line, simple, stage

NUMBERS = st.integers(0, 1)

Key = tuple[str, str, int]
Shape = tuple[Any, ...]


@st.composite
def jobs(draw: st.DrawFn, *, with_order: bool = True) -> JobSpec:
    """A job that simulates, reconstructs some of it and merges everything."""
    present = draw(st.lists(st.integers(1, 4), unique=True, min_size=1))
    simulated = [_simulation(draw, number) for number in present]
    made = [output.file for line in simulated for output in line.packages[-1].binaries[0].outputs]
    read = made[: draw(st.integers(0, 2))]
    reconstructed = [
        LineSpec(f"of={name}", (simple(f"reco {draw(NUMBERS)}", [name], [f"{name}.reco"]),))
        for name in read
    ]
    inputs = [InputSpec(name, required=False) for name in made if name not in read]
    inputs += [InputSpec(f"{name}.reco", required=False) for name in read]
    merged = simple(
        f"merge {draw(NUMBERS)}",
        [*inputs, "/outside"],
        ["merged"],
        memory=draw(NUMBERS) * 1000 or None,
    )
    merge = LineSpec("merge", (merged,), early_start=draw(st.booleans()))
    stages = [stage(*simulated, name="sim")]
    if reconstructed:
        stages.append(stage(*reconstructed, name="reco"))
    stages.append(stage(merge, name="merge"))
    if with_order:
        stages += _ordered(draw, len(stages))
    return job("first", *stages, priority=50 + draw(NUMBERS))


def _simulation(draw: st.DrawFn, number: int) -> LineSpec:
    script, name = f"sim {number} {draw(NUMBERS)}", f"s{number}"
    memory = draw(NUMBERS) * 1000 or None
    result = draw(NUMBERS) == 1
    output = OutputSpec("late-*" if number == 4 else name, late=number == 4, result=result)
    first = simple(script, outputs=[f"{name}.gen"], memory=memory)
    last = simple("digitise", [f"{name}.gen"], [output])
    chain = draw(st.booleans())
    packages = (first, last) if chain else (simple(script, outputs=[output], memory=memory),)
    return LineSpec(f"n={number}", packages)


def _ordered(draw: st.DrawFn, number: int) -> list[StageSpec]:
    """Stages without files that come after others, and one after everything else."""
    after = tuple(range(1, draw(st.integers(1, number)) + 1))
    lines = [LineSpec("clean", (simple("clean"),))]
    if draw(st.booleans()):
        lines.append(LineSpec("tidy", (simple("tidy"),), after=((number + 1, 1),)))
    found = [StageSpec("clean", tuple(lines), after=after)]
    if draw(st.booleans()):
        found.append(StageSpec("tell", (line(simple("tell")),), final=True))
    return found


def shape(store: Store, only: Iterable[int] | None = None) -> dict[Key, Shape]:
    """What packages are to do, by stage, line and number; without lines that are left."""
    rows = store.connection.execute(
        "select package.id, package.stage_id, stage.name as stage, line.name as line, package.seq,"
        "  package.missing, package.early, package.name, wall_time, package.environment"
        "  from package join line on line.id = line_id join stage on stage.id = line.stage_id"
        " where line.named <> 2 order by package.id"
    )
    wanted = None if only is None else set(only)
    return {
        (row["stage"], row["line"], row["seq"]): (
            tuple(row)[5:], _requirement(store, row["id"]), _binaries(store, row["id"]),
            _inputs(store, row["id"]), _outputs(store, row["id"]), _before(store, row["id"]),
        )
        for row in rows.fetchall()
        if wanted is None or row["id"] in wanted
    }  # fmt: skip


def _rows(store: Store, text: str, package: int) -> list[tuple[Any, ...]]:
    return [tuple(row) for row in store.connection.execute(text, [package])]


def _requirement(store: Store, package: int) -> list[tuple[Any, ...]]:
    return _rows(
        store,
        "select cpus, memory, disk, space, nodes, requirement.early, fetches, priority"
        " from requirement join package on requirement_id = requirement.id where package.id = ?",
        package,
    )


def _binaries(store: Store, package: int) -> list[tuple[Any, ...]]:
    return [row[1:] for row in _rows(store, "select * from binary where package_id = ?", package)]


def _inputs(store: Store, package: int) -> list[tuple[Any, ...]]:
    return _rows(
        store,
        "select input.binary, position, own, acquire, required, file.name"
        " from input join file on file.id = file_id"
        " where input.package_id = ? and pattern_id is null"
        " order by input.binary, position, file.name",
        package,
    )


def _outputs(store: Store, package: int) -> list[tuple[Any, ...]]:
    return _rows(
        store,
        "select name, binary, result, dispositions, late, min_count, present, dropped"
        " from file where package_id = ? and pattern_id is null order by name",
        package,
    )


def _before(store: Store, package: int) -> list[tuple[Any, ...]]:
    return _rows(
        store,
        "select before.name from package join line_order on line_order.line_id = package.line_id"
        " join line as before on before.id = after_id where package.id = ? and package.seq = 1"
        " order by 1",
        package,
    )
