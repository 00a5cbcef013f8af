"""A merge that takes a part of its inputs, and what happens to the lines that make them."""

from msgspec.structs import replace

from d0ctl.jobfile.spec import JobSpec
from d0ctl.store import Store
from d0ctl.store.jobs.require import continue_stages
from d0ctl.store.nodes import placement
from tests.support.building import job, line, package
from tests.support.jobs import NOW
from tests.support.site import Site


def merge(require: float, lines: int = 10) -> JobSpec:
    """Lines of one file each, and a merge that takes so much of them."""
    spec = job(
        ("reco", [line(package(f"r{n}")) for n in range(1, lines + 1)]),
        ("merge", [line(package("all", takes=[f"r{n}" for n in range(1, lines + 1)]))]),
    )
    reco, merged = spec.stages
    return replace(spec, stages=(reco, replace(merged, require=require)))


def end_all(site: Site, failing: int, lines: int = 10) -> None:
    """Let the last so many lines fail and the others succeed."""
    for number in range(1, lines + 1):
        path = f"prod/1/{number}/1"
        if number > lines - failing:
            site.fail(path)
        else:
            site.finish(path)


def go_on(store: Store) -> None:
    """What a turn of the driver does at its end."""
    with store.writing():
        continue_stages(store, now=NOW)
        placement.end_jobs(store, now=NOW)
