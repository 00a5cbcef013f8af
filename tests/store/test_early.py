"""Packages that start at their first input: when, on which slots, with what, and to which end."""

from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from d0ctl.jobfile.spec import InputSpec, JobSpec, LineSpec, OutputSpec, PackageSpec
from d0ctl.store import Store, lifecycle
from d0ctl.store.jobs import pause
from d0ctl.store.jobs.require import continue_stages
from d0ctl.store.nodes import placement
from d0ctl.store.nodes.standstill import is_settled
from tests.store.test_life import MACHINES, Life
from tests.support.homes import faults
from tests.support.jobs import NOW, InputLike, job, line, phases, simple, stage, submitted
from tests.support.site import Site

MERGE = "early/2/1/1"


def early(*packages: PackageSpec) -> LineSpec:
    """A line whose first package starts at its first input."""
    return replace(line(*packages), early_start=True)


def some(names: Iterable[str]) -> list[InputLike]:
    """Inputs that a package can do without."""
    return [InputSpec(name, required=False) for name in names]


def merging(count: int, *others: InputLike, **more: Any) -> JobSpec:
    """Makers of so many files, and a package that reads them as they come."""
    names = [f"f{number}" for number in range(count)]
    makers = [simple(outputs=[name], **more) for name in names]
    merge = simple(inputs=[*some(names), *others], outputs=["all"])
    return job("early", stage(*makers), stage(early(merge)))


def turn(site: Site, of: int = 1) -> None:
    """Let all go on by a step, in which so many packages of each node end well."""
    site.schedule()
    site.carry()
    for node in site.nodes.values():
        site.hand_out(node)
        site.order(node)
        running = [a for a, state in node.attempts.items() if state == "running"]
        for attempt in running[:of]:
            node.end(attempt, "successful")
        site.hear(node)
        site.deliver(node, node.spool)


def runs(site: Site, path: str = MERGE) -> Any:
    """The launch of a package that runs, as its node has it."""
    launches = [launch for node in site.nodes.values() for launch in node.launches.values()]
    return next(launch for launch in reversed(launches) if launch["path"] == path)


def drop(store: Store, package: int) -> None:
    """Drop a package with its outputs."""
    with store.writing():
        selected = store.select([package])
        lifecycle.choose_without_inputs(selected)
        lifecycle.drop(selected, actor="tester", note=None, now=NOW)


def test_an_early_package_starts_at_its_first_input_and_ends_after_its_last(store: Store) -> None:
    submitted(store, merging(20))
    site = Site.of(store, cpus=2)
    assert phases(store)[MERGE] == "waiting"
    turn(site)
    assert phases(store)[MERGE] == "ready"

    while phases(store)[MERGE] != "running":
        turn(site)
    done = list(phases(store).values()).count("done")
    assert 1 <= done < 10
    site.settle()

    assert set(phases(store).values()) == {"done"}
    assert len(runs(site)["inputs"]) == 20
    assert faults(store) == {}


def test_an_early_package_takes_no_cpu_while_it_waits(store: Store) -> None:
    submitted(store, merging(6))
    site = Site.of(store, cpus=1)
    while phases(store)[MERGE] != "running":
        turn(site)

    (room,) = placement.nodes(store)
    others = [p for path, p in phases(store).items() if path != MERGE]

    assert room.open == 1
    assert room.used == others.count("running") + others.count("assigned")
    site.settle()
    assert set(phases(store).values()) == {"done"}


def test_an_early_package_with_all_inputs_runs_normally(store: Store) -> None:
    submitted(store, merging(1))
    site = Site.of(store, cpus=2)
    site.settle()

    assert "early" not in runs(site)
    assert set(phases(store).values()) == {"done"}


def test_inputs_from_outside_are_no_first_input(store: Store) -> None:
    submitted(store, merging(2, "/cal"))
    assert phases(store)[MERGE] == "waiting"
    site = Site.of(store, cpus=2)
    site.settle()

    assert len(runs(site)["inputs"]) == 3


def test_inputs_reach_it_from_other_nodes(store: Store) -> None:
    spec = job(
        "early",
        stage(*[simple(outputs=[f"f{n}"], nodes=("near",)) for n in range(8)]),
        stage(early(simple(inputs=some([f"f{n}" for n in range(8)]), nodes=("far",)))),
    )
    submitted(store, spec)
    site = Site.of(store, "near", "far", cpus=2)
    site.settle()

    assert set(phases(store).values()) == {"done"}
    paths = {entry["path"] for entry in runs(site)["inputs"]}
    assert len(paths) == 8
    assert all(path.startswith("/far/cache/in/") for path in paths)
    assert faults(store) == {}


def test_all_inputs_are_sent_again_after_a_lost_link(store: Store) -> None:
    submitted(store, merging(8))
    site = Site.of(store, cpus=2)
    while phases(store)[MERGE] != "running":
        turn(site)
    node = site.node("localhost")
    for _ in range(2):
        site.schedule()
        site.hand_out(node)
    site.unlink(node)

    site.link(node)
    site.settle()

    assert set(phases(store).values()) == {"done"}
    assert len(runs(site)["inputs"]) == 8


def test_a_lost_attempt_runs_again_with_what_is_there(store: Store) -> None:
    submitted(store, merging(6))
    site = Site.of(store, cpus=2)
    while phases(store)[MERGE] != "running":
        turn(site)

    site.reboot(site.node("localhost"))
    site.settle()

    assert set(phases(store).values()) == {"done"}
    assert len(runs(site)["inputs"]) == 6
    assert faults(store) == {}


