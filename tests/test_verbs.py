"""Dropping a line, against a model that knows nothing of SQL."""

import itertools
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from d0ctl import actions
from d0ctl.actions import request
from d0ctl.actions.packages.kill_line import KillLinePlan
from d0ctl.errors import Refused
from d0ctl.jobfile.spec import JobSpec
from d0ctl.select import parse
from d0ctl.store import open_store
from d0ctl.store.checks.check import faults
from tests.support.building import job, line, package
from tests.support.examples import examples
from tests.support.homes import make_home
from tests.support.site import Site

Where = tuple[int, int, int]
"""Stage, line and package."""


@dataclass
class Thing:
    """A package of the model: what it makes, needs, takes and ran without, and how it stands."""

    made: str
    needs: list[str]
    takes: list[str]
    state: str = "idle"
    without: frozenset[str] = frozenset()


@st.composite
def jobs(draw: st.DrawFn) -> dict[Where, Thing]:
    """Three stages of small lines, each reading from the stages before it."""
    things: dict[Where, Thing] = {}
    earlier: list[str] = []
    for stage in (1, 2, 3):
        made = []
        for number in range(1, draw(st.integers(1, 3)) + 1):
            for seq in range(1, draw(st.integers(1, 2)) + 1):
                name = f"f{stage}.{number}.{seq}"
                files = draw(st.lists(st.sampled_from(earlier), unique=True, max_size=3)
                             if earlier else st.just([]))  # fmt: skip
                cut = draw(st.integers(0, len(files)))
                things[stage, number, seq] = Thing(name, files[:cut], files[cut:])
                made.append(name)
        earlier += made
    return things


def gone_with(things: dict[Where, Thing], lines: set[tuple[int, int]]) -> set[Where]:
    """The packages that are out once these lines are dropped, whatever came first.

    Of those that have succeeded only the files are.
    """
    gone = {where for where in things if where[:2] in lines}
    while True:
        lost = {things[where].made for where in gone}
        more = {
            where
            for where, thing in things.items()
            if where not in gone and lacks_inputs(
                thing, lost, (where[0], where[1], where[2] - 1), things, gone)
        }  # fmt: skip
        if not more:
            return gone
        gone |= more


def lacks_inputs(
    thing: Thing, lost: set[str], before: Where, things: dict[Where, Thing], gone: set[Where]
) -> bool:
    """Whether a package can't run any more without these files."""
    if before in gone and things[before].state != "done":
        return True
    if lost & set(thing.needs):
        return True
    return bool(lost & set(thing.takes)) and not set(thing.takes) - lost


def can_start(things: dict[Where, Thing], where: Where, gone: set[Where]) -> bool:
    """Whether nothing is missing that a package needs or takes, once the dropped is out."""
    thing = things[where]
    before = (where[0], where[1], where[2] - 1)
    if before in things and things[before].state != "done":
        return False
    makers = {other.made: (at, other.state) for at, other in things.items()}
    wanted = [makers[file] for file in (*thing.needs, *thing.takes)]
    return all(state == "done" for at, state in wanted if at not in gone)


def path_of(where: Where) -> str:
    """Its path."""
    return "prod/" + "/".join(map(str, where))


