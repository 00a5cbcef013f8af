"""`run` beside another `run`: who has the slots that a job waits for."""

import os
from pathlib import Path

from tests.e2e.terminal import terminal
from tests.support.site import Site

BUSY = """\
job: busy
stages:
  - lines: [{{cpus: {cpus}, run: 'until [ -e {go} ]; do sleep 0.05; done'}}]
"""


def test_run_names_the_job_that_uses_the_slots_once(site: Site, go: Path) -> None:
    busy = site.write(BUSY.format(cpus=len(os.sched_getaffinity(0)), go=go))
    with terminal(site, "run", busy) as first:
        first.expect("submitted `busy`")
        site.wait_phase("busy/1/1/1", "running")
        hello = site.write("job: hello\nstages: [{lines: [{run: echo hello}]}]\n", "hello.yaml")

        with terminal(site, "run", hello) as second:
            second.expect("`hello` waits for a free slot: node `localhost` has ")
            second.expect(": 1 package of `busy`")
            go.touch()
            assert second.end() == 0, second.text
            assert second.text.count("waits for a free slot") == 1
        assert first.end() == 0, first.text
