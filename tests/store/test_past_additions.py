"""The past of a job to which an update has added packages."""

import time
from pathlib import Path

from d0ctl.actions import apply, request
from d0ctl.jobfile.reader import read
from d0ctl.select import parse
from d0ctl.store import Store
from d0ctl.store.nodes import placement
from d0ctl.store.views import outline
from d0ctl.store.views.shapes import JobSummary
from tests.store.test_past import as_of, phases
from tests.support.site import Site

GROW = """\
job: grow
stages:
  - name: sim
    lines:
      - for: {n: [1]}
        run: echo {n} > {n}.txt
        outputs: "{n}.txt"
"""
MORE = """\
  - name: merge
    lines: [{run: "cat {inputs} > all", inputs: {from: sim}, outputs: all}]
"""


def summary(store: Store) -> JobSummary:
    """The only job."""
    (job,) = outline.jobs(store, outline.job_ids(store)).values()
    return job


def test_packages_that_an_update_has_added_since_were_not_there(site: Site, tmp_path: Path) -> None:
    path = tmp_path / "grow.yaml"
    path.write_text(GROW)
    site.submit(read(path))
    site.finish("grow/1/1/1")
    at = time.time() + 1
    with site.store.writing():
        placement.end_jobs(site.store, now=at)
    path.write_text(GROW.replace("[1]", "[1, 2]") + MORE)
    update = request("update", parse("grow"), file=str(path))
    apply(site.store, update, actor="me", note=None, now=at + 10)

    with as_of(site, at + 5) as store:
        job = summary(store)
        assert (job.status, job.blocked, job.ended is None) == (
            "successful", False, False,
        )  # fmt: skip
        assert phases(store) == {"grow/1/1/1": "done"}
        assert [stage.lines for stage in outline.stages(store, job, 1, 9)] == [1]
    with as_of(site, at + 15) as store:
        assert summary(store).status == "submitted"
        assert phases(store) == {
            "grow/1/1/1": "done", "grow/1/2/1": "ready", "grow/2/1/1": "waiting",
        }  # fmt: skip
