"""What a turn costs does not grow with the packages that wait, nor with nodes at rest."""

import time
from pathlib import Path

from d0ctl.daemon.drive import driving
from d0ctl.daemon.loop import SLOW_STEPS, STEPS, Loop
from d0ctl.daemon.steps.monitor import assign_couriers
from d0ctl.daemon.turn import Turn
from d0ctl.model import Address
from d0ctl.store.nodes import contact, registry
from tests.daemon.field import Field
from tests.support.homes import make_home
from tests.support.jobs import job, simple, submitted
from tests.support.rows import value

CPUS = 8
FACTS = {"cpus": CPUS, "base": "/far", "disk": 10**12, "disk_free": 10**11}


def work_of_steps(root: Path, count: int) -> tuple[dict[str, int], int]:
    """How far SQLite counts in each step of two turns beside so many chains, and what waits."""
    with driving(make_home(root), None) as desk:
        store, now = desk.store, time.time()
        first = [simple(inputs=["/far/data"], outputs=[f"a{n}"]) for n in range(count)]
        second = [simple(inputs=[f"a{n}"], outputs=[f"b{n}"]) for n in range(count)]
        submitted(store, job("job", first, second), now=now)
        for name in ("one", "two"):
            node = registry.add(store, Address(name, destination=name), cpus=CPUS, cluster="shared")
            with store.writing():
                contact.up(store, node, FACTS, now=now)
        found: dict[str, int] = {}
        steps = [step for step in (*STEPS, *SLOW_STEPS) if step is not assign_couriers]
        counter = [0]

        def count_on() -> int:
            counter[0] += 1
            return 0

        for turn in ("first", "second"):
            with store.writing():
                for step in steps:
                    counter[0] = 0
                    store.connection.set_progress_handler(count_on, 1)
                    step(desk, Turn(now))
                    store.connection.set_progress_handler(None, 0)
                    found[f"{step.__name__} of the {turn} turn"] = counter[0]
        return found, sum(value(store, "stage_count", "n", phase=phase, stage_id=stage)
                          for stage, phase in ((1, "ready"), (2, "waiting")))  # fmt: skip


def test_sql_work_per_turn_is_independent_of_waiting_packages(tmp_path: Path) -> None:
    few, waiting = work_of_steps(tmp_path / "few", 100)
    many, waiting_then = work_of_steps(tmp_path / "many", 1_000)

    assert waiting_then - waiting == 2 * 900
    assert sum(few.values()) > 1_000
    assert many == few


def statements_of_a_turn(field: Field) -> int:
    """How many statements a turn with nothing to do takes; some turns do more, by the clock."""
    store, counts = field.desk.store, list[int]()
    for _ in range(5):
        said: list[str] = []
        store.connection.set_trace_callback(said.append)
        Loop(field.desk).work((*STEPS, *SLOW_STEPS))
        counts.append(len(said))
    store.connection.set_trace_callback(None)
    return min(counts)


def test_queries_per_turn_are_independent_of_idle_nodes(field: Field) -> None:
    for name in ("one", "two"):
        field.add(name)
    beside_two = statements_of_a_turn(field)
    for name in ("three", "four", "five", "six"):
        field.add(name)

    assert 10 < statements_of_a_turn(field) <= beside_two
