"""What an end message says of outputs, compared with what its package declares."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from d0ctl.construct.spec import OutputSpec
from d0ctl.store import Store, open_store
from d0ctl.store.runs import messages
from tests.support.homes import faults, make_home
from tests.support.jobs import NOW, job, phases, simple, submitted
from tests.support.world import World, end_message, output

LATE = OutputSpec("part-*", late=True, min_count=2)


def ended(
    store: Store, *names: str, late: Sequence[str] = (), outcome: str = "successful", **more: Any
) -> Any:
    """Submit a package that declares `a` and two parts, let it end so, and give its attempt."""
    submitted(store, job("all", [simple(outputs=["a", LATE])]))
    world = World(store)
    world.schedule()
    for node in world.nodes.values():
        world.launch(node)
    told = [output("/n/cache/1", name) for name in names]
    told += [{**output("/n/cache/1", name), "late": "part-*"} for name in late]
    reason = None if outcome == "successful" else outcome
    with store.writing():
        end = end_message(1, outcome, reason, outputs=told)
        messages.apply(store, [{**end, **more}], now=NOW + 5)
    return store.connection.execute("select outcome, reason, message from attempt").fetchone()


@pytest.mark.parametrize(
    ("names", "late", "reason", "sentence"),
    [
        ([], ["part-1", "part-2"], "missing-output", "output `a` is not in the end message"),
        (["a"], ["part-1"], "missing-output", "too few files of the late output `part-*`"),
        (["a", "b"], ["part-1", "part-2"], "verification", "`b` is in the end message, and is not"),
        (["a", "a"], ["part-1", "part-2"], "verification", "twice"),
    ],
)
def test_a_success_with_other_outputs_than_declared_is_not_believed(
    store: Store, names: list[str], late: list[str], reason: str, sentence: str
) -> None:
    attempt = ended(store, *names, late=late)

    assert (attempt["outcome"], attempt["reason"]) == ("failed", reason)
    assert sentence in attempt["message"]
    assert phases(store) == {"all/1/1/1": "failed"}
    assert not _copies(store)
    assert faults(store) == {}


def test_a_success_with_all_that_is_declared_is_believed(store: Store) -> None:
    assert ended(store, "a", late=["part-1", "part-2"])["outcome"] == "successful"
    assert len(_copies(store)) == 3


def test_an_early_end_keeps_no_output_that_is_not_declared(tmp_path: Path) -> None:
    with open_store(make_home(tmp_path / "home")) as store:
        ended(store, "a", "b", outcome="killed", partial=True)

        assert [row["name"] for row in _copies(store)] in ([], ["a"])
        assert faults(store) == {}


def _copies(store: Store) -> list[Any]:
    query = "select file.name from location join file on file.id = location.file_id"
    return store.connection.execute(query).fetchall()
