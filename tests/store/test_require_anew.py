"""Stages that read a part of their inputs, once a person has changed what that part is of."""

import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from d0ctl.actions import Plan, apply, describe, preview, report, request
from d0ctl.actions.packages.kill_line import KillLinePlan
from d0ctl.jobfile.spec import JobSpec
from d0ctl.select import parse, union
from d0ctl.store import open_store
from d0ctl.store.checks.check import faults
from d0ctl.store.jobs.correction import correct, planning
from d0ctl.store.views import browse
from tests.store.requiring import end_all, go_on, merge
from tests.support.building import job, line, package
from tests.support.examples import examples
from tests.support.homes import make_home
from tests.support.jobs import NOW
from tests.support.site import Site


def act(site: Site, verb: str, lines: str, **options: object) -> Plan:
    """Carry out an action of a person, as planned."""
    asked, now = request(verb, parse(lines), **options), time.time()
    plan = preview(site.store, asked, now=now)
    assert apply(site.store, asked, actor="me", note=None, now=now) == plan
    return plan


def update(site: Site, spec: JobSpec) -> None:
    """Update the job, and let a turn of the driver pass."""
    with site.store.writing():
        outline = planning.plan(site.store, 1, spec)
        correct.correct(site.store, 1, spec, outline, actor="me", note="", now=time.time())
    go_on(site.store)


def test_a_merge_continues_once_a_person_has_dropped_enough_lines(site: Site) -> None:
    site.submit(merge(0.8))
    end_all(site, failing=3)
    go_on(site.store)
    ended = browse.job(site.store, "prod").ended

    act(site, "kill-line", "prod/1/8", drop_outputs=True)
    go_on(site.store)
    assert site.phase("prod/2/1/1") == "waiting"
    assert browse.job(site.store, "prod").ended == ended
    act(site, "kill-line", "prod/1/9", drop_outputs=True)

    assert site.phase("prod/1/10/1") == "dropped"
    assert site.phase("prod/2/1/1") == "ready"
    assert browse.job(site.store, "prod").ended is None
    assert [action.verb for action in browse.actions(site.store, "prod", 2)] == [
        "require", "kill-line"
    ]  # fmt: skip
    assert faults(site.store) == []


def test_a_merge_that_has_not_begun_waits_for_restored_lines(site: Site) -> None:
    site.submit(merge(0.8))
    end_all(site, failing=3)
    go_on(site.store)
    act(site, "kill-line", "prod/1/8-9", drop_outputs=True)

    act(site, "restore-line", "prod/1/8-9")
    go_on(site.store)

    assert site.phase("prod/2/1/1") == "waiting"
    assert [site.phase(f"prod/1/{n}/1") for n in (8, 9, 10)] == ["failed", "failed", "dropped"]
    act(site, "kill-line", "prod/1/8", drop_outputs=True)
    assert [site.phase(f"prod/1/{n}/1") for n in (8, 9, 10)] == ["dropped", "failed", "dropped"]
    act(site, "retry", "prod/1/9")
    go_on(site.store)
    site.fail("prod/1/9/1")
    go_on(site.store)
    assert site.phase("prod/2/1/1") == "ready"


def test_the_plan_of_a_drop_says_which_other_lines_and_what_begins_by_it(site: Site) -> None:
    site.submit(merge(0.8))
    end_all(site, failing=3)
    go_on(site.store)
    few = act(site, "kill-line", "prod/1/8", drop_outputs=True)

    plan = act(site, "kill-line", "prod/1/9", drop_outputs=True)

    fact = "87.5% of stage `reco` is successful, and that is enough for its readers"
    assert (
        f"then {fact}: 1 other line of it will be dropped, and 1 package will be ready"
        in describe(plan)
    )
    assert f"now {fact}: 1 other line of it dropped; 1 package is ready now" in report(plan)
    assert "enough" not in " ".join([*describe(few), *report(few)])
    assert few.undo == "d0ctl restore-line prod/1/8 --again"
    assert plan.undo == "d0ctl restore-line prod/1/9 prod/1/10 --again"


def test_the_undo_of_a_drop_restores_the_lines_that_were_dropped_with_it(site: Site) -> None:
    site.submit(merge(0.9, lines=12))
    end_all(site, failing=3, lines=12)
    go_on(site.store)
    plan = act(site, "kill-line", "prod/1/10-11", drop_outputs=True)
    go_on(site.store)
    dropped = [site.phase(f"prod/1/{n}/1") for n in (10, 11, 12)]

    back = union([parse("prod/1/10-11"), parse("prod/1/12")])
    apply(site.store, request("restore-line", back, again=True), actor="me", note=None, now=NOW)
    go_on(site.store)

    assert dropped == ["dropped"] * 3
    assert plan.undo == "d0ctl restore-line prod/1/10-11 prod/1/12 --again"
    assert [site.phase(f"prod/1/{n}/1") for n in (10, 11, 12)] == ["failed"] * 3
    assert faults(site.store) == []


