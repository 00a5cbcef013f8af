"""Jobs that a restore brings back are in their archive, too: they count once, and it is said."""

import time
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Type
from tests.support import rows
from tests.support.building import document, production
from tests.support.site import Site


@pytest.fixture
def saved(site: Site, d0ctl: Type, tmp_path: Path) -> str:
    """A backup with the ended jobs `night` and `day`, which are in archive `2026-11` since."""
    for name in ("night", "day"):
        site.submit(production(name))
        site.fail(f"{name}/1/1/1")
        d0ctl("kill", name, "--yes")
        rows.change(site.store, "job", {"name": name}, ended=time.time())  # as a daemon does
    d0ctl("backup", saved := str(tmp_path / "saved.db"))
    assert d0ctl("archive", "*", "--as", "2026-11", "--yes").exit_code == 0
    return saved


def counted(d0ctl: Type) -> Any:
    """What reports with archives have of jobs."""
    usage = document(d0ctl("report", "usage", "--with-archives", "--json").stdout)
    history = document(d0ctl("history", "--with-archives", "--json").stdout)
    return (usage["total"], usage["failures"], usage["by_job"], usage["by_software"],
            history["jobs"], history["failures"])  # fmt: skip


def test_jobs_of_a_restored_backup_count_once_whether_archived_again_or_not(
    site: Site, d0ctl: Type, saved: str
) -> None:
    before = counted(d0ctl)
    site.store.close()

    assert d0ctl("restore", saved, "--yes").exit_code == 0
    restored = counted(d0ctl)
    assert d0ctl("archive", "*", "--as", "2026-12", "--yes").exit_code == 0
    again = counted(d0ctl)

    assert before[0]["attempts"] == 2
    assert restored == before
    assert again == before


def test_a_restore_and_doctor_name_archives_with_jobs_of_the_backup(
    site: Site, d0ctl: Type, saved: str
) -> None:
    archive = site.store.home.archive_file("2026-11")
    said = (
        "2 jobs of the backup are in archive `2026-11`, too: their logs on nodes were removed, "
        "and `--with-archives` counts only what the backup has of them\n"
        "after the restore, `d0ctl doctor` says how to remove archives without other jobs\n"
    )
    found = "archive: 2026-11: has 2 jobs that are in the database or a later archive, too, and"

    assert said in d0ctl("restore", saved, "--dry-run").stdout
    assert found not in d0ctl("doctor").stdout
    site.store.close()
    assert said in d0ctl("restore", saved, "--yes").stderr
    doctor = " ".join(d0ctl("doctor").stdout.split())
    assert f"{found} counted only there" in doctor and f"rm {archive}" in doctor
    before = counted(d0ctl)
    d0ctl("archive", "*", "--as", "2026-12", "--yes")
    assert found in " ".join(d0ctl("doctor").stdout.split())

    archive.unlink()
    assert found not in " ".join(d0ctl("doctor").stdout.split())
    assert counted(d0ctl) == before


def test_no_archive_that_has_more_than_the_backup_is_to_be_removed(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    site.submit(production("night"))
    d0ctl("backup", saved := str(tmp_path / "saved.db"))
    site.fail("night/1/1/1")
    d0ctl("kill", "night", "--yes")
    rows.change(site.store, "job", {"name": "night"}, ended=time.time())
    d0ctl("archive", "night", "--as", "2026-11", "--yes")
    site.store.close()

    said = d0ctl("restore", saved, "--yes").stderr
    doctor = d0ctl("doctor")

    assert "1 job of the backup is in archive `2026-11`, too: its logs" in said
    assert "rm " not in doctor.stdout and "d0ctl doctor" not in said
    assert "has 1 job that is in the database" in " ".join(doctor.stdout.split())


def test_another_job_of_the_same_name_counts_too(site: Site, d0ctl: Type, saved: str) -> None:
    site.submit(production("night"))
    site.fail("night/1/1/1")

    assert counted(d0ctl)[0]["attempts"] == 3


def test_a_broken_archive_does_not_keep_a_restore_from_working(
    site: Site, d0ctl: Type, saved: str
) -> None:
    site.store.home.archive_file("2026-11").write_bytes(b"broken" * 1000)
    site.store.close()

    assert d0ctl("restore", saved, "--yes").exit_code == 0
