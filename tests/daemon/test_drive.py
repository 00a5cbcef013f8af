"""Jobs from their submission to their results, by real relays and wrappers on this machine."""

import os
import signal
import time

from d0ctl.jobfile.spec import JobSpec, OutputSpec
from d0ctl.show.drawing.remark_texts import remark
from d0ctl.store import lifecycle, open_store
from d0ctl.store.history import logbook
from tests.support.jobs import job, simple, stage
from tests.support.rows import change, read
from tests.support.site import Site
from tests.support.waiting import PATIENCE_S, Pid, wait_until

NAMES = ("ada", "emmy", "lise", "marie")


def hello(site: Site, *waits: str) -> JobSpec:
    """Four greetings side by side, then one file made of them."""
    greetings = [
        simple(
            site.ran(name, *([site.gate(name)] if name in waits else []), f"echo {name} > {name}"),
            outputs=[name],
        )
        for name in NAMES
    ]
    merge = simple(
        site.ran("merge", f"cat {' '.join(NAMES)} > hello"),
        inputs=NAMES,
        outputs=[OutputSpec("hello", result=True)],
    )
    return job("hello", stage(*greetings), stage(merge))


def is_whole(site: Site) -> None:
    """The job went well, and everything ran once."""
    assert set(site.phases().values()) == {"done"}
    assert site.result("hello/hello") == "ada\nemmy\nlise\nmarie\n"
    assert site.runs() == dict.fromkeys([*NAMES, "merge"], 1)
    assert site.faults() == {}
    assert site.rejected() == {}


def test_a_job_runs_to_its_end_without_a_daemon(site: Site) -> None:
    site.drive(site.submit(hello(site)))

    is_whole(site)


def test_the_next_driver_removes_partial_copies_of_a_killed_one(site: Site) -> None:
    for folder in site.home.asides:
        folder.mkdir()
        (folder / f".999999999-1.{'0' * 32}").write_text("hal")

    site.drive(site.submit(hello(site)))

    is_whole(site)
    assert not any(any(folder.iterdir()) for folder in site.home.asides)


def test_a_job_runs_to_its_end_by_the_daemon(site: Site) -> None:
    site.start_daemon()
    site.submit(hello(site))

    site.wait_phase("hello/2/1/1", "done")

    is_whole(site)


def test_another_driver_continues_after_a_kill_at_any_moment(site: Site) -> None:
    name = site.submit(hello(site, "lise"))
    moments = [
        lambda: True,
        lambda: site.relays(),
        lambda: site.runs(),
        lambda: site.runs()["lise"],
        lambda: "done" in site.phases().values(),
    ]
    for moment in moments:
        driver = site.start_driver(name)
        wait_until(moment)
        site.crash(driver)
    site.open("lise")

    site.drive(name)

    is_whole(site)


def test_the_next_daemon_takes_over_the_packages_of_a_stopped_one(site: Site) -> None:
    daemon = site.start_daemon()
    site.submit(hello(site, *NAMES))
    wait_until(lambda: site.runs())
    began = time.monotonic()

    assert site.stop(daemon) == 0

    assert time.monotonic() - began < 3
    assert "running" in site.phases().values() or "starting" in site.phases().values()
    for name in NAMES:
        site.open(name)
    site.start_daemon()
    site.wait_phase("hello/2/1/1", "done")
    is_whole(site)


def test_history_lists_starts_and_stops_of_the_daemon_and_a_start_after_a_kill(site: Site) -> None:
    site.crash(site.start_daemon())
    assert site.stop(site.start_daemon()) == 0

    with open_store(site.home, read_only=True) as store:
        deeds = [deed for deed in logbook.actions(store, 0.0, 9) if "daemon" in deed.verb]
    assert [(deed.actor, deed.verb, remark(deed.note)) for deed in deeds] == [
        ("d0ctl", "daemon stop", None),
        ("d0ctl", "daemon start", "the last one ended without a stop"),
        ("d0ctl", "daemon start", None),
    ]


def test_a_relay_that_is_killed_is_replaced_and_nothing_is_lost(site: Site) -> None:
    site.start_daemon()
    site.submit(hello(site, "ada", "lise"))
    wait_until(lambda: site.runs()["ada"])
    (relay,) = site.relays()

    relay.kill(signal.SIGKILL)
    site.open("ada")
    wait_until(lambda: [pid for pid in site.relays() if pid != relay])
    site.open("lise")

    site.wait_phase("hello/2/1/1", "done")
    is_whole(site)


def test_a_wrapper_that_is_killed_is_lost_and_its_package_runs_again(site: Site) -> None:
    site.start_daemon()
    site.submit(job("one", [simple(site.ran("a", site.gate("a")))]))
    wait_until(lambda: site.runs()["a"] and site.wrappers())

    os.kill(site.wrappers()[1], signal.SIGKILL)

    wait_until(lambda: site.runs()["a"] == 2)
    site.open("a")
    site.wait_phase("one/1/1/1", "done")
    assert site.attempts() == [
        ("localhost", "lost", "lost"),
        ("localhost", "successful", None),
    ]
    assert site.faults() == {}


def test_a_package_that_is_lost_repeatedly_fails_in_the_end(site: Site) -> None:
    suicide = "kill -9 $(cut -d' ' -f1 ../wrapper)"
    site.drive(site.submit(job("one", [simple(site.ran("a", suicide, "sleep 60"))])))

    assert site.phases() == {"one/1/1/1": "failed"}
    assert site.runs()["a"] == 11


