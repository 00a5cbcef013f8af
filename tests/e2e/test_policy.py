"""Failures answered by a policy, from the job file to the results, by real wrappers."""

from tests.support.site import Site

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


def test_run_retries_by_the_policy_and_prints_each_attempt(site: Site) -> None:
    count = site.folder / "count"
    done = site.d0ctl("run", site.write(JOB.replace("COUNT", str(count))))

    assert done.code == 1, done
    assert site.counts("again") == {"done": 1, "failed": 1}
    attempts = site.json("status", "again/1/1/1")["attempts"]
    assert [(one["kind"], one["outcome"]) for one in attempts] == [
        ("first", "failed"),
        ("resubmit", "failed"),
        ("resubmit", "successful"),
    ]
    report = site.json("report", "failures", "again")
    assert (report["failures"], report["packages"], report["tried_again"]) == (3, 2, 2)
    assert site.ok("doctor")


ALIKE = """\
job: mymc
stages:
  - name: sim
    lines:
      - for: {seed: {range: [1, 200]}}
        run: "./sim.sh {seed}"
        outputs: "sim-{seed}.txt"
"""


def test_a_production_whose_script_is_missing_stops_after_twenty_failures(site: Site) -> None:
    done = site.d0ctl("run", site.write(ALIKE))

    assert done.code == 1, done
    phases = site.counts("mymc")
    slots = site.listed_node("localhost")["cpus"]
    assert 20 <= phases["failed"] <= 20 + 2 * slots, phases
    assert phases["failed"] + phases["ready"] == 200
    for words in (("why", "mymc"), ("status", "mymc")):
        answer = site.ok(*words)
        assert "held by d0ctl since" in answer
        assert "failed alike (software-missing), and none had succeeded by then" in answer
    assert "d0ctl retry 'mymc:failed'" in site.ok("why", "mymc")

    (site.jobs / "sim.sh").write_text('#!/bin/sh\necho x > "sim-$1.txt"\n')
    assert "failed alike" in done.err + done.out
    site.ok("retry", "mymc:failed", "--yes")
    assert site.json("status", "mymc")["held"] is None
