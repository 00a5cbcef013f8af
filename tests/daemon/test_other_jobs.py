"""Jobs that read files of other jobs: lost files are made again by the process that drives."""

from d0ctl.jobfile.spec import JobSpec, OutputSpec
from d0ctl.store import lifecycle, open_store
from d0ctl.store.jobs import retry
from d0ctl.store.nodes.standstill import is_settled
from d0ctl.store.views import browse
from tests.support.jobs import job, simple, stage
from tests.support.rows import change
from tests.support.site import Site


def chain(site: Site) -> JobSpec:
    """A job that makes a file, and reads it, so that it is removed at its end."""
    return job(
        "raw",
        stage(simple(site.ran("raw", "echo 7 > hits"), outputs=["hits"])),
        stage(simple(site.ran("look", "cat hits"), inputs=["hits"])),
    )


def cooked(site: Site) -> JobSpec:
    """The same with a file that is made from the one of `raw`."""
    return job(
        "cooked",
        stage(simple(site.ran("cook", "cat hits > tracks"), ["raw:hits"], ["tracks"])),
        stage(simple(site.ran("taste", "cat tracks"), inputs=["tracks"])),
    )


def plot(site: Site) -> JobSpec:
    """A job that reads a file of `cooked`."""
    outputs = [OutputSpec("plot", result=True)]
    return job("plot", [simple(site.ran("plot", "cat tracks > plot"), ["cooked:tracks"], outputs)])


def test_run_remakes_files_of_other_jobs_without_a_daemon(site: Site) -> None:
    for spec in (chain(site), cooked(site)):
        site.drive(site.submit(spec))

    site.drive(site.submit(plot(site)))

    assert site.result("plot/plot") == "7\n"
    assert site.runs() == {"raw": 3, "look": 1, "cook": 2, "taste": 1, "plot": 1}
    assert set(site.phases().values()) == {"done"}
    assert site.faults() == {}


def test_run_drives_only_the_needed_packages_of_other_jobs(site: Site) -> None:
    makers = [simple(site.ran(name, f"echo 7 > {name}"), outputs=[name]) for name in "ab"]
    site.submit(job("raw", makers))

    site.drive(site.submit(job("plot", [simple("cat b", inputs=["raw:b"])])))

    assert site.runs() == {"b": 1}
    phases = site.phases()
    assert (phases["raw/1/1/1"], phases["plot/1/1/1"]) == ("ready", "done")


def test_a_job_whose_input_is_made_again_has_not_ended(site: Site) -> None:
    site.drive(site.submit(chain(site)))

    name = site.submit(job("plot", [simple("cat hits", inputs=["raw:hits"])]))

    with open_store(site.home) as store:
        assert not is_settled(store, site.id_of(name))
        assert browse.job(store, "plot").status == "submitted"
        assert browse.job(store, "raw").status == "submitted"
        assert browse.job(store, "raw").ended is None


def test_a_retry_has_an_input_that_is_gone_made_again(site: Site) -> None:
    site.drive(site.submit(chain(site)))
    name = site.submit(job("plot", [simple("cat hits", inputs=["raw:hits"])], hold=True))
    with open_store(site.home) as store, store.writing():
        selected = store.select([1, 3])
        lifecycle.kill(selected, actor="tester", note=None, now=2.0)
        change(store, "package", {"id": 1}, phase="done")
        change(store, "job", ended=2.0, hold=0)
    with open_store(site.home) as store:
        selected = store.select([3])
        with store.writing():
            retry.retry(selected, actor="tester", note=None, now=3.0)

    site.drive(name)

    assert site.phases()["plot/1/1/1"] == "done"
    assert site.runs()["raw"] == 2
