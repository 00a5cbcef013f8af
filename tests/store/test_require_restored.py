"""Lines that wait for files of restored lines, in stages that go on with a part of their inputs."""

import time

import pytest
from msgspec.structs import replace

from d0ctl.actions import apply, request
from d0ctl.jobfile.spec import JobSpec
from d0ctl.select import parse
from d0ctl.store.checks.check import faults
from tests.store.requiring import go_on
from tests.support.building import job, line, package
from tests.support.site import Site

LINES = (1, 2, 3, 4)


def reader(of: str, require: float, name: str = "prod") -> JobSpec:
    """A stage that reads each of some files, and a merge; both require a part of their inputs."""
    spec = job(
        ("reco", [line(package(f"r{n}", takes=[f"{of}s{n}"])) for n in LINES]),
        ("sum", [line(package("all", takes=[f"r{n}" for n in LINES]))]),
        name=name,
    )
    reco, merge = spec.stages
    return replace(spec, stages=(replace(reco, require=require), replace(merge, require=0.6)))


@pytest.fixture(params=["of its job", "of another job"])
def reco(request: pytest.FixtureRequest, site: Site) -> str:
    """The path of a stage in which a line waits for a restored one, that was not retried yet."""
    first = job(("sim", [line(package(f"s{n}")) for n in LINES]))
    if request.param == "of its job":
        spec, path = reader("", 0.6), "prod/2"
        site.submit(replace(spec, stages=(*first.stages, *spec.stages), packages=9))
    else:
        path = "use/1"
        site.submit(first)
        site.submit(reader("prod:", 0.6, name="use"))
    for n in (1, 3, 4):
        site.finish(f"prod/1/{n}/1")
        site.finish(f"{path}/{n}/1")
    site.fail("prod/1/2/1")
    go_on(site.store)
    if request.param != "of its job":
        act(site, "kill-line", "prod/1/2", drop_outputs=True)
    assert [site.phase(of) for of in ("prod/1/2/1", f"{path}/2/1")] == ["dropped", "dropped"]
    act(site, "restore-line", "prod/1/2")
    return path


def act(site: Site, verb: str, lines: str, **options: object) -> None:
    """Carry out an action of a person, and let turns of the driver pass."""
    asked = request(verb, parse(lines), **options)
    apply(site.store, asked, actor="me", note=None, now=time.time())
    go_on(site.store)
    go_on(site.store)


def test_a_line_that_waits_for_a_restored_one_is_not_dropped_before_that_was_tried(
    site: Site, reco: str
) -> None:
    assert site.phase("prod/1/2/1") == "failed"
    assert site.phase(f"{reco}/2/1") == "waiting"

    act(site, "retry", "prod/1/2")
    site.finish("prod/1/2/1")
    go_on(site.store)

    assert site.phase(f"{reco}/2/1") == "ready"
    assert faults(site.store) == []


def test_a_line_that_waits_for_a_restored_one_is_dropped_once_that_has_failed_again(
    site: Site, reco: str
) -> None:
    act(site, "retry", "prod/1/2")
    site.fail("prod/1/2/1")
    go_on(site.store)
    go_on(site.store)

    assert site.phase(f"{reco}/2/1") == "dropped"
    assert faults(site.store) == []
