"""Suspend, purge, resume: a person stops a job on a node, makes space, and lets it go on."""

from pathlib import Path

from tests.support.site import Site
from tests.support.waiting import wait_until

JOB = """\
job: prod
stages:
  - name: make
    lines:
      - for: {n: [1, 2]}
        run: echo old {n} > old{n}
        outputs: [{file: "old{n}", disposition: retain-temp}]
      - {run: "echo raw > raw", outputs: [{file: raw, disposition: retain-temp}]}
  - name: sum
    lines:
      - {run: "cat old1 old2 > sum", inputs: [old1, old2], outputs: sum}
  - name: watching
    lines:
      - run: |
          until [ -e GO ]; do
            if grep -q pause "$D0CTL_COMMAND" 2>&1; then
              echo "after event 7" >> "$D0CTL_COMMAND"
              while [ -e "$D0CTL_COMMAND" ]; do sleep 0.05; done
            fi
            echo tick >> FOLDER/watching; sleep 0.05
          done
          sed s/raw/watched/ raw > watched
        inputs: [raw]
        outputs: watched
  - name: deaf
    lines:
      - run: |
          until [ -e GO ]; do echo tick >> FOLDER/deaf; sleep 0.05; done
          sed s/raw/ignored/ raw > ignored
        inputs: [raw]
        outputs: ignored
  - name: last
    lines:
      - {run: "cat {inputs} > all", inputs: [raw, watched, ignored], outputs: all}
"""

WATCHING, DEAF = "prod/3/1/1", "prod/4/1/1"


def ticks(file: Path) -> int:
    """How often a binary has ticked."""
    return len(file.read_text().split()) if file.exists() else 0


def copies(site: Site, *names: str) -> list[Path]:
    """The copies of files on the node, as they are recorded."""
    return [
        Path(site.ask("select path from location join file on file.id = file_id where name = ?",
                      name)[0][0])
        for name in names
    ]  # fmt: skip


def test_a_job_is_suspended_purged_of_what_it_does_not_need_and_resumed(site: Site) -> None:
    site.add("farm", cpus=3)
    site.alone()
    site.start_daemon()
    site.submit(JOB.replace("GO", str(site.folder / "go")).replace("FOLDER", str(site.folder)))
    site.wait(lambda: site.look() == {"done": 4, "running": 2, "waiting": 1}, "two run")
    files = [site.folder / "watching", site.folder / "deaf"]
    wait_until(lambda: all(map(ticks, files)), what="both tick")

    # one binary pauses by itself, the other is stopped after the time that it had to do so
    assert "2 packages are being suspended" in site.ok("pause", "prod", "--running")
    for package in (WATCHING, DEAF):
        site.wait_phase(package, "suspended")
    stopped = [ticks(file) for file in files]
    assert "paused by itself: after event 7" in site.ok("why", WATCHING)
    answer = site.ok("why", DEAF)
    assert "stopped by SIGSTOP, since it did not pause by itself" in answer
    assert "- job `prod` has been paused by emmy since " in answer
    assert "  $ d0ctl resume prod\n" in answer

    # what a package still needs stays, whatever its disposition
    purged, needed = copies(site, "old1", "old2"), copies(site, "raw")
    refused = site.d0ctl("file", "purge", "prod:raw", "--yes")
    assert refused.code == 4, refused
    assert "no file of `prod:raw` can be purged: 1 needed by packages that" in refused.err
    assert refused.err.endswith("\nd0ctl why prod:raw\n")
    said = site.ok("file", "purge", "prod:*", "--yes")
    assert "kept 1 file: packages that have not ended need it\n" in said
    wait_until(lambda: not any(copy.exists() for copy in purged), what="they are gone")
    assert all(copy.exists() for copy in needed)
    assert [ticks(file) for file in files] == stopped

    site.ok("resume", "prod")
    for package, file, before in zip((WATCHING, DEAF), files, stopped, strict=True):
        site.wait_phase(package, "running")
        wait_until(lambda f=file, n=before: ticks(f) > n, what="it goes on")  # type: ignore[misc]
    (site.folder / "go").touch()

    assert site.ok("wait", "prod") == "`prod` is successful\n"
    assert site.result("prod/all") == "raw\nwatched\nignored\n"
    assert site.result("prod/sum") == "old 1\nold 2\n"
    assert site.attempts() == [("farm", "successful", None)] * 7
