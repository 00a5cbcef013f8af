"""Ending packages and lines: all their processes go, and the merge can do without them."""

from pathlib import Path

import pytest

from tests.support.site import Site
from tests.support.waiting import Pid, wait_until

STUBBORN = """\
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
signal.signal(signal.SIGHUP, signal.SIG_IGN)
for level in range(3):                # leave parent, session and environment behind
    if os.fork():
        break
    os.setsid()
    os.chdir("/")
    os.environ.clear()
with open(sys.argv[1], "a") as record:
    record.write(f"{os.getpid()}\\n")
while True:
    time.sleep(0.2)
"""

TREE = """\
job: tree
parameters: {{record: {record}, stubborn: {stubborn}}}
stages:
  - lines:
      - run: |
          trap '' TERM
          python3 {{stubborn}} {{record}} &
          (setsid env -i sh -c 'trap "" TERM; echo $$ >> {record}; while :; do sleep 0.2; done' &)
          echo $$ >> {{record}}
          while :; do sleep 0.2; done
"""


def pids(record: Path) -> list[Pid | None]:
    """The processes that have written their numbers."""
    lines = record.read_text().split() if record.exists() else []
    return [Pid.of(int(line)) for line in lines]


@pytest.mark.parametrize("where", ["this machine", "ssh"])
def test_kill_ends_a_tree_that_ignores_term_and_has_daemonised_itself(
    site: Site, where: str
) -> None:
    if where == "ssh":
        site.add("farm")
        site.alone()
    record, stubborn = site.folder / "record", site.folder / "stubborn.py"
    stubborn.write_text(STUBBORN)
    site.start_daemon()
    site.submit(TREE.format(record=record, stubborn=stubborn))
    wait_until(lambda: len(pids(record)) == 6, what="the tree has grown")
    tree = pids(record)
    assert all(tree)
    site.wait_phase("tree/1/1/1", "running")

    answer = site.ok("kill", "tree", "--reason", "it is stubborn")
    assert "1 package is being killed on" in answer
    assert site.d0ctl("wait", "tree").code == 1

    assert not any(pid and pid.lives() for pid in tree)
    package = site.package("tree/1/1/1")
    assert (package["status"], package["phase"]) == ("canceled", "canceled")
    assert [one["outcome"] for one in package["attempts"]] == ["killed"]
    assert "it is stubborn" in site.ok("why", "tree/1/1/1")
    again = site.d0ctl("kill", "tree/1/1/1")
    assert again.code == 4
    assert "canceled" in again.err


MERGED = """\
job: merged
stages:
  - name: reco
    lines:
      - for: {{n: {{range: [1, 4]}}}}
        run: |
          {act}
          echo {{n}} > {{n}}.reco
        outputs: "{{n}}.reco"
  - name: merge
    lines:
      - run: sort {{inputs}} > all
        inputs: {{from: reco}}
        outputs: all
"""


def merged(site: Site) -> list[str]:
    """What went into the merge."""
    return (site.home.root / "results" / "merged" / "all").read_text().split()


def assert_merged_without_line_2(site: Site) -> None:
    """The merge ran on the three others, and the job counts as successful."""
    assert merged(site) == ["1", "3", "4"]
    job = site.json("status", "merged")
    assert (job["status"], job["dropped"]) == ("successful", 1)
    assert job["packages"]["canceled"] == 1
    assert job["packages"]["successful"] == 4
    assert site.package("merged/1/2/1")["phase"] == "dropped"
    dropped = [one["dropped"] for one in site.package("merged/2/1/1")["inputs"]]
    assert sorted(dropped) == [False, False, False, True]
    assert site.d0ctl("doctor").code == 0


def test_a_line_dropped_before_it_starts_is_not_merged(site: Site) -> None:
    site.submit(MERGED.format(act="true"), "--hold")
    plan = site.ok("kill-line", "merged/1/2", "--drop-outputs", "--dry-run")
    assert "merged/2/1/1 loses 1 input, keeps 3" in plan
    assert site.counts("merged") == {"ready": 4, "waiting": 1}

    site.ok("kill-line", "merged/1/2", "--drop-outputs", "--reason", "bad run")
    site.ok("release", "merged")
    site.ok("run", "merged")

    assert_merged_without_line_2(site)
    again = site.d0ctl("kill-line", "merged/1/2", "--drop-outputs")
    assert again.code == 4


def test_the_merge_that_waits_for_a_failed_line_continues_when_it_is_dropped(site: Site) -> None:
    done = site.d0ctl("run", site.write(MERGED.format(act="[ {n} != 2 ]")))
    assert done.code == 1
    assert site.counts("merged") == {"done": 3, "failed": 1, "waiting": 1}
    why = site.json("why", "merged/2/1/1")
    assert (
        "is blocked: it waits for file `2.reco` of `merged/1/2/1`, which is failed" in why["answer"]
    )
    assert "d0ctl kill-line merged/1/2 --drop-outputs" in why["commands"]

    site.ok("kill-line", "merged/1/2", "--drop-outputs")
    site.ok("run", "merged")

    assert_merged_without_line_2(site)


def test_a_running_line_can_be_dropped_while_the_merge_waits(site: Site) -> None:
    site.add("farm")
    site.alone()
    site.start_daemon()
    site.submit(MERGED.format(act="[ {n} != 2 ] || sleep 1000"))
    site.wait(lambda: site.look().get("done") == 3, "the others are done")
    site.wait_phase("merged/1/2/1", "running")

    site.ok("kill-line", "merged/1/2", "--drop-outputs")
    site.ok("wait", "merged")

    assert_merged_without_line_2(site)


def test_without_drop_outputs_the_merge_stays_waiting(site: Site) -> None:
    site.d0ctl("run", site.write(MERGED.format(act="[ {n} != 2 ]")))

    site.ok("kill-line", "merged/1/2")

    assert site.d0ctl("run", "merged").code == 1
    assert site.counts("merged") == {"done": 3, "canceled": 1, "waiting": 1}
