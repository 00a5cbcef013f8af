"""A lease belongs to a process that lives, and to one only."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from d0ctl.config import Home
from d0ctl.store import Store
from d0ctl.store.nodes import leases
from d0ctl.store.nodes.holder import boot_id, holder, is_dead, start_time
from tests.support.jobs import NOW
from tests.support.waiting import Pid, wait_until


def give_to(store: Store, name: str) -> None:
    """Have the lease `x` held under this name."""
    with store.writing():
        store.connection.execute("insert or replace into lease values ('x', ?, 1.0)", [name])


def take(store: Store) -> bool:
    """Try to take the lease `x`."""
    with store.writing():
        return leases.take_lease(store, "x", now=NOW)


def test_a_free_lease_is_taken_and_taken_again(store: Store) -> None:
    assert take(store)
    assert take(store)
    assert leases.living_holder(store, "x") == holder()


def test_the_lease_of_a_living_process_is_not_taken(store: Store) -> None:
    parent = os.getppid()
    give_to(store, f"{boot_id()} {parent} {start_time(parent)}")

    assert not take(store)


@pytest.mark.parametrize(
    "name",
    [
        "another-boot 1 1",
        f"{boot_id()} {os.getpid()} 1",
        f"{boot_id()} 999999999 5",
    ],
    ids=["of an earlier boot", "whose pid is another's", "whose pid is gone"],
)
def test_the_lease_of_a_dead_process_is_free(store: Store, name: str) -> None:
    give_to(store, name)

    assert leases.living_holder(store, "x") is None
    assert take(store)


def test_a_process_that_has_ended_and_was_not_reaped_is_dead() -> None:
    child = subprocess.Popen(["true"])
    name = f"{boot_id()} {child.pid} {start_time(child.pid)}"

    wait_until(lambda: Pid.of(child.pid) is None)

    assert Path(f"/proc/{child.pid}").exists()
    assert is_dead(name)
    child.wait()


def test_a_lease_is_given_back_by_its_holder_only(store: Store) -> None:
    give_to(store, "another-boot 1 1")
    with store.writing():
        leases.give_lease(store, "x")

    assert store.value("lease_holder", name="x") == "another-boot 1 1"


RACE = """
import sys, time
from pathlib import Path
from d0ctl.config import Home
from d0ctl.store import open_store
from d0ctl.store.nodes import leases
with open_store(Home(Path(sys.argv[1]))) as store:
    print("ready", flush=True)
    sys.stdin.readline()
    with store.writing():
        print(leases.take_lease(store, "x", now=time.time()), flush=True)
    sys.stdin.readline()
"""


def test_of_several_processes_that_race_for_a_lease_one_gets_it(home: Home) -> None:
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", RACE, str(home.root)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(4)
    ]
    answer = []
    for racer in racers:
        assert racer.stdout and racer.stdout.readline() == "ready\n"
    for racer in racers:
        assert racer.stdin
        racer.stdin.write("go\n")
        racer.stdin.flush()
    for racer in racers:
        assert racer.stdout
        answer.append(racer.stdout.readline())
    for racer in racers:
        racer.communicate()

    assert sorted(answer) == ["False\n"] * 3 + ["True\n"]
