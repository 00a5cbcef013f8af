"""What people do to a production that runs: pause, drop, restore, retry, finish."""

from pathlib import Path

from tests.support.site import Site
from tests.support.waiting import wait_until

TICKING = """\
job: ticking
stages:
  - lines:
      - run: |
          while [ ! -e {folder}/go ]; do echo tick >> {folder}/ticks; sleep 0.05; done
"""


def ticks(folder: Path) -> int:
    """How often the binary has ticked."""
    file = folder / "ticks"
    return len(file.read_text().split()) if file.exists() else 0


def test_running_packages_stand_still_while_paused_and_go_on_afterwards(site: Site) -> None:
    site.start_daemon()
    site.submit(TICKING.format(folder=site.folder))
    wait_until(lambda: ticks(site.folder) > 2, what="it runs")

    assert "1 package is being suspended" in site.ok("pause", "ticking", "--running")
    site.wait_phase("ticking/1/1/1", "suspended")
    assert site.package("ticking/1/1/1")["request"] is None
    seen = ticks(site.folder)
    site.ok("resume", "ticking")
    site.wait_phase("ticking/1/1/1", "running")
    wait_until(lambda: ticks(site.folder) > seen, what="it goes on")
    (site.folder / "go").touch()

    assert site.d0ctl("wait", "ticking").code == 0
    assert len(site.package("ticking/1/1/1")["attempts"]) == 1


RECO = """\
job: reco001
stages:
  - name: reco
    lines:
      - for: {{n: {{range: [1, 3]}}}}
        run: |
          while [ ! -e {folder}/go-{{n}} ]; do sleep 0.05; done
          echo {{n}} | tee {{n}}.reco > {{n}}.filtered
        outputs: ["{{n}}.reco", "{{n}}.filtered"]
  - name: store
    lines:
      - for: {{n: {{range: [1, 3]}}}}
        run: "cp {{n}}.reco {{n}}.root"
        inputs: ["{{n}}.reco"]
        outputs: ["{{n}}.root"]
      - for: {{n: {{range: [1, 3]}}}}
        run: "cat {{n}}.reco"
        inputs: ["{{n}}.reco"]
      - for: {{n: {{range: [1, 3]}}}}
        run: "cp {{n}}.filtered {{n}}.filtered-root"
        inputs: ["{{n}}.filtered"]
        outputs: ["{{n}}.filtered-root"]
  - name: merge
    lines:
      - run: "sort {{inputs}} > all.root"
        inputs: {{from: store, match: "*.root"}}
        outputs: [all.root]
"""


def test_lines_dropped_before_and_during_the_wait_of_the_merge_leave_the_rest(site: Site) -> None:
    site.start_daemon()
    site.submit(RECO.format(folder=site.folder), "--hold")
    site.ok("kill-line", "reco001/1/3", "--drop-outputs", "--reason", "bad raw file")
    assert site.counts("reco001/2") == {"waiting": 6, "dropped": 3}
    site.ok("release", "reco001")
    (site.folder / "go-1").touch()
    site.wait_phase("reco001/2/1/1", "done")
    site.wait_phase("reco001/1/2/1", "running")

    plan = site.ok("kill-line", "reco001/1/2", "--drop-outputs", "--dry-run")
    assert "also dropped, because of dropped inputs: 3 packages" in plan
    assert "reco001/3/1/1 loses 1 input, keeps 1, and will be ready" in plan
    site.ok("kill-line", "reco001/1/2", "--drop-outputs")

    assert site.d0ctl("wait", "reco001").code == 0
    merged = site.package("reco001/3/1/1")
    assert merged["left_out"]["missing"] == ["2.root", "3.root"]
    assert (merged["attempts"][0]["inputs"], merged["attempts"][0]["inputs_asked"]) == (1, 3)
    assert (site.home.root / "results" / "reco001" / "all.root").read_text() == "1\n"
    assert "1 of 3 inputs, missing: 2.root and 3.root" in site.ok("status", "reco001")
    refused = site.d0ctl("restore-line", "reco001/1/2")
    assert refused.code == 4
    assert "was launched without its files at" in refused.err
    assert site.d0ctl("doctor").code == 0


def test_a_line_is_restored_and_merged_after_all(site: Site) -> None:
    site.submit(RECO.format(folder=site.folder), "--hold")
    for number in (1, 2, 3):
        (site.folder / f"go-{number}").touch()
    site.ok("kill-line", "reco001/1/2-3", "--drop-outputs")
    site.ok("restore-line", "reco001/1/2")
    site.ok("release", "reco001")

    assert site.d0ctl("run", "reco001").code == 0

    assert (site.home.root / "results" / "reco001" / "all.root").read_text() == "1\n2\n"
    assert site.json("status", "reco001")["dropped"] == 4


FLAKY = """\
job: flaky
parameters: {cut: 1}
stages:
  - lines:
      - for: {n: {range: [1, 3]}}
        run: "[ {cut} -gt 1 ] || [ {n} = 1 ] || [ -n \\"${CUT_OFF:-}\\" ]; echo {cut} > {n}.out"
        outputs: ["{n}.out"]
"""


def test_only_failed_packages_run_again_with_the_changes(site: Site) -> None:
    assert site.d0ctl("run", site.write(FLAKY)).code == 1
    assert site.counts("flaky") == {"done": 1, "failed": 2}

    site.ok("retry", "flaky/1/2", "--set", "cut=2")
    site.ok("retry", "flaky/1/3", "--env", "CUT_OFF=yes")

    assert site.d0ctl("run", "flaky").code == 0
    results = site.home.root / "results" / "flaky"
    assert [(results / f"{n}.out").read_text() for n in (1, 2, 3)] == ["1\n", "2\n", "1\n"]
    tries = [len(site.package(f"flaky/1/{n}/1")["attempts"]) for n in (1, 2, 3)]
    assert tries == [1, 2, 2]
