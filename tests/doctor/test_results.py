"""Results and copies on the control host that are gone or were changed."""

import os
import time
from pathlib import Path

import pytest

from d0ctl.config import Home
from d0ctl.doctor.examine import examine
from d0ctl.doctor.results import COST, deliveries
from d0ctl.dropbox import LEFT_BEHIND_S
from d0ctl.nodes.carry import checksum_of
from d0ctl.store.files import copies
from d0ctl.store.jobs.removal import sweep
from d0ctl.store.jobs.unneeded_files import STRAY_S
from d0ctl_wrapper.protocol import stamp
from tests.doctor.conftest import Found, damage
from tests.doctor.planting import old, only
from tests.support.building import job, line, package, production
from tests.support.rows import read
from tests.support.site import Site


def reported(site: Site, path: Path, *, checksums: bool = False) -> list[tuple[str, str]]:
    """What is said of a file, by the names of the rules."""
    found = examine(site.store, checksums=checksums).findings
    return [(finding.check, finding.detail) for finding in found if finding.subject == str(path)]


def test_an_undelivered_result_is_reported_unless_its_job_was_removed(
    site: Site, home: Home, found: Found
) -> None:
    site.submit(production())
    for folder in (home.results / "prod", home.results / "removed"):
        folder.mkdir()
        (folder / "mine.txt").touch()
        (folder / ".plot.png.123").touch()

    finding = only(found)

    assert (finding.check, finding.subject) == ("results", str(home.results / "prod"))
    assert finding.detail == "1 file that the job did not deliver, such as `mine.txt`"


@pytest.mark.parametrize(("age", "findings"), [(LEFT_BEHIND_S - 1, 0), (LEFT_BEHIND_S, 1)])
def test_a_hidden_file_is_reported_when_it_is_too_old_to_be_on_its_way(
    site: Site, home: Home, age: float, findings: int
) -> None:
    site.submit(production())
    hidden = home.results / "prod" / ".plot.png.123"
    hidden.parent.mkdir()
    hidden.touch()
    os.utime(hidden, (1000, 1000))

    assert len(list(deliveries(site.store, now=1000 + age))) == findings


def test_a_result_that_is_gone_is_reported(site: Site, home: Home, found: Found) -> None:
    site.submit(production())
    path = home.results / "prod" / "plot.png"
    damage(
        site,
        "update file set present = 1 where name = 'plot.png'",
        f"insert into location (file_id, cluster_id, path, made) select id, 1, '{path}', 1"
        " from file where name = 'plot.png'",
    )

    assert (only(found).subject, only(found).detail) == (
        str(path),
        "was delivered, but does not exist",
    )
    assert only(found).advice.endswith(
        f"make it again ({COST}): d0ctl set-status prod/3/1/1 unscheduled"
    )
    path.parent.mkdir()
    path.touch()
    assert found() == []


def test_a_result_of_a_dropped_line_may_be_gone(site: Site, home: Home, found: Found) -> None:
    site.submit(production())
    path = home.results / "prod" / "plot.png"
    damage(
        site,
        "update file set present = 1, dropped = 1 where name = 'plot.png'",
        f"insert into location (file_id, cluster_id, path, made) select id, 1, '{path}', 1"
        " from file where name = 'plot.png'",
    )

    assert not [finding for finding in found() if finding.check == "results"]


def test_a_result_whose_size_has_changed_is_reported(site: Site, home: Home, found: Found) -> None:
    site.submit(production())
    path = home.results / "prod" / "plot.png"
    damage(
        site,
        "update file set present = 1, size = 4 where name = 'plot.png'",
        f"insert into location (file_id, cluster_id, path, made) select id, 1, '{path}', 1"
        " from file where name = 'plot.png'",
    )
    path.parent.mkdir()
    path.write_text("plot")
    assert found() == []

    path.write_text("longer plot")

    assert (only(found).subject, only(found).detail) == (
        str(path),
        "was delivered, but has another size now",
    )
    assert only(found).advice.endswith(
        f"make it again ({COST}): d0ctl set-status prod/3/1/1 unscheduled"
    )


def delivered(site: Site, home: Home) -> Path:
    """A result whose checksum is known, delivered long ago."""
    site.submit(production())
    path = home.results / "prod" / "plot.png"
    path.parent.mkdir()
    path.write_text("plot")
    damage(
        site,
        f"update file set present = 1, size = 4, checksum = '{checksum_of(path)[1]}'"
        " where name = 'plot.png'",
        f"insert into location (file_id, cluster_id, path, made) select id, 1, '{path}', 1"
        " from file where name = 'plot.png'",
    )
    return path


