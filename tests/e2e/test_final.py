"""A final stage, as it runs."""

import json

import pytest

from tests.support.site import Site


@pytest.mark.parametrize(
    ("code", "told"), [(0, "successful 3 0 1 0 1\n"), (3, "failed 1 1 1 1 1\n")]
)
def test_a_final_stage_runs_after_any_result_of_the_rest_and_gets_the_state(
    site: Site, code: int, told: str
) -> None:
    job = f"""\
job: told
stages:
  - name: work
    lines:
      - {{run: "exit {code}"}}
      - {{run: echo good}}
      - {{run: echo never}}
  - {{name: behind, after: work, lines: [{{run: echo late}}]}}
  - name: report
    final: yes
    lines:
      - run: >-
          echo $D0CTL_JOB_STATE $D0CTL_JOB_SUCCESSFUL $D0CTL_JOB_FAILED $D0CTL_JOB_CANCELED
          $D0CTL_JOB_UNSCHEDULED $D0CTL_JOB_DROPPED; exit 7
"""

    site.ok("submit", site.write(job))
    site.ok("kill-line", "told/1/3", "--drop-outputs", "--yes")

    assert site.d0ctl("run", "told").code == bool(code)

    assert site.ok("logs", "told/3/1/1") == told
    assert site.counts("told")["failed"] == 1 + bool(code)
    assert "final" in site.ok("status", "told/3")
    if code:
        assert "stage `work`, of which 1 of 2 packages are successful" in site.ok(
            "why", "told/2/1/1"
        )


LATE = """\
job: late
stages:
  - name: sim
    lines:
      - for: {n: [1, 2]}
        run: bash sim.sh {n} > s-{n}.txt
        inputs: sim.sh
        outputs: s-{n}.txt
  - name: merge
    lines:
      - run: cat {inputs} > all.txt
        inputs: {from: sim}
        outputs: all.txt
  - name: plot
    final: yes
    lines:
      - {run: PLOT, inputs: all.txt, outputs: {file: plot.txt, result: yes}}
"""


@pytest.mark.parametrize(
    ("plot", "words"),
    [
        ("cat all.txt > plot.txt", ["retry", "late:failed"]),
        ("cat {inputs} > plot.txt", ["set-status", "late/3", "unscheduled"]),
    ],
)
def test_a_final_stage_that_runs_again_waits_for_the_rest_and_reads_what_is_there_by_then(
    site: Site, plot: str, words: list[str]
) -> None:
    script = site.jobs / "sim.sh"
    script.write_text("[ $1 = 1 ] && echo $1\n")
    site.submit(LATE.replace("PLOT", f'"{plot}"'))
    site.d0ctl("run", "late")
    short = "late/3/1/1 ran with 0 of 1 inputs, missing: all.txt"
    assert short in site.ok("status", "late") + site.d0ctl("results", "late").err
    script.write_text("echo $1\n")
    site.ok("retry", "late/1")
    site.ok("run", "late")
    assert short in site.d0ctl("results", "late").err
    assert short in site.d0ctl("wait", "late").err
    assert (words[0] == "set-status") == (
        "d0ctl set-status late/3/1/1 unscheduled" in site.ok("why", "late/3/1/1")
    )

    site.ok(*words)
    site.ok("run", "late")

    assert site.result("late/plot.txt") == "1\n2\n"
    assert "missing" not in site.ok("status", "late") + site.d0ctl("results", "late").err
    assert site.ok("doctor")


def test_a_retry_of_all_failed_packages_runs_the_final_stage_last(site: Site) -> None:
    script = site.jobs / "sim.sh"
    script.write_text("[ $1 = 1 ] && echo $1\n")
    site.submit(LATE.replace("PLOT", "cat all.txt > plot.txt"))
    site.d0ctl("run", "late")
    script.write_text("echo $1\n")

    site.ok("retry", "late:failed")
    site.ok("run", "late")

    assert site.result("late/plot.txt") == "1\n2\n"
    assert len(json.loads(site.ok("status", "late/3/1/1", "--json"))["attempts"]) == 2
    assert site.ok("doctor")


def test_a_final_stage_that_runs_again_leaves_out_what_is_still_missing(site: Site) -> None:
    (site.jobs / "sim.sh").write_text("[ $1 = 1 ] && echo $1\n")
    site.submit(LATE.replace("PLOT", "cat all.txt > plot.txt"))
    site.d0ctl("run", "late")

    site.ok("retry", "late/3")
    assert site.phase("late/3/1/1") == "ready"
    site.d0ctl("run", "late")

    assert site.counts("late")["failed"] == 2
    assert len(json.loads(site.ok("status", "late/3/1/1", "--json"))["attempts"]) == 2
    assert site.ok("doctor")
