"""Failures answered by a policy, from the job file to the results, by real wrappers."""

from tests.e2e.site import Site

JOB = """\
job: again
policy:
  exit-code: {tries: 2, delay: 1s}
stages:
  - lines:
      - name: third
        run: "echo >> COUNT; test $(wc -l < COUNT) -ge 3; echo x > made"
        outputs: made
      - {name: kept, run: "exit 4", policy: {exit-code: {tries: 0}}}
"""


def test_a_run_tries_again_as_its_job_says_and_tells_of_each_attempt(site: Site) -> None:
    count = site.folder / "count"
    done = site.d0ctl("run", site.write(JOB.replace("COUNT", str(count))))

    assert done.code == 1, done
    assert site.phases("again") == {"done": 1, "failed": 1}
    attempts = site.json("status", "again/1/1/1")["attempts"]
    assert [(one["kind"], one["outcome"]) for one in attempts] == [
        ("first", "failed"),
        ("resubmit", "failed"),
        ("resubmit", "successful"),
    ]
    report = site.json("report", "failures", "again")
    assert (report["failures"], report["packages"], report["tried_again"]) == (3, 2, 2)
    assert site.ok("doctor")