def test_a_result_with_other_contents_is_reported_if_all_copies_are_read(
    site: Site, home: Home, found: Found
) -> None:
    path = delivered(site, home)
    assert reported(site, path, checksums=True) == []

    path.write_text("trap")
    detail = "was delivered, but has other contents now"
    assert reported(site, path, checksums=True) == [("results", detail)]

    os.utime(path, (0, 0))  # before its delivery, so only `checksums` reads it

    assert found() == []


def test_a_result_that_was_written_after_its_delivery_is_read(
    site: Site, home: Home, found: Found
) -> None:
    path = delivered(site, home)
    assert found() == []

    path.write_text("trap")

    assert only(found).detail == "was delivered, but has other contents now"


def test_results_of_a_job_that_are_gone_are_reported_together(
    site: Site, home: Home, found: Found
) -> None:
    lines = [line(package(f"{n}.txt")) for n in range(1, 8)]
    site.submit(job(("fill", lines), name="mc"))
    folder = home.results / "mc"
    damage(
        site,
        "update file set present = 1 where name <> '4.txt'",
        f"insert into location (file_id, cluster_id, path, made) select id, 1, '{folder}/' || name,"
        " 1 from file where name <> '4.txt'",
    )

    report = only(found)

    assert (report.subject, report.detail) == (
        str(folder),
        "6 files were delivered, but do not exist, such as `1.txt`",
    )
    assert report.advice == (
        f"put them back, or make them again ({COST}): "
        "d0ctl set-status mc/1/1-3/1 mc/1/5-7/1 unscheduled"
    )


def test_files_in_transit_of_a_job_that_is_gone_heal(home: Home, found: Found) -> None:
    (home.cache / "77" / "5").mkdir(parents=True)

    assert (only(found).check, only(found).heals) == ("transit", True)


@pytest.fixture
def kept(site: Site, home: Home) -> Path:
    """A copy in the cache of the control host, as it was recorded."""
    site.submit(production("mc"))
    file, job_id, name = read(site.store, "file", "id", "job_id", "name")[0]
    path = home.in_transit(job_id, file, name)
    path.parent.mkdir(parents=True)
    path.write_text("some data")
    size, checksum = checksum_of(path)
    with site.store.writing():
        arrival = copies.Arrival(
            file, 1, 0, str(path), None, size, checksum, **stamp.of(path.stat())
        )
        copies.arrive(site.store, [arrival], now=0.0)
    return path


def test_a_copy_on_the_control_host_that_was_changed_is_reported(
    site: Site, found: Found, kept: Path
) -> None:
    assert reported(site, kept, checksums=True) == []

    kept.write_text("any other")
    assert reported(site, kept) == [("copy", "was changed since it was copied there")]

    kept.unlink()
    assert reported(site, kept) == [("copy", "is recorded as a copy, but does not exist")]


def test_the_contents_of_copies_on_the_control_host_are_read_when_that_is_asked(
    site: Site, found: Found, kept: Path
) -> None:
    status = kept.stat()
    kept.write_text("any other")
    os.utime(kept, ns=(status.st_atime_ns, status.st_mtime_ns))

    assert reported(site, kept) == []
    assert reported(site, kept, checksums=True) == [
        ("contents", "has changed: its checksum differs")
    ]


def test_a_file_beside_a_copy_on_the_control_host_goes_at_the_next_start(
    site: Site, home: Home, found: Found, kept: Path
) -> None:
    young = old(kept.with_name("young"), 0)
    stray = old(kept.with_name("stray"), STRAY_S + 60)
    assert reported(site, stray) == [("orphan", "is not a copy that the database knows")]
    assert reported(site, young) == []

    sweep(site.store, now=time.time())

    assert not stray.exists()
    assert kept.exists()
    assert young.exists()


def test_a_missing_folder_of_results_is_reported_once(site: Site, home: Home, found: Found) -> None:
    home.results.rmdir()
    make = f"mkdir -m 700 {home.results}"
    assert (only(found).detail, only(found).advice) == ("is missing", make)
    for name in ("one", "two"):
        site.submit(production(name))
    damage(
        site,
        "update file set present = 1 where name = 'plot.png'",
        "insert into location (file_id, cluster_id, path, made) "
        f"select file.id, 1, '{home.results}/' || job.name || '/plot.png', 1 "
        "from file join job on job.id = file.job_id where file.name = 'plot.png'",
    )

    finding = only(found)

    assert (finding.check, finding.subject) == ("results", str(home.results))
    assert finding.detail == "is missing, and 2 files were delivered there"
    assert finding.advice == (
        f"put it back, or mount its disk; if it is lost: {make}, then `d0ctl doctor` says how to "
        "make them again"
    )
    home.results.mkdir(mode=0o700)
    assert len(found()) == 2
    assert all("set-status" in each.advice for each in found())
