"""Jobs in which commands start or stop the last movement while no daemon runs."""

import time

from tests.support.rows import value
from tests.support.site import Site

STAGES = """\
job: {name}
stages:
  - name: gen
    lines: [{{for: {{n: [1, 2, 3]}}, run: "test {{n}} != 3"}}]
  - {{name: {last}, lines: [{{run: "echo end"}}]}}
"""


def test_a_stage_begins_once_the_failed_line_of_the_one_before_is_dropped(site: Site) -> None:
    site.submit(STAGES.format(name="after", last="publish, after: gen"))
    assert site.d0ctl("run", "after").code == 1

    site.ok("kill-line", "after/1/3", "--drop-outputs", "--yes")

    assert "1 ready" in site.ok("status", "after")
    site.ok("run", "after")
    assert site.ok("logs", "after/2/1/1") == "end\n"


def test_a_final_stage_that_is_to_begin_is_not_called_blocked(site: Site) -> None:
    site.submit(STAGES.format(name="late", last="report, final: yes"))
    site.ok("kill", "late/1", "--yes")

    said = site.ok("status", "late")
    eta = site.ok("eta", "late")

    assert "blocked" not in said and "stands still" in said
    assert "no daemon is running" in eta
    site.d0ctl("run", "late")
    assert site.ok("logs", "late/2/1/1") == "end\n"


def test_a_job_whose_last_packages_are_killed_has_no_end_to_estimate(site: Site) -> None:
    site.submit(STAGES.format(name="stuck", last="publish, after: gen"))
    site.d0ctl("run", "stuck")
    site.ok("retry", "stuck:failed")
    site.ok("kill", "stuck/1/3", "--yes")

    estimate = site.d0ctl("eta", "stuck")
    site.d0ctl("run", "stuck")

    assert "can't continue by itself: 1 package is blocked" in estimate.err
    assert " so far" not in site.ok("status", "stuck")


def test_packages_of_this_machine_are_known_to_run_until_the_daemon_stops(site: Site) -> None:
    site.submit(f'stages: [{{lines: [{{run: "{site.gate("go")}"}}]}}]\njob: long\n')
    site.start_daemon()
    site.wait_phase("long/1/1/1", "running")

    before = time.time()
    site.ok("daemon", "stop")

    with site.opened() as store:
        assert value(store, "node", "contact", name="localhost") >= before
    site.open("go")
    site.ok("run", "long")
