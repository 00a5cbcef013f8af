"""Outputs that stay on a node after a failure: delivered by a try of its own, accepted, removed."""

import os
import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.site import Site
from tests.support.waiting import wait_until


def storage(site: Site, *defaults: str) -> Path:
    """Let the site store at `root://` by a program that fails while a file `broken` is there."""
    program = site.folder / "store"
    program.write_text(
        f"#!/bin/sh\n[ ! -e {site.folder}/broken ] || {{ echo no space there >&2; exit 51; }}\n"
        f'cp "$1" {site.folder}/stored\n'
    )
    program.chmod(0o700)
    lines = [f"  {line}\n" for line in defaults]
    text = f'transfer:\n  root: {{store: "{program} {{source}} {{dest}}"}}\n'
    text += f"defaults:\n{''.join(lines)}" if lines else ""
    (site.home.root / "site.yaml").write_text(text)
    site.ok("site", "apply", "--yes")
    return site.folder / "stored"


def stored_job(site: Site, rule: str) -> str:
    """A job whose output goes to the storage, and whose binary keeps a journal."""
    return site.write(f"""
        job: far
        policy: {{stage-out: {{{rule}}}}}
        stages:
          - lines:
              - run: "echo ran >> {site.folder}/journal; echo data > big"
                outputs: [{{file: big, locator: "root://far/big"}}]
    """).name


def journal(site: Site) -> int:
    """How often the binary has run."""
    path = site.folder / "journal"
    return len(path.read_text().splitlines()) if path.exists() else 0


def cached(site: Site) -> list[str]:
    """The files of the cache of this machine, relative to it."""
    cache = Path(site.ask("select base from node where name = 'localhost'")[0][0], "cache")
    return sorted(str(Path(folder, name).relative_to(cache))
                  for folder, _, names in os.walk(cache) for name in names)  # fmt: skip


def attempts(site: Site) -> list[Any]:
    return [(one["kind"], one["outcome"], one["reason"])
            for one in site.json("status", "far/1/1/1")["attempts"]]  # fmt: skip


def test_a_stage_out_is_tried_again_by_itself_until_the_storage_works(site: Site) -> None:
    stored = storage(site)
    (site.folder / "broken").touch()
    site.start_daemon()
    site.ok("submit", site.jobs / stored_job(site, "tries: 50, delay: 1s"))
    wait_until(lambda: len(attempts(site)) >= 3, what="two more tries")
    assert len({name.split("/")[1] for name in cached(site)}) == 1

    (site.folder / "broken").unlink()
    site.wait_phase("far/1/1/1", "done")

    first, *others = attempts(site)
    assert first == ("first", "failed", "stage-out")
    assert {one[0] for one in others} == {"stage-out"}
    assert others[-1][1] == "successful"
    assert (journal(site), stored.read_text()) == (1, "data\n")
    last = len(others) + 1
    wait_until(lambda: cached(site) in ([], [f"{last}/big"]), what="the others are removed")
    assert re.search(r"  successful  .*  stage-out\n", site.ok("status", "far/1/1/1"))


def test_a_stage_out_that_is_given_up_is_delivered_by_a_retry(site: Site) -> None:
    stored = storage(site)
    (site.folder / "broken").touch()
    site.start_daemon()
    site.ok("submit", site.jobs / stored_job(site, "tries: 1, delay: 0s"))
    site.wait_phase("far/1/1/1", "failed")
    answer = site.ok("why", "far/1/1/1")
    assert "its outputs" in answer and "a retry only delivers them" in answer

    (site.folder / "broken").unlink()
    site.ok("retry", "far/1/1/1", "--yes")
    site.wait_phase("far/1/1/1", "done")

    assert (journal(site), stored.read_text()) == (1, "data\n")


