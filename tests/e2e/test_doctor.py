"""The doctor beside a daemon at work, and on nodes where something is wrong."""

import json
import os
import time
from pathlib import Path

import pytest

from tests.support.rows import change
from tests.support.site import Site
from tests.support.waiting import Pid, wait_until

DAY = 86_400.0

JOB = """
job: busy
stages:
  - name: make
    lines:
      - for: {{i: {{range: [1, {lines}]}}}}
        packages:
          - {{run: "sleep 0.1; echo {{i}} > a{{i}}", outputs: ["a{{i}}"]}}
          - {{run: "cat a{{i}} > b{{i}}", inputs: ["a{{i}}"],
             outputs: [{{file: "b{{i}}", disposition: retain-indef}}]}}
  - name: merge
    lines:
      - packages: [{{run: "cat {{inputs}} > all", inputs: {{from: make}}, outputs: [all]}}]
"""


def old(path: Path, seconds: float) -> None:
    """A file of this age."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("?")
    os.utime(path, (time.time() - seconds,) * 2)


def findings(site: Site, *words: str) -> dict[str, tuple[str, bool]]:
    """What the doctor finds, by where: what it is, and whether it heals."""
    answer = site.d0ctl("doctor", "--json", *words)
    document = json.loads(answer.out)
    assert answer.code == (5 if document["findings"] else 0)
    return {one["subject"]: (one["detail"], one["heals"]) for one in document["findings"]}


def test_nothing_is_found_at_any_moment_of_a_daemons_work(site: Site) -> None:
    site.add("farm")
    site.start_daemon()
    looks = 0

    for number in range(1, 4):
        site.submit(JOB.format(lines=20), "--as", f"busy{number}")
        while site.ask("select 1 from job where ended is null"):
            assert findings(site, "--nodes") == {}
            looks += 1

    assert site.d0ctl("wait", "busy*").code == 0
    assert findings(site, "--nodes") == {}
    assert looks >= 3


@pytest.fixture
def ran(site: Site) -> Path:
    """The folder of a node that has worked, with no daemon any more."""
    site.add("farm")
    site.alone()
    site.start_daemon()
    site.submit(JOB.format(lines=2))
    site.ok("wait", "busy")
    site.ok("daemon", "stop")
    assert findings(site, "--nodes") == {}
    return Path(site.ask("select base from node where name = 'farm'")[0][0])


def test_files_on_a_node_are_compared_with_the_database(site: Site, ran: Path) -> None:
    me = Pid.of(os.getpid())
    assert me
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    record = f"{me.number} {me.started} {boot} 1\n"
    for attempt in (9001, 9002):
        (ran / "attempts" / str(attempt)).mkdir()
    (ran / "attempts/9002/wrapper").write_text(record)
    (ran / "attempts/1/wrapper").write_text(record)
    (ran / "attempts/1/end").unlink()
    (ran / "attempts/2/work").mkdir()
    ((path,),) = site.ask(
        "select path from location join file on file.id = file_id where name = 'b1'"
    )
    copy = Path(path).relative_to(ran)
    extra = copy.with_name("extra")
    for name in (extra, "cache/in/77/x"):
        old(ran / name, 0)
    for name in ("cache/aside/half", "spool/tmp/1.7"):
        old(ran / name, DAY + 60)
    old(ran / "spool/new/1.99", 300)
    (ran / copy).unlink()

    found = findings(site, "--nodes")

    late, _ = found.pop("farm:spool")
    assert late.startswith("1 message not fetched, one for 3")
    assert found == {
        "farm:attempts/9001": ("belongs to no attempt of this site", True),
        "farm:9002": ("is running, but is not in the database", True),
        "farm:1": ("is still running, but is recorded as successful", True),
        "farm:attempts/2/work": ("was left by an attempt that has ended", True),
        f"farm:{extra}": ("is not a copy that the database knows", True),
        "farm:cache/in/77/x": (
            "is not a copy that the database knows: an inventory removes it",
            False,
        ),
        f"farm:{copy}": ("is recorded as a copy, but does not exist", False),
        "farm:cache/aside/half": ("was left by an interrupted process", True),
        "farm:spool/tmp/1.7": ("was left by an interrupted process", True),
    }
    assert findings(site) == {}, "the other nodes are looked at only when asked for"


def test_the_copies_that_a_cache_in_doubt_lacks_are_one_finding(site: Site, ran: Path) -> None:
    note = "22 of 22 copies are missing in its cache, all at once"
    for path in ran.glob("cache/*/b*"):
        path.unlink()
    assert {"copy" in detail for detail, _ in findings(site, "--nodes").values()} == {True}
    with site.opened() as store, store.writing():
        change(store, "node", {"name": "farm"}, doubted=1.0, drained=1, drain_note=note)

    assert findings(site, "--nodes") == {"farm": (f"is in doubt: {note}", False)}


def test_attempts_of_a_removed_job_that_a_node_has_yet_to_remove_are_no_finding(
    site: Site, ran: Path
) -> None:
    site.ok("remove", "busy", "--yes")

    assert list((ran / "attempts").iterdir())
    assert findings(site, "--nodes") == {}


def test_an_attempt_that_died_unnoticed_is_repaired(site: Site) -> None:
    site.start_daemon()
    site.submit("job: waits\nstages: [{lines: [{run: 'sleep 300', outputs: []}]}]\n")
    site.wait_phase("waits/1/1/1", "running")
    site.kill_daemon()
    (note,) = (site.home.root / "nodes").glob("*/localhost/attempts/1/wrapper")
    wrapper = Pid.of(int(note.read_text().split()[0]))
    assert wrapper
    os.kill(wrapper.number, 9)
    wait_until(lambda: not wrapper.lives())

    found = findings(site)

    assert found["localhost:1"] == ("should be running, but has no wrapper", True)
    assert found["daemon"][1]
    note.unlink()
    assert findings(site)["localhost:1"] == ("should be running, but is not on the node", True)

    site.start_daemon()
    site.wait_phase("waits/1/1/1", "running")
    wait_until(lambda: findings(site) == {}, what="it has healed")
    site.ok("kill", "waits", "--yes")
    site.wait_phase("waits/1/1/1", "canceled")


def test_a_node_that_was_to_be_checked_and_does_not_answer_is_not_fine(site: Site) -> None:
    sshd = site.start_sshd("farm")
    site.add("farm", sshd)
    site.start_daemon()
    site.wait_node("farm", "up")
    site.ok("daemon", "stop")
    sshd.stop()

    answer = site.d0ctl("doctor", "--nodes")

    assert answer.code == 6
    assert answer.out.startswith("✘ `farm` was not checked: ")
    assert "d0ctl node check farm" in answer.out
    assert "no problems found" not in answer.out
    assert "node `localhost`" in answer.out
    assert site.d0ctl("doctor").code == 0
