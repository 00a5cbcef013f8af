"""Copies that nobody may change: a changed one is lost, made or brought again, and reported."""

import os
from pathlib import Path

from tests.support.site import Site

MAKER = """\
job: maker
stages: [{lines: [{run: "echo AA > kept", outputs: [{file: kept, disposition: retain-indef}]}]}]
"""


def reader(name: str, more: str = "") -> str:
    """A job that reads the kept file of the other job."""
    return f"""\
job: {name}
stages: [{{lines: [{{run: "cp kept seen", inputs: ["maker:kept"], outputs: [seen]{more}}}]}}]
"""


def copies(site: Site, name: str) -> list[Path]:
    """Where the copies of a file are."""
    query = "select path from location join file on file.id = file_id where file.name = ?"
    return [Path(row[0]) for row in site.ask(query, name)]


def spoil(path: Path) -> None:
    """Change a file as root can, by as many bytes as it had."""
    data = path.read_bytes()
    path.chmod(0o600)
    path.write_bytes(b"X" * len(data))
    path.chmod(0o400)


def test_a_changed_copy_is_made_again_before_it_is_read(site: Site) -> None:
    site.add("farm")
    site.alone()
    site.ok("run", site.write(MAKER))
    (copy,) = copies(site, "kept")
    assert not copy.stat().st_mode & 0o222
    spoil(copy)

    site.start_daemon()
    site.submit(reader("after"))
    done = site.d0ctl("wait", "after")

    assert done.code == 0, f"{done} {site.ok('history', 'after')}"
    assert (site.home.root / "results/after/seen").read_text() == "AA\n"


def test_the_doctor_reads_copies_and_reports_changed_ones(site: Site) -> None:
    site.add("farm")
    site.alone()
    site.ok("run", site.write(MAKER))
    (copy,) = copies(site, "kept")
    before = copy.stat()
    assert site.d0ctl("doctor", "--nodes", "--checksums").code == 0
    spoil(copy)

    answer = site.d0ctl("doctor", "--nodes")
    assert answer.code == 5 and "was changed since it was copied there" in answer.out

    os.utime(copy, ns=(before.st_mtime_ns, before.st_mtime_ns))
    assert site.d0ctl("doctor", "--nodes").code == 0, "nothing can be seen from outside"
    answer = site.d0ctl("doctor", "--nodes", "--checksums")
    assert answer.code == 5 and "has changed: its checksum differs" in answer.out
    assert "d0ctl set-status maker/1/1/1 unscheduled" in answer.out


def test_a_program_can_not_change_the_file_beside_the_job_file(site: Site) -> None:
    own = site.jobs / "shared.raw"
    own.write_text("AAAA\n")

    done = site.d0ctl("run", site.write("""\
job: edits
stages:
  - lines:
      - {run: "chmod u+w e.raw; printf X | dd of=e.raw conv=notrunc; cp e.raw out", name: edits,
         inputs: [{file: e.raw, writable: yes}], outputs: [out]}
      - {run: "chmod u+w shared.raw; printf X | dd of=shared.raw conv=notrunc", name: spoils,
         inputs: [shared.raw], outputs: []}
""".replace("e.raw", "shared.raw")))  # fmt: skip

    assert done.code == 1, done
    assert own.read_text() == "AAAA\n"
    assert (site.home.root / "results/edits/out").read_text() == "XAAA\n"
    failed = site.package("edits/1/2/1")["attempts"][0]
    assert failed["reason"] == "verification"
    assert "input `shared.raw` was changed" in failed["message"]


def test_a_file_that_was_repaired_is_read_by_the_retry(site: Site) -> None:
    script = site.jobs / "work.sh"
    script.write_text("#!/bin/sh\nexit 3\n")
    script.chmod(0o755)
    text = "job: mend\nstages: [{lines: [{run: ./work.sh > out, inputs: work.sh, outputs: [out]}]}]"
    assert site.d0ctl("run", site.write(text)).code == 1

    script.write_text("#!/bin/sh\necho mended\n")
    site.ok("retry", "mend:failed")
    done = site.d0ctl("run", "mend")

    assert done.code == 0, done
    assert (site.home.root / "results/mend/out").read_text() == "mended\n"
    assert site.d0ctl("doctor").code == 0


def test_a_result_that_another_job_reads_stays_as_it_is(site: Site) -> None:
    site.ok(
        "run", site.write("job: first\nstages: [{lines: [{run: 'echo AA > a', outputs: [a]}]}]")
    )
    result = site.home.root / "results/first/a"

    done = site.d0ctl("run", site.write("""\
job: second
stages: [{lines: [{run: "echo X >> a; cp a b", inputs: ["first:a"], outputs: [b]}]}]
"""))  # fmt: skip

    assert done.code == 0, done
    assert result.read_text() == "AA\n"
    assert (site.home.root / "results/second/b").read_text() == "AA\nX\n"
    assert os.access(result, os.W_OK)