def test_two_drivers_of_one_home_launch_nothing_twice(site: Site) -> None:
    first = site.submit(hello(site))
    second = site.submit(job("other", [simple(site.ran(f"x{n}", "true")) for n in range(20)]))
    drivers = [site.start_driver(name) for name in (first, second, first, second)]

    assert [driver.wait(PATIENCE_S) for driver in drivers] == [0, 0, 0, 0]

    assert set(site.phases().values()) == {"done"}
    assert set(site.runs().values()) == {1}
    assert site.faults() == {}


def test_run_follows_a_daemon_and_continues_when_it_dies(site: Site) -> None:
    daemon = site.start_daemon()
    name = site.submit(hello(site, "ada"))
    driver = site.start_driver(name)
    wait_until(lambda: site.runs()["ada"])

    site.crash(daemon)
    site.open("ada")

    assert driver.wait(PATIENCE_S) == 0
    is_whole(site)


def kill(site: Site) -> None:
    """What `d0ctl kill` does to all packages."""
    with open_store(site.home) as store, store.writing():
        selected = store.select([row[0] for row in read(store, "package", "id")])
        lifecycle.kill(selected, actor="tester", note=None, now=time.time())


def test_a_kill_ends_the_whole_tree_and_is_confirmed(site: Site) -> None:
    site.start_daemon()
    script = site.ran("a", f"setsid sleep 1000 & echo $! > {site.gates}/child", "sleep 1000")
    site.submit(job("one", [simple(script)]))
    wait_until(lambda: (site.gates / "child").exists())
    site.wait_phase("one/1/1/1", "running")
    child = Pid.of(int((site.gates / "child").read_text()))
    assert child

    kill(site)

    site.wait_phase("one/1/1/1", "canceled")
    assert not child.lives()
    assert site.attempts() == [("localhost", "killed", "killed")]
    assert site.faults() == {}


def test_a_kill_of_a_package_that_waits_at_its_node_is_confirmed_at_once(site: Site) -> None:
    site.submit(job("one", [simple(site.ran("a", site.gate("a")), cpus=2)]))
    with open_store(site.home) as store:
        change(store, "node", cpus_asked=2)
    site.start_daemon()
    wait_until(lambda: site.runs()["a"])
    with open_store(site.home) as store:  # as if it had been sent ahead, being short
        change(store, "requirement", pace=0.001)
    site.submit(job("two", [simple(site.ran("b"))]))
    with open_store(site.home) as store:
        change(store, "requirement", pace=0.001)
    site.wait_phase("two/1/1/1", "starting")
    began = time.monotonic()

    kill(site)

    site.wait_phase("two/1/1/1", "canceled")
    site.wait_phase("one/1/1/1", "canceled")
    assert time.monotonic() - began < 8
    assert site.runs() == {"a": 1}
    assert site.faults() == {}


def test_a_package_waits_for_a_node_that_can_not_work_yet(site: Site) -> None:
    name = site.submit(job("one", [simple(site.ran("a"))]))
    in_the_way = site.home.nodes / site.site_name() / "localhost" / "attempts"
    in_the_way.parent.mkdir(parents=True, exist_ok=True)
    in_the_way.touch()
    driver = site.start_driver(name)
    site.wait_node("localhost", "down")
    assert site.phases() == {"one/1/1/1": "ready"}

    in_the_way.unlink()

    assert driver.wait(PATIENCE_S) == 0
    assert site.phases() == {"one/1/1/1": "done"}
    assert site.attempts() == [("localhost", "successful", None)]


def test_the_lost_output_of_a_finished_package_is_made_again(site: Site) -> None:
    first = simple(site.ran("first", "echo 1 > raw"), outputs=["raw"])
    second = simple(site.ran("second", "cp raw cooked"), inputs=["raw"], outputs=["cooked"])
    third = simple(
        site.ran("third", "cp cooked end"),
        inputs=["cooked"],
        outputs=[OutputSpec("end", result=True)],
    )
    gate = simple(site.ran("gate", site.gate("gate"), "touch go"), outputs=["go"])
    late = simple(site.ran("late", "cat cooked go > x"), inputs=["cooked", "go"])
    spec = job("chain", stage(first, gate), stage(second), stage(late, third))
    site.submit(spec)
    site.start_daemon()
    site.wait_phase("chain/3/2/1", "done")
    site.wait_phase("chain/1/2/1", "running")

    for name in ("raw", "cooked"):
        for path in site.home.nodes.glob(f"**/cache/*/{name}"):
            path.unlink()
    site.open("gate")

    site.wait_phase("chain/3/1/1", "done")
    site.wait_phase("chain/3/2/1", "done")
    site.wait_phase("chain/1/1/1", "done")
    runs = site.runs()
    assert (runs["second"], runs["third"], runs["gate"]) == (2, 1, 1)
    assert site.faults() == {}


def test_results_are_delivered_whole_and_counted_at_the_end(site: Site) -> None:
    output = OutputSpec("deep/er/name with space", result=True)
    script = site.ran("a", "mkdir -p deep/er; echo text > 'deep/er/name with space'")
    site.drive(site.submit(job("one", [simple(script, outputs=[output])])))

    assert site.result("one/deep/er/name with space") == "text\n"
    found = [path.name for path in site.home.results.rglob("*") if path.is_file()]
    assert found == ["name with space"]


def test_a_removed_job_leaves_nothing_on_its_node(site: Site) -> None:
    from d0ctl.store.jobs.removal import remove_rows

    name = site.submit(hello(site))
    site.drive(name)
    with open_store(site.home) as store:
        remove_rows(store, site.id_of(name), now=time.time())
    assert list(site.base().glob("attempts/*"))

    site.start_daemon()

    wait_until(lambda: not list(site.base().glob("attempts/*")))
    wait_until(lambda: not list(site.base().glob("cache/[0-9]*")))