def test_a_drop_of_what_it_waits_for_closes_its_list(store: Store) -> None:
    submitted(store, merging(3, nodes=("localhost",)))
    site = Site.of(store, cpus=2)
    node = site.node("localhost")
    while phases(store)[MERGE] != "running":
        turn(site)
    left = [n for n in range(3) if phases(store)[f"early/1/{n + 1}/1"] != "done"]
    assert left

    for number in left:
        drop(store, number + 1)
    site.settle()

    assert phases(store)[MERGE] == "done"
    assert len(runs(site)["inputs"]) == 3 - len(left)
    assert node.attempts
    assert faults(store) == {}


def test_a_drop_of_a_required_input_that_never_comes_drops_it(store: Store) -> None:
    makers = [simple(outputs=["a"]), simple(outputs=["b"], nodes=("nowhere",))]
    submitted(store, job("early", stage(*makers), stage(early(simple(inputs=["a", "b"])))))
    site = Site.of(store, cpus=2)
    site.settle()
    assert phases(store)[MERGE] == "running"

    drop(store, 2)
    assert phases(store)[MERGE] == "killing"
    site.settle()

    assert phases(store)[MERGE] == "dropped"
    assert faults(store) == {}


def test_a_package_that_waits_for_a_file_without_maker_stands_still(store: Store) -> None:
    makers = [simple(outputs=["a"], nodes=("localhost",)), simple(outputs=["b"], nodes=("far",))]
    number = submitted(store, job("early", stage(*makers), stage(early(simple(inputs=["a", "b"])))))
    site = Site.of(store, "far", cpus=2)
    site.unlink(site.node("far"))
    while phases(store)[MERGE] != "running":
        turn(site)
    with store.writing():
        assert not is_settled(store, number, now=site.now)
        selected = store.select([2])
        lifecycle.kill(selected, actor="tester", note=None, now=NOW)

    assert phases(store)[MERGE] == "running"
    assert is_settled(store, number)


LATE = OutputSpec("part-*", late=True)
THIRD = job(
    "third",
    stage(simple(outputs=["a1", LATE]), simple(outputs=["a2"]), simple(outputs=["b2"]), name="a"),
    stage(
        early(
            simple(inputs=[*some(["a1", "a2", "part-*"]), InputSpec("b2")], outputs=["m"]),
            simple(inputs=["a2"]),
        ),
        simple(inputs=[InputSpec("part-*", match="part-[02]"), "/outside"], outputs=["c"]),
        name="b",
    ),
    stage(simple(inputs=["m", "c"], outputs=[OutputSpec("r-*", late=True, result=True)])),
)
FOURTH = job("fourth", stage(early(simple(inputs=["third:m", "third:c"], outputs=["d"]))))


class EarlyLife(Life):
    """The same with packages that start early, and with late outputs."""

    specs = (THIRD, FOURTH)

    def finish(self) -> None:
        """Running packages wait at the end for inputs that are never made; others end."""
        self.packages_are_suspended_if_a_person_wants_it()
        with self.store.writing():
            selected = self.store.select(self.packages)
            lifecycle.release(selected, actor="tester", note=None, now=self.site.now)
            pause.resume(selected, actor="tester", note=None, now=self.site.now)
        rows = self.store.connection.execute("select attempt_id from package where is_live = 1")
        self.paused |= {row[0]: False for row in rows}
        for _ in range(6):
            self.site.settle()
            open_ones = self.store.connection.execute(
                "select id from package where early = 1 and awaited > 0 and phase = 'running'"
            )
            with self.store.writing():
                selected = self.store.select([row[0] for row in open_ones])
                lifecycle.kill(selected, actor="tester", note=None, now=self.site.now)
        super().finish()


TestEarlyLife = EarlyLife.TestCase
TestEarlyLife.settings = MACHINES


def test_a_package_assigned_for_a_file_that_is_lost_starts_without_it() -> None:
    EarlyLife.replay(
        ("drop", 0), ("get_on", 1), ("lose_a_file", 1, 0), ("schedule",), ("carry",), ("kill", 2)
    )


def test_a_dropped_line_stays_dropped_when_a_copy_of_its_file_is_lost() -> None:
    EarlyLife.replay(("get_on_further", 1), ("drop", 0), ("lose_a_file", 0, 2), ("get_on", 1))


def test_an_early_package_ends_without_the_failed_lines_that_its_stage_does_not_require(
    store: Store,
) -> None:
    whole = merging(3, nodes=("localhost",))
    makers, merge = whole.stages
    submitted(store, replace(whole, stages=(makers, replace(merge, require=0.6))))
    site = Site.of(store, cpus=1)
    node = site.node("localhost")
    while phases(store)[MERGE] != "running":
        turn(site)
    attempt = next(number for number, launch in node.launches.items() if launch["path"] == MERGE)
    while "running" not in [s for a, s in node.attempts.items() if a != attempt]:
        turn(site, of=0)
    failing = next(a for a, s in node.attempts.items() if s == "running" and a != attempt)
    node.end(failing, "failed", "exit-code")
    site.settle()
    assert phases(store)[MERGE] == "running"

    with store.writing():
        continue_stages(store, now=NOW)
    site.settle()

    assert sorted(phases(store).values()) == ["done", "done", "done", "dropped"]
    assert len(runs(site)["inputs"]) == 2
    assert faults(store) == {}
