"""Jobs from their submission to their results, by real relays and wrappers on this machine."""

import os
import signal
import time

from d0ctl.jobfile.spec import JobSpec, OutputSpec
from d0ctl.store import lifecycle, open_store
from tests.support.jobs import job, simple, stage
from tests.support.rows import change, read
from tests.support.session import Session
from tests.support.waiting import Pid, wait_until

NAMES = ("ada", "emmy", "lise", "marie")


def hello(session: Session, *waits: str) -> JobSpec:
    """Four greetings side by side, then one file made of them."""
    greetings = [
        simple(
            session.ran(
                name, *([session.gate(name)] if name in waits else []), f"echo {name} > {name}"
            ),
            outputs=[name],
        )
        for name in NAMES
    ]
    merge = simple(
        session.ran("merge", f"cat {' '.join(NAMES)} > hello"),
        inputs=NAMES,
        outputs=[OutputSpec("hello", result=True)],
    )
    return job("hello", stage(*greetings), stage(merge))


def is_whole(session: Session) -> None:
    """The job went well, and everything ran once."""
    assert set(session.phases().values()) == {"done"}
    assert session.result("hello/hello") == "ada\nemmy\nlise\nmarie\n"
    assert session.runs() == dict.fromkeys([*NAMES, "merge"], 1)
    assert session.faults() == {}
    assert session.rejected() == {}


def test_a_job_runs_to_its_end_without_a_daemon(session: Session) -> None:
    session.drive(session.submit(hello(session)))

    is_whole(session)


def test_what_a_killed_driver_had_half_copied_is_removed_by_the_next(session: Session) -> None:
    for folder in session.home.asides:
        folder.mkdir()
        (folder / f".999999999-1.{'0' * 32}").write_text("hal")

    session.drive(session.submit(hello(session)))

    is_whole(session)
    assert not any(any(folder.iterdir()) for folder in session.home.asides)


def test_a_job_runs_to_its_end_by_the_daemon(session: Session) -> None:
    session.daemon()
    session.submit(hello(session))

    session.wait_for(hello_2_1_1="done")

    is_whole(session)


def test_a_driver_that_is_killed_at_any_moment_is_succeeded_by_another(session: Session) -> None:
    number = session.submit(hello(session, "lise"))
    moments = [
        lambda: True,
        lambda: session.relays(),
        lambda: session.runs(),
        lambda: session.runs()["lise"],
        lambda: "done" in session.phases().values(),
    ]
    for moment in moments:
        driver = session.driver(number)
        wait_until(moment, 20)
        session.crash(driver)
    session.open("lise")

    session.drive(number)

    is_whole(session)


def test_a_daemon_that_is_stopped_leaves_packages_to_the_next(session: Session) -> None:
    daemon = session.daemon()
    session.submit(hello(session, *NAMES))
    wait_until(lambda: session.runs(), 20)
    began = time.monotonic()

    assert session.end(daemon) == 0

    assert time.monotonic() - began < 3
    assert "running" in session.phases().values() or "starting" in session.phases().values()
    for name in NAMES:
        session.open(name)
    session.daemon()
    session.wait_for(hello_2_1_1="done")
    is_whole(session)


def test_a_relay_that_is_killed_is_replaced_and_nothing_is_lost(session: Session) -> None:
    session.daemon()
    session.submit(hello(session, "ada", "lise"))
    wait_until(lambda: session.runs()["ada"], 20)
    (relay,) = session.relays()

    relay.kill(signal.SIGKILL)
    session.open("ada")
    wait_until(lambda: [pid for pid in session.relays() if pid != relay], 20)
    session.open("lise")

    session.wait_for(hello_2_1_1="done")
    is_whole(session)


def test_a_wrapper_that_is_killed_is_lost_and_its_package_runs_again(session: Session) -> None:
    session.daemon()
    session.submit(job("one", [simple(session.ran("a", session.gate("a")))]))
    wait_until(lambda: session.runs()["a"] and session.wrappers(), 20)

    os.kill(session.wrappers()[1], signal.SIGKILL)

    wait_until(lambda: session.runs()["a"] == 2, 20)
    session.open("a")
    session.wait_for(one_1_1_1="done")
    assert session.attempts() == [
        ("localhost", "lost", "lost"),
        ("localhost", "successful", None),
    ]
    assert session.faults() == {}


def test_a_package_that_is_lost_again_and_again_fails_in_the_end(session: Session) -> None:
    suicide = "kill -9 $(cut -d' ' -f1 ../wrapper)"
    session.drive(session.submit(job("one", [simple(session.ran("a", suicide, "sleep 60"))])))

    assert session.phases() == {"one/1/1/1": "failed"}
    assert session.runs()["a"] == 11


def test_two_drivers_of_one_home_launch_nothing_twice(session: Session) -> None:
    first = session.submit(hello(session))
    second = session.submit(job("other", [simple(session.ran(f"x{n}", "true")) for n in range(20)]))
    drivers = [session.driver(number) for number in (first, second, first, second)]

    assert [driver.wait(60) for driver in drivers] == [0, 0, 0, 0]

    assert set(session.phases().values()) == {"done"}
    assert set(session.runs().values()) == {1}
    assert session.faults() == {}