@settings(max_examples=examples(12), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(things=jobs(), data=st.data())
def test_a_drop_takes_what_a_plain_search_finds_and_the_plan_says_so(
    things: dict[Where, Thing], data: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        with open_store(make_home(Path(folder) / "home")) as store:
            site = Site.of(store)
            site.submit(spec_of(things))
            bring_into_states(site, things, data)
            wanted = data.draw(st.sampled_from(sorted({where[:2] for where in things})))
            gone = gone_with(things, {wanted})
            asked = request("kill-line", parse(f"prod/{wanted[0]}/{wanted[1]}"), drop_outputs=True)

            plan = actions.preview(store, asked, now=time.time())
            applied = actions.apply(store, asked, actor="me", note=None, now=time.time())

            assert plan == applied
            assert isinstance(plan, KillLinePlan)
            leaving = {path_of(where) for where in gone if things[where].state != "done"}
            answer = {change.path for change in (*plan.changes, *plan.also_dropped)}
            assert answer == leaving
            assert plan.packages == len(leaving)
            for where, thing in things.items():
                phase = site.phase(path_of(where))
                if thing.state == "done":
                    assert phase == "done"
                elif where in gone:
                    assert phase == "dropped"
                elif thing.state == "idle":
                    assert (phase == "ready") == can_start(things, where, gone)
            assert faults(store) == []
            try:
                actions.apply(store, asked, actor="me", note=None, now=time.time())
            except Refused:
                pass
            else:
                raise AssertionError("it was dropped twice")


def spec_of(things: dict[Where, Thing]) -> JobSpec:
    """The job that the model stands for."""
    stages = []
    for stage, in_stage in itertools.groupby(things, key=lambda where: where[0]):
        lines = [
            line(*(package(things[w].made, needs=things[w].needs, takes=things[w].takes)
                   for w in group))
            for _, group in itertools.groupby(in_stage, key=lambda where: where[1])
        ]  # fmt: skip
        stages.append((f"s{stage}", lines))
    return job(*stages)


def bring_into_states(site: Site, things: dict[Where, Thing], data: st.DataObject) -> None:
    """Finish or fail some of what is ready, in order."""
    for where, thing in things.items():
        if site.phase(path_of(where)) != "ready":
            continue
        thing.state = data.draw(st.sampled_from(["idle", "done", "failed"]))
        if thing.state == "done":
            site.finish(path_of(where))
        elif thing.state == "failed":
            site.fail(path_of(where))


# drops and restores, in any order ---------------------------------------------------------


def reco(files: int) -> dict[Where, Thing]:
    """D0 Job Definition, case IV: a reco line per raw file, and m = 3n lines that read them."""
    things: dict[Where, Thing] = {}
    everything = [f"reco-{n}" for n in range(1, files + 1)]
    for n in range(1, files + 1):
        things[1, n, 1] = Thing(f"reco-{n}", [], [])
        things[1, n, 2] = Thing(f"filtered-{n}", [f"reco-{n}"], [])
    for n in range(1, files + 1):
        third = 3 * n
        things[2, third - 2, 1] = Thing(f"root-all-{n}", [], everything)
        things[2, third - 1, 1] = Thing(f"stored-{n}", [], [f"reco-{n}"])
        things[2, third, 1] = Thing(f"root-filtered-{n}", [f"filtered-{n}"], [])
    things[3, 1, 1] = Thing("merged", [], [f"root-all-{n}" for n in range(1, files + 1)])
    things[3, 1, 2] = Thing("plots", ["merged"], ["root-filtered-1"])
    return things


def check_against(site: Site, things: dict[Where, Thing], lines: set[tuple[int, int]]) -> None:
    """Every package is as the model says, and waits just for what is really missing."""
    gone = gone_with(things, lines)
    for where, thing in things.items():
        phase = site.phase(path_of(where))
        if thing.state == "done":
            assert phase == "done"
        elif where in gone:
            assert phase == "dropped"
        elif thing.state == "failed":
            assert phase == "failed"
        else:
            assert phase == ("ready" if can_start(things, where, gone) else "waiting")
    assert faults(site.store) == []


@settings(max_examples=examples(8), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_drops_and_restores_in_any_order_come_to_what_is_dropped_in_the_end(
    data: st.DataObject,
) -> None:
    things = data.draw(st.one_of(st.integers(1, 3).map(reco), jobs()))
    every_line = sorted({where[:2] for where in things})
    with tempfile.TemporaryDirectory() as folder:
        with open_store(make_home(Path(folder) / "home")) as store:
            site = Site.of(store)
            site.submit(spec_of(things))
            bring_into_states(site, things, data)
            dropped: set[tuple[int, int]] = set()
            for _ in range(data.draw(st.integers(1, 5))):
                if data.draw(st.booleans()):
                    run_one(site, things, dropped, data)
                act(site, things, dropped, data.draw(st.sampled_from(every_line)))
                check_against(site, things, dropped)


def act(
    site: Site, things: dict[Where, Thing], dropped: set[tuple[int, int]], at: tuple[int, int]
) -> None:
    """Restore a line that is dropped, drop one that is not; what can't be done changes nothing."""
    path = parse(f"prod/{at[0]}/{at[1]}")
    if at in dropped:
        verb, can = request("restore-line", path), not was_used(things, dropped, at)
    else:
        verb, can = request("kill-line", path, drop_outputs=True), not is_out(things, dropped, at)
    try:
        plan = actions.preview(site.store, verb, now=time.time())
        assert actions.apply(site.store, verb, actor="me", note=None, now=time.time()) == plan
    except Refused:
        assert not can
    else:
        assert can
        dropped ^= {at}


def is_out(things: dict[Where, Thing], dropped: set[tuple[int, int]], at: tuple[int, int]) -> bool:
    """Whether all of a line is out already."""
    gone = gone_with(things, dropped)
    return all(where in gone for where in things if where[:2] == at)


def was_used(
    things: dict[Where, Thing], dropped: set[tuple[int, int]], at: tuple[int, int]
) -> bool:
    """Whether something that is not dropped has succeeded without a file that the line would bring
    back.
    """
    back = gone_with(things, dropped) - gone_with(things, dropped - {at})
    files = {things[where].made for where in back}
    return any(
        thing.state == "done" and thing.without & files
        for where, thing in things.items()
        if where[:2] not in dropped - {at}
    )


def run_one(
    site: Site, things: dict[Where, Thing], dropped: set[tuple[int, int]], data: st.DataObject
) -> None:
    """Let one of the packages that can start succeed or fail, with what there is."""
    gone = gone_with(things, dropped)
    able = [w for w, t in things.items()
            if t.state == "idle" and w not in gone and can_start(things, w, gone)]  # fmt: skip
    if not able:
        return
    where = data.draw(st.sampled_from(able))
    thing = things[where]
    thing.state = data.draw(st.sampled_from(["done", "failed"]))
    if thing.state == "failed":
        site.fail(path_of(where))
        return
    thing.without = frozenset(thing.takes) & {things[other].made for other in gone}
    site.finish(path_of(where))
