"""Jobs across nodes behind sshd, each with folders of its own."""

import time

import pytest

from d0ctl.jobfile.spec import OutputSpec
from d0ctl.store import open_store
from tests.support.jobs import job, simple, stage
from tests.support.rows import change
from tests.support.site import Site
from tests.support.sshd import Sshd


@pytest.fixture
def north(site: Site) -> Sshd:
    """The first node; this machine takes nothing."""
    site.alone()
    site.add("north")
    return site.sshds["north"]


@pytest.fixture
def south(site: Site) -> Sshd:
    """The second node."""
    site.add("south")
    return site.sshds["south"]


def test_files_go_from_node_to_node_and_home(site: Site, north: Sshd, south: Sshd) -> None:
    raw = site.folder / "raw file"
    raw.write_text("raw\n")
    first = simple(
        site.ran("first", "cat 'raw file' > one; echo 1 >> one"),
        inputs=[str(raw)], outputs=["one"], nodes=("north",),
    )  # fmt: skip
    second = simple(
        site.ran("second", "cat one > two; echo 2 >> two"),
        inputs=["one"], outputs=[OutputSpec("two", result=True)], nodes=("south",),
    )  # fmt: skip

    site.drive(site.submit(job("pass", stage(first), stage(second))))

    assert site.result("pass/two") == "raw\n1\n2\n"
    assert site.runs() == {"first": 1, "second": 1}
    assert [attempt[0] for attempt in site.attempts()] == ["north", "south"]
    assert not list(site.home.cache.rglob("one"))
    assert site.faults() == {}


def test_a_copy_that_was_damaged_on_its_node_is_made_again(
    site: Site, north: Sshd, south: Sshd
) -> None:
    first = simple(site.ran("first", "echo 1 > one"), outputs=["one"], nodes=("north",))
    gate = simple(site.ran("gate", site.gate("gate"), "echo > go"), outputs=["go"])
    second = simple(
        site.ran("second", "cat one > two"),
        inputs=["one", "go"], outputs=[OutputSpec("two", result=True)], nodes=("south",),
    )  # fmt: skip
    site.start_daemon()
    site.submit(job("pass", stage(first, gate), stage(second)))
    site.wait_phase("pass/1/1/1", "done")
    site.wait_phase("pass/1/2/1", "running")

    (copy,) = site.base("north").glob("cache/*/one")
    copy.write_text("2\n")
    site.open("gate")

    site.wait_phase("pass/2/1/1", "done")
    assert site.result("pass/two") == "1\n"
    assert site.runs() == {"first": 2, "gate": 1, "second": 1}
    assert site.faults() == {}


def test_a_brought_copy_that_vanished_is_no_failure(site: Site, north: Sshd, south: Sshd) -> None:
    first = simple(site.ran("first", "echo 1 > one"), outputs=["one"], nodes=("north",))
    reads = simple(site.ran("reads", "cat one"), inputs=["one"], nodes=("south",))
    gate = simple(site.ran("gate", site.gate("gate"), "echo > go"), outputs=["go"])
    again = simple(site.ran("again", "cat one go"), inputs=["one", "go"], nodes=("south",))
    site.start_daemon()
    site.submit(job("pass", stage(first, gate), stage(reads, again)))
    site.wait_phase("pass/2/1/1", "done")
    site.wait_phase("pass/1/2/1", "running")

    for path in site.base("south").glob("cache/in/*/one"):
        path.unlink()
    site.open("gate")

    site.wait_phase("pass/2/2/1", "done")
    assert site.runs()["first"] == 1
    assert ("south", "failed", "missing-input") in site.attempts()
    assert site.faults() == {}


def test_an_outside_file_that_is_removed_fails_its_reader_and_blocks_no_node(
    site: Site, north: Sshd
) -> None:
    raw = site.folder / "raw"
    raw.write_text("raw\n")
    name = site.submit(
        job(
            "one",
            [simple(site.ran("a"), inputs=[str(raw)])],
            policy={"missing-input": {"tries": 0}},
        )
    )
    raw.unlink()

    site.drive(name)

    assert site.phases() == {"one/1/1/1": "failed"}
    assert [attempt[2] for attempt in site.attempts()] == ["missing-input"]


def test_a_node_that_becomes_another_machine_is_left_alone(site: Site, north: Sshd) -> None:
    site.start_daemon()
    site.wait_node("north", "up")
    with open_store(site.home) as store, store.writing():
        change(store, "node", {"name": "north"}, machine="another")

    north.cut()

    query = "select last_error, state from node where name = 'north'"
    site.wait(lambda: "another machine" in str(site.ask(query)[0][0]))
    assert site.ask(query)[0][1] == "down"


def test_a_daemon_that_ends_while_a_node_hangs_ends_at_once(site: Site, north: Sshd) -> None:
    daemon = site.start_daemon()
    site.wait_node("north", "up")
    north.freeze()
    began = time.monotonic()

    assert site.stop(daemon) == 0

    assert time.monotonic() - began < 4
    north.thaw()


def test_nodes_of_a_cluster_need_a_folder_in_common(site: Site, north: Sshd, south: Sshd) -> None:
    site.start_daemon()
    for name in ("north", "south"):
        site.wait_node(name, "up")

    refused = site.d0ctl("node", "set", "south", "cluster=north")
    site.add("beside", north, "--cluster", "north")
    site.add("east", None, "--cluster", "north")

    apart = "has no folder in common with `north`, as nodes of one cluster must"
    assert (refused.code, f"`south` {apart}" in refused.err) == (4, True)
    assert "take it out of its cluster" not in refused.err, "it stays in its own one"
    site.wait_node("beside", "up")
    query = "select last_error, state from node where name = 'east'"
    site.wait(lambda: f"`east` {apart}" in str(site.ask(query)[0][0]))
    assert site.ask(query)[0][1] == "down"
    assert "(d0ctl node set east cluster=none)" in site.ask(query)[0][0]
    site.ok("node", "set", "east", "cluster=none")
    site.wait_node("east", "up")