@pytest.mark.parametrize("before", [0.9, 1.0])
def test_a_merge_continues_once_an_update_requires_less(site: Site, before: float) -> None:
    site.submit(merge(before))
    end_all(site, failing=2)
    go_on(site.store)
    assert browse.job(site.store, "prod").status == "failed"

    update(site, merge(0.8))

    assert site.phase("prod/1/9/1") == "dropped"
    assert site.phase("prod/2/1/1") == "ready"
    assert browse.job(site.store, "prod").ended is None


def test_a_merge_continues_once_an_update_has_removed_enough_lines(site: Site) -> None:
    site.submit(merge(0.8))
    end_all(site, failing=3)
    go_on(site.store)

    update(site, merge(0.8, lines=8))

    assert site.phase("prod/1/8/1") == "dropped"
    assert site.phase("prod/2/1/1") == "ready"


def test_a_line_is_dropped_once_no_stage_that_requires_all_reads_from_it(site: Site) -> None:
    spec = merge(0.5)
    strict = job(("strict", [line(package("s", takes=["r10"]))])).stages
    site.submit(replace(spec, stages=(*spec.stages, *strict)))
    end_all(site, failing=1)
    go_on(site.store)
    assert site.phase("prod/1/10/1") == "failed"

    act(site, "kill-line", "prod/3/1", drop_outputs=True)

    assert site.phase("prod/1/10/1") == "dropped"
    assert site.phase("prod/2/1/1") == "ready"


class Weighed:
    """What a person does to lines of which some have failed, and by a plain count what follows."""

    def __init__(self, site: Site, ends: list[str], require: float) -> None:
        self.site, self.ends, self.require = site, dict(enumerate(ends, 1)), require
        self.restored = set[int]()
        """Lines that were not retried since they were restored."""
        site.submit(self.spec)
        for number, end in self.ends.items():
            self.end(number, end)
        self.count()

    @property
    def spec(self) -> JobSpec:
        return merge(self.require, lines=len(self.ends))

    def end(self, number: int, end: str) -> None:
        (self.site.finish if end == "done" else self.site.fail)(f"prod/1/{number}/1")
        self.ends[number] = end

    def count(self) -> None:
        """Drop what the merge can do without."""
        go_on(self.site.store)
        counted = [end for end in self.ends.values() if end != "dropped"]
        if self.require < 1 and counted.count("done") >= self.require * max(1, len(counted)):
            for number, end in self.ends.items():
                if end == "failed" and number not in self.restored:
                    self.ends[number] = "dropped"

    def drop(self, number: int) -> None:
        plan = act(self.site, "kill-line", f"prod/1/{number}", drop_outputs=True)
        self.ends[number] = "dropped"
        self.restored.discard(number)
        before = [*self.ends.values()].count("dropped")
        self.count()
        others = [*self.ends.values()].count("dropped") - before
        assert isinstance(plan, KillLinePlan)
        is_ready = self.site.phase("prod/2/1/1") == "ready"
        answer = [(stage.lines, stage.starting) for stage in plan.enough]
        assert answer == [(others, int(is_ready))] * bool(others)

    def restore(self, number: int) -> None:
        act(self.site, "restore-line", f"prod/1/{number}")
        self.ends[number] = "failed"
        self.restored.add(number)

    def retry(self, number: int, end: str) -> None:
        act(self.site, "retry", f"prod/1/{number}")
        self.restored.discard(number)
        self.end(number, end)

    def check(self) -> None:
        """All is as counted, and the merge begins if all its inputs are there."""
        found = {n: self.site.phase(f"prod/1/{n}/1") for n in self.ends}
        assert found == self.ends
        left = {end for end in self.ends.values() if end != "dropped"}
        merge_is = {frozenset(): "dropped", frozenset({"done"}): "ready"}
        assert self.site.phase("prod/2/1/1") == merge_is.get(frozenset(left), "waiting")
        assert faults(self.site.store) == []


@settings(max_examples=examples(8), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_a_merge_begins_as_soon_as_the_required_part_is_there_whatever_a_person_does(
    data: st.DataObject,
) -> None:
    fractions = st.sampled_from([0.5, 0.6, 0.75, 1.0])
    end = st.sampled_from(["done", "failed"])
    with tempfile.TemporaryDirectory() as folder:
        with open_store(make_home(Path(folder) / "home")) as store:
            ends = data.draw(st.lists(end, min_size=4, max_size=6))
            weighed = Weighed(Site.of(store), ends, data.draw(fractions))
            weighed.check()
            for _ in range(data.draw(st.integers(1, 6))):
                number = data.draw(st.sampled_from(sorted(weighed.ends)))
                match weighed.ends[number]:
                    case "dropped":
                        weighed.restore(number)
                    case "failed" if data.draw(st.sampled_from([True, True, False])):
                        weighed.drop(number)
                    case "failed":
                        weighed.retry(number, data.draw(end))
                    case "done":
                        weighed.require = data.draw(fractions)
                        update(weighed.site, weighed.spec)
                weighed.count()
                weighed.check()