def test_a_delivery_goes_on_beside_a_package_that_takes_all_cpus(site: Site) -> None:
    stored = storage(site)
    (site.folder / "broken").touch()
    site.add("farm", cpus=1)
    site.alone()
    site.start_daemon()
    site.ok("submit", site.jobs / stored_job(site, "tries: 0"))
    site.wait_phase("far/1/1/1", "failed")
    site.submit(f"job: busy\nstages: [{{lines: [{{run: 'while [ ! -e {site.folder}/go ]; "
                "do sleep 0.05; done'}]}]\n")  # fmt: skip
    site.wait_phase("busy/1/1/1", "running")
    (site.folder / "broken").unlink()

    site.ok("retry", "far/1/1/1", "--yes")
    site.wait_phase("far/1/1/1", "done")

    assert (site.phase("busy/1/1/1"), journal(site), stored.read_text()) == ("running", 1, "data\n")
    (site.folder / "go").touch()
    site.wait_phase("busy/1/1/1", "done")


def test_a_retry_from_scratch_runs_the_binary_again(site: Site) -> None:
    storage(site)
    (site.folder / "broken").touch()
    site.start_daemon()
    site.ok("submit", site.jobs / stored_job(site, "tries: 0"))
    site.wait_phase("far/1/1/1", "failed")
    (site.folder / "broken").unlink()
    site.ok("retry", "far/1/1/1", "--from-scratch", "--yes")
    site.wait_phase("far/1/1/1", "done")

    assert journal(site) == 2
    assert [kind for kind, *_ in attempts(site)] == ["first", "resubmit"]
    wait_until(lambda: "1/big" not in cached(site), what="the first try's copy is removed")


def test_a_kill_between_two_tries_removes_the_outputs(site: Site) -> None:
    storage(site)
    (site.folder / "broken").touch()
    site.start_daemon()
    site.ok("submit", site.jobs / stored_job(site, "tries: 5, delay: 1h"))
    site.wait_phase("far/1/1/1", "cooloff")
    assert cached(site) == ["1/big"]

    site.ok("kill", "far/1/1/1", "--yes")

    wait_until(lambda: cached(site) == [], what="the outputs are removed")


def test_kept_outputs_are_removed_after_their_time(site: Site) -> None:
    storage(site, "keep-failed: 1s")
    site.start_daemon()
    site.ok("submit", site.write(EXITS_3, "three.yaml"))
    site.wait_phase("three/1/1/1", "failed")

    wait_until(lambda: cached(site) == ["1/a"], what="only what a restart needs is there")

    refused = site.d0ctl("set-status", "three/1/1/1", "successful", "--yes")
    assert refused.code == 4
    assert "output `b` of `three/1/1/1` is missing" in refused.err


EXITS_3 = """
    job: three
    stages:
      - lines:
          - packages:
              - binaries:
                  - {run: "echo a > a", outputs: a}
                  - {run: "cat a > b; exit 3", inputs: a, outputs: [{file: b, result: true}]}
"""


def test_a_verdict_is_overruled_by_set_status(site: Site) -> None:
    site.start_daemon()
    site.ok("submit", site.write(EXITS_3, "three.yaml"))
    site.wait_phase("three/1/1/1", "failed")
    asked = site.ok("why", "three/1/1/1").partition("are complete: look")[2]
    assert "d0ctl set-status three/1/1/1 successful" in asked

    said = site.ok("set-status", "three/1/1/1", "successful", "--reason", "3 is fine", "--yes")
    assert "the outputs of 1 package are checked on their nodes; no binary runs" in said
    site.wait_phase("three/1/1/1", "done")
    assert (site.home.root / "results/three/b").read_text() == "a\n"
    why = site.ok("why", "three/1/1/1")
    assert re.search("set successful by .*; it had failed: .*exit code 3", why)
    [checksum] = site.ask("select checksum from file where name = 'b'")
    assert checksum[0].startswith("sha256:")
    assert site.ok("doctor")


def test_outputs_after_a_missing_program_are_not_offered_as_a_result(site: Site) -> None:
    site.start_daemon()
    job = "job: none\nstages: [{lines: [{run: './nothing.sh > a', outputs: a}]}]\n"
    site.ok("submit", site.write(job, "none.yaml"))
    site.wait_phase("none/1/1/1", "failed")

    assert "set-status" not in site.ok("why", "none/1/1/1")