def test_run_follows_a_daemon_and_goes_on_when_it_dies(session: Session) -> None:
    daemon = session.daemon()
    number = session.submit(hello(session, "ada"))
    driver = session.driver(number)
    wait_until(lambda: session.runs()["ada"], 20)

    session.crash(daemon)
    session.open("ada")

    assert driver.wait(30) == 0
    is_whole(session)


def kill(session: Session) -> None:
    """What `d0ctl kill` does to all packages."""
    with open_store(session.home) as store, store.writing():
        lifecycle.choose(store, [row[0] for row in read(store, "package", "id")])
        lifecycle.kill(store, actor="tester", note=None, now=time.time())


def test_a_kill_ends_the_whole_tree_and_is_confirmed(session: Session) -> None:
    session.daemon()
    script = session.ran("a", f"setsid sleep 1000 & echo $! > {session.gates}/child", "sleep 1000")
    session.submit(job("one", [simple(script)]))
    wait_until(lambda: (session.gates / "child").exists(), 20)
    session.wait_for(one_1_1_1="running")
    child = Pid.of(int((session.gates / "child").read_text()))
    assert child

    kill(session)

    session.wait_for(one_1_1_1="canceled")
    assert not child.lives()
    assert session.attempts() == [("localhost", "killed", "killed")]
    assert session.faults() == {}


def test_a_kill_of_what_only_waits_at_its_node_is_confirmed_at_once(session: Session) -> None:
    session.submit(job("one", [simple(session.ran("a", session.gate("a")), cpus=2)]))
    with open_store(session.home) as store:
        change(store, "node", cpus_asked=2)
    session.daemon()
    wait_until(lambda: session.runs()["a"], 20)
    with open_store(session.home) as store:  # as if it had been sent ahead, being short
        change(store, "requirement", pace=0.001)
    session.submit(job("two", [simple(session.ran("b"))]))
    with open_store(session.home) as store:
        change(store, "requirement", pace=0.001)
    session.wait_for(two_1_1_1="starting")
    began = time.monotonic()

    kill(session)

    session.wait_for(two_1_1_1="canceled", one_1_1_1="canceled")
    assert time.monotonic() - began < 8
    assert session.runs() == {"a": 1}
    assert session.faults() == {}


def test_a_package_waits_for_a_node_that_can_not_work_yet(session: Session) -> None:
    number = session.submit(job("one", [simple(session.ran("a"))]))
    in_the_way = session.home.nodes / session.site() / "localhost" / "attempts"
    in_the_way.parent.mkdir(parents=True, exist_ok=True)
    in_the_way.touch()
    driver = session.driver(number)
    wait_until(lambda: session.node("localhost")["state"] == "down", 20)
    assert session.phases() == {"one/1/1/1": "ready"}

    in_the_way.unlink()

    assert driver.wait(30) == 0
    assert session.phases() == {"one/1/1/1": "done"}
    assert session.attempts() == [("localhost", "successful", None)]


def test_the_lost_output_of_a_finished_package_is_made_again(session: Session) -> None:
    first = simple(session.ran("first", "echo 1 > raw"), outputs=["raw"])
    second = simple(session.ran("second", "cp raw cooked"), inputs=["raw"], outputs=["cooked"])
    third = simple(
        session.ran("third", "cp cooked end"),
        inputs=["cooked"],
        outputs=[OutputSpec("end", result=True)],
    )
    gate = simple(session.ran("gate", session.gate("gate"), "touch go"), outputs=["go"])
    late = simple(session.ran("late", "cat cooked go > x"), inputs=["cooked", "go"])
    spec = job("chain", stage(first, gate), stage(second), stage(late, third))
    session.submit(spec)
    session.daemon()
    session.wait_for(chain_3_2_1="done", chain_1_2_1="running")

    for name in ("raw", "cooked"):
        for path in session.home.nodes.glob(f"**/cache/*/{name}"):
            path.unlink()
    session.open("gate")

    session.wait_for(chain_3_1_1="done", chain_3_2_1="done", chain_1_1_1="done")
    runs = session.runs()
    assert (runs["second"], runs["third"], runs["gate"]) == (2, 1, 1)
    assert session.faults() == {}


def test_results_are_delivered_whole_and_counted_at_the_end(session: Session) -> None:
    output = OutputSpec("deep/er/name with space", result=True)
    script = session.ran("a", "mkdir -p deep/er; echo text > 'deep/er/name with space'")
    session.drive(session.submit(job("one", [simple(script, outputs=[output])])))

    assert session.result("one/deep/er/name with space") == "text\n"
    found = [path.name for path in session.home.results.rglob("*") if path.is_file()]
    assert found == ["name with space"]


def test_a_removed_job_leaves_nothing_on_its_node(session: Session) -> None:
    from d0ctl.store.jobs.removal import remove_rows

    number = session.submit(hello(session))
    session.drive(number)
    with open_store(session.home) as store:
        remove_rows(store, number, now=time.time())
    assert list(session.base().glob("attempts/*"))

    session.daemon()

    wait_until(lambda: not list(session.base().glob("attempts/*")), 20)
    wait_until(lambda: not list(session.base().glob("cache/[0-9]*")), 20)
