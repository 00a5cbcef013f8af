"""Dropping a line, against a model that knows nothing of SQL."""

import itertools
import tempfile
from dataclasses import dataclass
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from d0ctl import verbs
from d0ctl.config import Home
from d0ctl.construct.spec import JobSpec
from d0ctl.errors import Refused
from d0ctl.select import parse
from d0ctl.store import open_store
from d0ctl.store.check import faults
from d0ctl.store.nodes import add_localhost
from d0ctl.verbs import Request
from tests.cli.building import Site, job, line, package

Where = tuple[int, int, int]
"""Stage, line and package."""


@dataclass
class Thing:
    """A package of the model: what it makes, needs and takes, and how it stands."""

    made: str
    needs: list[str]
    takes: list[str]
    state: str = "idle"


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


def drop(things: dict[Where, Thing], wanted: tuple[int, int]) -> set[Where]:
    """The packages that leave, those of the line among them, by looking again and again."""
    gone = {where for where in things if where[:2] == wanted}
    while True:
        lost = {things[where].made for where in gone}
        more = {
            where
            for where, thing in things.items()
            if where not in gone and thing.state in ("idle", "failed") and bereft(
                thing, lost, (where[0], where[1], where[2] - 1), things, gone)
        }  # fmt: skip
        if not more:
            return gone
        gone |= more


def bereft(
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


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(things=jobs(), data=st.data())
def test_a_drop_takes_what_a_plain_search_finds_and_the_plan_says_so(
    things: dict[Where, Thing], data: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder) / "home")
        with open_store(home, create=True) as store:
            add_localhost(store)
            site = Site(store)
            site.submit(spec_of(things))
            bring_into_states(site, things, data)
            wanted = data.draw(st.sampled_from(sorted({where[:2] for where in things})))
            gone = drop(things, wanted)
            request = Request("kill-line", parse(f"prod/{wanted[0]}/{wanted[1]}"), True)

            plan = verbs.preview(store, request)
            applied = verbs.apply(store, request, actor="me", note=None)

            assert plan == applied
            leaving = {path_of(where) for where in gone if things[where].state != "done"}
            told = {change.path for change in (*plan.changes, *plan.also_dropped)}
            assert told == leaving
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
                verbs.apply(store, request, actor="me", note=None)
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