@pytest.mark.parametrize(
    "run",
    ["cat a > b; python3 -c '1/0'", "touch b; exit 3"],
    ids=["an exception", "an empty output"],
)
def test_outputs_that_are_likely_broken_are_not_offered_as_results(site: Site, run: str) -> None:
    site.start_daemon()
    text = EXITS_3.replace('"cat a > b; exit 3"', f'"{run}"')
    site.ok("submit", site.write(text, "three.yaml"))
    site.wait_phase("three/1/1/1", "failed")

    said = site.ok("why", "three/1/1/1")

    assert ("its outputs (" in said) == run.startswith("cat")
    assert "set-status" not in said


def test_a_failed_merge_is_not_offered_as_a_result(site: Site) -> None:
    job = """
        job: merged
        stages:
          - name: sim
            lines: [{run: 'echo no zip > a.zip', outputs: [a.zip]}]
          - name: merge
            lines: [{merge: yes, inputs: {from: sim}, outputs: [all.zip]}]
    """
    site.start_daemon()
    site.ok("submit", site.write(job, "merged.yaml"))
    site.wait_phase("merged/2/1/1", "failed")

    assert "set-status" not in site.ok("why", "merged/2/1/1")


def test_a_failure_cannot_be_overruled_if_outputs_have_changed(site: Site) -> None:
    site.start_daemon()
    site.ok("submit", site.write(EXITS_3, "three.yaml"))
    site.wait_phase("three/1/1/1", "failed")
    [base] = [Path(row[0]) for row in site.ask("select base from node where name = 'localhost'")]
    (base / "cache/1/b").write_text("something else")

    site.ok("set-status", "three/1/1/1", "successful", "--yes")
    wait_until(lambda: len(site.json("status", "three/1/1/1")["attempts"]) == 2)
    site.wait_phase("three/1/1/1", "failed")

    last = site.json("status", "three/1/1/1")["attempts"][-1]
    assert last["reason"] == "missing-output"
    assert "output `b` of attempt 1" in last["message"]


def test_a_package_without_outputs_cannot_be_set_successful(site: Site) -> None:
    site.start_daemon()
    text = EXITS_3.replace("cat a > b; exit 3", "exit 3")
    site.ok("submit", site.write(text, "three.yaml"))
    site.wait_phase("three/1/1/1", "failed")

    refused = site.d0ctl("set-status", "three/1/1/1", "successful", "--yes")

    assert refused.code == 4
    assert "output `b` of `three/1/1/1` is missing" in refused.err


def test_a_remake_removes_the_files_of_its_predecessor(site: Site) -> None:
    site.start_daemon()
    site.ok(
        "submit",
        site.write(
            """
        job: twins
        stages:
          - lines:
              - run: "date +%N > a; date +%N > b"
                outputs:
                  - {file: a, disposition: retain-indef}
                  - {file: b, disposition: retain-indef}
    """,
            "twins.yaml",
        ),
    )
    site.wait_phase("twins/1/1/1", "done")
    site.ok("set-status", "twins/1/1/1", "unscheduled", "--yes")
    wait_until(lambda: len(site.json("status", "twins/1/1/1")["attempts"]) == 2)
    site.wait_phase("twins/1/1/1", "done")

    wait_until(lambda: cached(site) == ["2/a", "2/b"], what="only the second copies are there")


def test_unknown_files_in_a_cache_are_removed_at_the_next_contact(site: Site) -> None:
    site.start_daemon()
    site.ok("submit", site.write(EXITS_3.replace("exit 3", "true"), "three.yaml"))
    site.wait_phase("three/1/1/1", "done")
    wait_until(lambda: cached(site) == [], what="the outputs are removed")
    [base] = [Path(row[0]) for row in site.ask("select base from node where name = 'localhost'")]
    (base / "cache/1").mkdir()
    (base / "cache/1/b").write_text("left behind")

    answer = site.d0ctl("doctor")
    assert answer.code == 5
    assert "cache/1/b" in answer.out
    assert "rm " not in answer.out
    site.ok("daemon", "stop")
    site.start_daemon()

    wait_until(lambda: cached(site) == [], what="the orphan is removed")
    assert site.d0ctl("doctor").code == 0
