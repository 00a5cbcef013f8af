"""What an end message says of outputs, compared with what its package declares."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from d0ctl.jobfile.spec import OutputSpec
from d0ctl.show.drawing.remark_texts import remark
from d0ctl.store import Store, open_store
from d0ctl.store.attempts import messages
from d0ctl.store.attempts.outputs import forget_wrong
from tests.support.homes import faults, make_home
from tests.support.jobs import NOW, job, phases, simple, submitted
from tests.support.messages import end_message, output
from tests.support.site import Site

LATE = OutputSpec("part-*", late=True, min_count=2)


def ended(
    store: Store, *names: str, late: Sequence[str] = (), outcome: str = "successful", **more: Any
) -> Any:
    """Submit a package that declares `a` and two parts, let it end so, and give its attempt."""
    submitted(store, job("all", [simple(outputs=["a", LATE])]))
    site = Site.of(store, cpus=2)
    site.schedule()
    for node in site.nodes.values():
        site.hand_out(node)
    answer = [output("/n/cache/1", name) for name in names]
    answer += [{**output("/n/cache/1", name), "late": "part-*"} for name in late]
    reason = None if outcome == "successful" else outcome
    with store.writing():
        end = end_message(1, outcome, reason, outputs=answer)
        messages.apply(store, [end | more], now=NOW + 5)
    return store.connection.execute("select outcome, reason, message from attempt").fetchone()


@pytest.mark.parametrize(
    ("names", "late", "reason", "sentence"),
    [
        ([], ["part-1", "part-2"], "missing-output", "output `a` is not in the end message"),
        (["a"], ["part-1"], "missing-output", "too few files of the late output `part-*`"),
        (["a", "b"], ["part-1", "part-2"], "verification", "`b` is in the end message, but not"),
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


def test_a_success_with_all_declared_outputs_is_believed(store: Store) -> None:
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


def arrived_otherwise(site: Site) -> None:
    """Make what is ready, and have another file arrive in the place of the output `x`."""
    site.schedule()
    [node] = site.nodes.values()
    site.hand_out(node)
    site.order(node)
    for attempt in list(node.attempts):
        node.end(attempt, "successful")
    site.deliver(node, list(node.spool))
    rows = site.store.connection.execute(
        "select file_id, cluster_id from location join file on file.id = file_id where name = 'x'"
    )
    copies = [tuple(row) for row in rows.fetchall()]
    with site.store.writing():
        forget_wrong(site.store, copies, "`x` is larger than its 7 bytes", now=site.now)


def test_a_package_fails_whose_results_are_not_what_it_said_again_and_again(store: Store) -> None:
    results = [OutputSpec("x", result=True), OutputSpec("y", result=True)]
    submitted(store, job("one", [simple(outputs=results)]))
    site = Site.of(store, cpus=2)
    for _ in range(2):
        arrived_otherwise(site)
        assert list(phases(store).values()) == ["ready"]

    arrived_otherwise(site)

    assert list(phases(store).values()) == ["failed"]
    answer = store.connection.execute(
        "select outcome, reason, message from attempt order by id desc limit 1"
    )
    assert tuple(answer.fetchone()) == (
        "failed", "verification", "`x` is larger than its 7 bytes",
    )  # fmt: skip
    assert store.connection.execute("select count(*) from transfer").fetchone()[0] == 0
    assert faults(store) == {}


def test_the_policy_for_verification_follows_such_a_failure(store: Store) -> None:
    policy = {"verification": {"tries": 1}}
    spec = simple(outputs=[OutputSpec("x", result=True)], policy=policy)
    submitted(store, job("one", [spec]))
    site = Site.of(store, cpus=2)

    for _ in range(3):
        arrived_otherwise(site)

    assert list(phases(store).values()) == ["ready"]
    assert faults(store) == {}


def test_a_package_is_held_whose_output_never_reaches_its_reader_as_it_said(store: Store) -> None:
    reader = simple(inputs=["x"], nodes=("nowhere",))
    submitted(store, job("one", [simple(outputs=["x"])], [reader]))
    site = Site.of(store, cpus=2)
    for _ in range(2):
        arrived_otherwise(site)
        assert list(phases(store).values()) == ["ready", "waiting"]

    arrived_otherwise(site)

    assert list(phases(store).values()) == ["held", "waiting"]
    note = store.connection.execute("select note from package where id = 1").fetchone()[0]
    assert remark(note) == "verification: `x` is larger than its 7 bytes"
    assert faults(store) == {}


def test_a_result_that_is_not_as_it_said_counts_against_its_node(store: Store) -> None:
    submitted(store, job("one", [simple(outputs=[OutputSpec("x", result=True)])]))
    site = Site.of(store, cpus=2)

    arrived_otherwise(site)

    for table in ("node_record", "job_node_record"):
        [answer] = store.connection.execute(f"select successful, failed from {table}")
        assert tuple(answer) == (0, 1)
    assert store.connection.execute("select streak from node_record").fetchone()[0] == 1
    assert faults(store) == {}
