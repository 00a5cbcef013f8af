"""A final stage, as it runs."""

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
