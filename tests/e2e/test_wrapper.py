"""What the package wrapper does on a node, asked for and seen from the command line over ssh."""

from collections.abc import Iterator

import pytest

from tests.support.site import Site
from tests.support.waiting import wait_until

WATCHES = """\
job: early
stages:
  - lines:
      - run: |
          echo 7/100 >> "$D0CTL_PROGRESS"
          while [ "$(head -n 1 "$D0CTL_COMMAND" 2>/dev/null)" != terminate ]; do sleep 0.05; done
          echo "seven events" > all.root
          echo "ended after event 7" >> "$D0CTL_COMMAND"
        outputs: all.root
"""

MERGES = (
    WATCHES.replace("job: early", "job: short")
    + """\
  - lines:
      - run: cat all.root > merged.root
        inputs: all.root
        outputs: merged.root
"""
)

SAYS = """\
job: says
stages:
  - lines:
      - run: |
          echo reading geometry
          printf 'no \\033[31mcalibration\\033[0m for run 7\\n' >&2
          while true; do sleep 0.1; done
        log-rules: [{match: "no calibration", reason: "site:calibration"}]
      - run: "echo retrying; echo retrying"
        log-rules: [{match: retrying, passive: yes}]
      - run: "nice > level"
        outputs: level
"""


@pytest.fixture
def farm(site: Site) -> Iterator[Site]:
    """A site whose packages run on a node behind an sshd, with a daemon at work."""
    site.add("farm")
    site.alone()
    site.start_daemon()
    yield site


def test_progress_is_seen_and_an_early_end_keeps_what_is_usable(farm: Site) -> None:
    farm.submit(WATCHES)
    path = "early/1/1/1"
    wait_until(lambda: farm.package(path)["progress"]["percent"] == 7.0, what="it is at 7 %")
    assert "7 %" in farm.ok("status", path)

    farm.ok("kill", path, "--partial", "--yes")
    farm.wait_phase(path, "canceled")

    (attempt,) = farm.package(path)["attempts"]
    assert attempt["message"] == "ended on request: by itself, with the answer: ended after event 7"
    (output,) = farm.package(path)["outputs"]
    assert (output["present"], output["partial"]) == (True, True)
    result = farm.home.root / "results/early/all.root"
    wait_until(result.exists, what="the partial output is delivered")
    assert result.read_text() == "seven events\n"
    assert farm.package(path)["progress"]["percent"] is None


def test_results_made_of_a_partial_file_say_so(farm: Site) -> None:
    farm.submit(MERGES)
    farm.wait_phase("short/1/1/1", "running")
    farm.ok("kill", "short/1/1/1", "--partial", "--yes")
    farm.wait_phase("short/2/1/1", "done")

    remark = (
        "`short/2/1/1` read `all.root`, which counts as partial, because `short/1/1/1` was killed"
    )
    assert remark in farm.d0ctl("results", "short").err
    assert remark in farm.ok("why", "short") and remark in farm.ok("status", "short")


def test_a_message_in_the_log_is_the_reason_and_the_line_is_kept(farm: Site) -> None:
    farm.submit(SAYS)
    assert farm.d0ctl("wait", "says").code == 1

    failed = farm.package("says/1/1/1")["attempts"][0]
    assert (failed["reason"], failed["binary"]) == ("site:calibration", 1)
    assert failed["message"].endswith("wrote to its log: no calibration for run 7")
    (note,) = farm.package("says/1/2/1")["notes"]
    assert note["text"] == "its log matched `retrying` 2 times, first: retrying"
    assert farm.package("says/1/3/1")["status"] == "successful"


WRAPPED = """\
job: wrapped
stages:
  - lines:
      - for: {n: [1, 2]}
        packages:
          - wrapper: start.sh
            wrapper-parameters: {GREETING: "hello {n}"}
            binaries:
              - {run: "echo $GREETING from $SITE > a-{n}", outputs: "a-{n}"}
              - {run: "cat a-{n} {inputs} > b-{n}", inputs: "a-{n}", outputs: "b-{n}"}
"""

START = """\
export SITE=farm
echo "before"
"$D0CTL_CHAIN"
echo "after $?"
"""


def test_a_startup_script_beside_the_job_file_is_brought_and_calls_the_chain(farm: Site) -> None:
    farm.write(START, "start.sh")
    farm.submit(WRAPPED)
    farm.ok("wait", "wrapped")

    results = farm.home.root / "results/wrapped"
    for n in (1, 2):
        assert (results / f"b-{n}").read_text() == f"hello {n} from farm\n" * 2
    logs = farm.ok("logs", "wrapped/1/2/1")
    assert "before" in logs
    assert "after 0" in logs


def test_a_startup_script_that_is_nowhere_is_a_fault(farm: Site) -> None:
    done = farm.d0ctl("validate", farm.write(WRAPPED.replace("start.sh", "nowhere.sh")))

    assert done.code == 2
    assert "no package makes `nowhere.sh`, and it is not beside the job file" in done.err
