"""Jobs across nodes behind sshd, each with folders of its own."""

import time

import pytest

from d0ctl.jobfile.spec import OutputSpec
from d0ctl.store import open_store
from tests.support.jobs import job, simple, stage
from tests.support.rows import change
from tests.support.session import Session
from tests.support.sshd import Sshd
from tests.support.waiting import wait_until


@pytest.fixture
def north(session: Session) -> Sshd:
    """The first node; this machine takes nothing."""
    session.drain()
    return session.add("north")


@pytest.fixture
def south(session: Session) -> Sshd:
    """The second node."""
    return session.add("south")


def test_files_go_from_node_to_node_and_home(session: Session, north: Sshd, south: Sshd) -> None:
    raw = session.folder / "raw file"
    raw.write_text("raw\n")
    first = simple(
        session.ran("first", "cat 'raw file' > one; echo 1 >> one"),
        inputs=[str(raw)], outputs=["one"], nodes=("north",),
    )  # fmt: skip
    second = simple(
        session.ran("second", "cat one > two; echo 2 >> two"),
        inputs=["one"], outputs=[OutputSpec("two", result=True)], nodes=("south",),
    )  # fmt: skip

    session.drive(session.submit(job("pass", stage(first), stage(second))))

    assert session.result("pass/two") == "raw\n1\n2\n"
    assert session.runs() == {"first": 1, "second": 1}
    assert [attempt[0] for attempt in session.attempts()] == ["north", "south"]
    assert not list(session.home.cache.rglob("one"))
    assert session.faults() == {}


def test_a_copy_that_was_spoilt_on_its_node_is_made_again(
    session: Session, north: Sshd, south: Sshd
) -> None:
    first = simple(session.ran("first", "echo 1 > one"), outputs=["one"], nodes=("north",))
    gate = simple(session.ran("gate", session.gate("gate"), "echo > go"), outputs=["go"])
    second = simple(
        session.ran("second", "cat one > two"),
        inputs=["one", "go"], outputs=[OutputSpec("two", result=True)], nodes=("south",),
    )  # fmt: skip
    session.daemon()
    session.submit(job("pass", stage(first, gate), stage(second)))
    session.wait_for(pass_1_1_1="done", pass_1_2_1="running")

    (copy,) = session.base("north").glob("cache/*/one")
    copy.write_text("2\n")
    session.open("gate")

    session.wait_for(30, pass_2_1_1="done")
    assert session.result("pass/two") == "1\n"
    assert session.runs() == {"first": 2, "gate": 1, "second": 1}
    assert session.faults() == {}


def test_a_brought_copy_that_vanished_is_no_failure(
    session: Session, north: Sshd, south: Sshd
) -> None:
    first = simple(session.ran("first", "echo 1 > one"), outputs=["one"], nodes=("north",))
    reads = simple(session.ran("reads", "cat one"), inputs=["one"], nodes=("south",))
    gate = simple(session.ran("gate", session.gate("gate"), "echo > go"), outputs=["go"])
    again = simple(session.ran("again", "cat one go"), inputs=["one", "go"], nodes=("south",))
    session.daemon()
    session.submit(job("pass", stage(first, gate), stage(reads, again)))
    session.wait_for(pass_2_1_1="done", pass_1_2_1="running")

    for path in session.base("south").glob("cache/in/*/one"):
        path.unlink()
    session.open("gate")

    session.wait_for(30, pass_2_2_1="done")
    assert session.runs()["first"] == 1
    assert ("south", "failed", "missing-input") in session.attempts()
    assert session.faults() == {}


def test_an_outside_file_that_is_removed_fails_its_reader_and_blocks_no_node(
    session: Session, north: Sshd
) -> None:
    raw = session.folder / "raw"
    raw.write_text("raw\n")
    number = session.submit(
        job(
            "one",
            [simple(session.ran("a"), inputs=[str(raw)])],
            policy={"missing-input": {"tries": 0}},
        )
    )
    raw.unlink()

    session.drive(number)

    assert session.phases() == {"one/1/1/1": "failed"}
    assert [attempt[2] for attempt in session.attempts()] == ["missing-input"]


def test_a_node_that_becomes_another_machine_is_left_alone(session: Session, north: Sshd) -> None:
    session.daemon()
    wait_until(lambda: session.node("north")["state"] == "up", 20)
    with open_store(session.home) as store, store.writing():
        change(store, "node", {"name": "north"}, machine="another")

    north.cut()

    wait_until(lambda: "another machine" in str(session.node("north")["last_error"]), 20)
    assert session.node("north")["state"] == "down"


def test_a_daemon_that_ends_while_a_node_hangs_ends_at_once(session: Session, north: Sshd) -> None:
    daemon = session.daemon()
    wait_until(lambda: session.node("north")["state"] == "up", 20)
    north.freeze()
    began = time.monotonic()

    assert session.end(daemon) == 0

    assert time.monotonic() - began < 4
    north.thaw()
