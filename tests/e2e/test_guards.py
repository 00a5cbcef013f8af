"""Packages that loop, take too long or too much, and full disks, on nodes behind a real sshd."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.site import Site
from tests.support.waiting import wait_until

GREEDY = "import time; kept = bytes(b'x') * 90_000_000; time.sleep(300)"

JOB = f"""\
job: bad
stages:
  - name: stage
    lines:
      - {{name: loops, looping: 2s, run: "echo begun; while :; do :; done"}}
      - {{name: waits, looping: 2s, run: sleep 300}}
      - {{name: long, wall-time: 2s, run: sleep 300}}
      - {{name: large, memory: 40MB, run: [{sys.executable}, -c, "{GREEDY}"]}}
      - {{name: bulky, disk: 1MB, run: "head -c 3M /dev/zero > scratch; sleep 300"}}
      - {{name: good, looping: 60s, wall-time: 60s, memory: 1GB, disk: 1GB, run: "true"}}
"""

# line: reason, and the sentence on it
WANTED = {
    1: ("looping", r"binary 1 \(stage\) made no progress for \d.*; CPU \d+ %: looping"),
    2: ("looping", r"binary 1 \(stage\) made no progress .*; CPU 0 %: it is idle, .*"),
    3: ("wall-time", r"ran for \d+\.\d s, longer than its wall time of 2\.0 s"),
    4: ("out-of-memory", r"binary 1 \(\S+\) used \d+ MB of memory, more than its request of 40 MB"),
    5: ("disk-full", r"its files take 3\.\d MB of disk, more than its request of 1\.0 MB"),
}


def test_an_attempt_that_a_guard_ended_says_why_everywhere(site: Site) -> None:
    site.add("farm", cpus=6)
    site.alone()

    done = site.d0ctl("run", site.write(JOB))

    assert done.code == 1, done
    assert site.counts("bad") == {"failed": 5, "done": 1}
    history = site.ok("history", "bad")
    for line, (reason, sentence) in WANTED.items():
        (attempt,) = site.package(f"bad/1/{line}/1")["attempts"]
        assert attempt["reason"] == reason
        assert re.fullmatch(sentence, attempt["message"])
        words = attempt["message"]
        assert words in site.ok("status", f"bad/1/{line}/1")
        assert words in site.ok("why", f"bad/1/{line}/1")
        assert words in history


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 100 megabytes, if we may mount one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=100m", "tmpfs", str(folder)]
    if shutil.which("mount") is None or subprocess.run(mount, stderr=subprocess.PIPE).returncode:
        pytest.skip("only root may mount a small disk")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


FULL = """\
job: full
stages:
  - lines: [{run: "head -c 50M /dev/zero > raw", outputs: [{file: raw, disposition: retain-temp}]}]
  - lines: [{run: "wc -c < raw > size", inputs: [raw], outputs: [size]}]
  - lines:
      - run: "head -c 48M /dev/zero > big; while [ ! -e $GO ]; do sleep 0.1; done; cat size > told"
        environment: {GO: "GO-FILE"}
        inputs: [size]
        outputs: [told]
"""


def test_a_full_disk_is_freed_of_unneeded_files(site: Site, disk: Path) -> None:
    go = site.folder / "go"
    site.add("farm", None, "--dir", disk)
    site.alone()
    site.start_daemon()
    site.submit(FULL.replace("GO-FILE", str(go)))
    wait_until(lambda: list(disk.rglob("cache/*/raw")), what="the raw file is there")

    site.wait(lambda: site.look().get("suspended"), "the last package stands still")
    wait_until(lambda: not list(disk.rglob("cache/*/raw")), what="the raw file is purged")
    site.wait(lambda: site.look().get("running"), "the last package goes on")
    go.touch()
    site.ok("wait", "full")

    answer = site.ok("history", "full/3/1/1")
    assert re.search(r"the disk has \S+ .B left, less than the reserve of 5\.2 MB", answer)
    assert re.search(r"resumed: the disk has 5\d MB left again", answer)
    assert (site.home.root / "results/full/told").read_text() == "52428800\n"


FILLS = """\
job: fills
policy: {disk-full: {tries: 0}}
stages: [{lines: [{run: "head -c 98M /dev/zero > big; sleep 300"}]}]
"""


def test_the_site_says_how_much_of_a_disk_stays_free_and_for_how_long_one_waits(
    site: Site, disk: Path
) -> None:
    site.add("farm", None, "--dir", disk)
    site.alone()
    text = "defaults: {reserve: 4MB, patience: 1s}"
    site.ok("site", "apply", site.write(text, "site.yaml"), "--yes")

    assert site.d0ctl("run", site.write(FILLS)).code == 1

    (attempt,) = site.package("fills/1/1/1")["attempts"]
    assert attempt["reason"] == "disk-full"
    assert re.search(r"less than the reserve of 4\.0 MB, for \d+(\.\d)? s now", attempt["message"])


STANDS = """\
job: {name}
stages: [{{lines: [{{run: "while [ ! -e {go} ]; do sleep 0.1; done"}}]}}]
"""


def test_a_pause_holds_a_package_that_a_full_disk_has_suspended(site: Site, disk: Path) -> None:
    go = site.folder / "go"
    site.add("farm", None, "--dir", disk)
    site.alone()
    site.start_daemon()
    for name in ("one", "two"):
        site.submit(STANDS.format(name=name, go=go))
    site.wait(lambda: site.look().get("running") == 2, "both run")
    (disk / "filler").write_bytes(bytes(102_000_000))
    site.wait(lambda: site.look().get("suspended") == 2, "both stand still")

    site.ok("pause", "one", "--running")
    (disk / "filler").unlink()
    site.wait(lambda: site.look().get("running") == 1, "the other goes on")
    go.touch()
    site.ok("wait", "two")
    assert site.package("one/1/1/1")["phase"] == "suspended"

    site.ok("resume", "one")
    site.ok("wait", "one")
