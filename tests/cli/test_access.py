"""Homes that may not be used: of another user, unreadable, read-only, or without their key."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from d0ctl.config import Home
from tests.cli.conftest import Type
from tests.support.building import production
from tests.support.homes import make_home
from tests.support.site import Site
from tests.support.users import (
    NAMELESS,
    STRANGER,
    d0ctl_as,
    d0ctl_each_as,
    make_read_only,
    mounted,
    needs_root,
    open_folder,
)

JOB = "job: one\nstages: [{lines: [{run: 'true'}]}]\n"


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that all users may enter."""
    with open_folder() as folder:
        (folder / "job.yaml").write_text(JOB)
        yield folder


def refused(code: int, errors: str) -> list[str]:
    """The last two lines of a refusal: what is wrong, and what to type."""
    assert code == 5, errors
    assert "Traceback" not in errors
    fault, hint = errors.splitlines()[-2:]
    return [fault.removeprefix("d0ctl: "), hint]


VERBS = [["status"], ["doctor"], ["backup", "b.db"], ["submit", "job.yaml"], ["run", "job.yaml"],
         ["hold", "one"], ["daemon", "start"], ["daemon", "stop"]]  # fmt: skip


@needs_root
def test_the_home_of_another_user_is_refused_by_every_verb(folder: Path) -> None:
    home = make_home(folder / "home")

    refusal = (
        5,
        f"d0ctl: `{home.root}` belongs to user `root`, not to `nobody`\n"
        "export D0CTL_HOME=~/d0ctl\n",
    )
    assert d0ctl_each_as(STRANGER, home.root, VERBS) == [refusal for _ in VERBS]


def give_away(root: Path) -> None:
    """Let all of a home belong to the stranger."""
    for path in (root, *root.rglob("*")):
        os.chown(path, STRANGER, STRANGER, follow_symlinks=False)


@needs_root
@pytest.mark.parametrize(
    ("part", "mode", "culprit", "rights"),
    [("", 0, "", 700), ("", 0o500, "", 700), ("dropbox/new", 0, "dropbox/new", 700),
     ("site.key", 0, "site.key", 600), ("logs", 0o500, "logs", 700)],
)  # fmt: skip
def test_a_home_without_access_is_reported_with_the_command_that_helps(
    folder: Path, part: str, mode: int, culprit: str, rights: int
) -> None:
    home = make_home(folder / "home")
    give_away(home.root)
    (home.root / part).chmod(mode)

    verb = ["daemon", "start"] if part == "logs" else ["run", "job.yaml"]
    done = d0ctl_as(STRANGER, home.root, *verb)

    path = home.root / culprit
    assert refused(done.returncode, done.stderr) == [
        f"you may not use `{path}`",
        f"chmod {rights} {path}",
    ]


@needs_root
@pytest.mark.parametrize(
    "part", ["", "d0ctl.db", "dropbox", "site.key", "results", "logs", "cache", "nodes"]
)
def test_a_folder_in_a_home_that_belongs_to_another_user_is_refused(
    site: Site, d0ctl: Type, part: str
) -> None:
    path = site.store.home.root / part
    os.chown(path, STRANGER, STRANGER)

    for verb in (["status"], ["hold", "one"], ["daemon", "start"]):
        done = d0ctl(*verb)
        assert done.exit_code == 5
        assert done.stderr == (
            f"d0ctl: `{path}` belongs to user `nobody`, not to `root`\nsudo -u nobody d0ctl ...\n"
        )


@needs_root
def test_a_user_without_a_name_is_given_by_the_number_that_sudo_takes(
    site: Site, d0ctl: Type
) -> None:
    path = site.store.home.root / "results"
    os.chown(path, NAMELESS, NAMELESS)

    assert d0ctl("status").stderr == (
        f"d0ctl: `{path}` belongs to user `{NAMELESS}`, not to `root`\n"
        f"sudo -u '#{NAMELESS}' d0ctl ...\n"
    )


@needs_root
def test_a_link_of_another_user_is_refused_wherever_it_leads(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    home = site.store.home
    (tmp_path / "mine").mkdir()
    home.results.rmdir()
    home.results.symlink_to(tmp_path / "mine")
    assert d0ctl("status").exit_code == 0

    os.chown(home.results, STRANGER, STRANGER, follow_symlinks=False)
    assert "belongs to user `nobody`" in d0ctl("status").stderr

    os.chown(home.results, 0, 0, follow_symlinks=False)
    os.chown(tmp_path / "mine", STRANGER, STRANGER)
    assert "belongs to user `nobody`" in d0ctl("status").stderr


@pytest.mark.parametrize("part", ["d0ctl.db", "dropbox", "site.key"])
def test_key_messages_and_database_are_not_followed_through_links(
    site: Site, d0ctl: Type, tmp_path: Path, part: str
) -> None:
    path = site.store.home.root / part
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")

    done = d0ctl("status")

    assert done.exit_code == 5
    assert done.stderr == (
        f"d0ctl: `{path}` is a symbolic link\nlook where it leads: ls -l {path}\n"
    )


@needs_root
def test_a_home_on_a_read_only_disk_can_be_read_and_says_so(folder: Path, d0ctl: Type) -> None:
    with mounted(folder / "disk") as disk:
        home = make_home(disk / "home")
        named = ("--home", str(home.root))
        assert d0ctl(*named, "submit", str(folder / "job.yaml")).exit_code == 0
        make_read_only(disk)

        for verb in (["hold", "one"], ["run", "one"], ["daemon", "start"]):
            done = d0ctl(*named, *verb)
            assert refused(done.exit_code, done.stderr) == [
                f"the home `{home.root}` is on a read-only file system",
                f"mount -o remount,rw {disk}",
            ]
        assert d0ctl(*named, "status").exit_code == 0
        assert d0ctl(*named, "backup", str(folder / "b.db")).exit_code == 0
        done = d0ctl(*named, "doctor")
        assert done.exit_code == 5
        assert f"home: {home.root}: is on a read-only file system: mount -o" in done.stdout


@needs_root
def test_the_doctor_reports_a_full_disk_of_the_home(
    folder: Path, d0ctl: Type, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("d0ctl.doctor.examine.AGAIN_S", 0.0)
    with mounted(folder / "disk", "3m") as disk:
        home = make_home(disk / "home")
        assert "left on its disk" not in d0ctl("--home", str(home.root), "doctor").stdout
        (disk / "filler").write_bytes(b"x" * 1_800_000)

        done = d0ctl("--home", str(home.root), "doctor")

    assert done.exit_code == 5
    assert "kB left on its disk, so d0ctl may not be able to write: df -h" in done.stdout


@needs_root
def test_a_disk_without_space_is_named_by_every_verb(folder: Path, d0ctl: Type) -> None:
    with mounted(folder / "disk", "3m") as disk:
        home = make_home(disk / "home")
        with pytest.raises(OSError, match="No space"), (disk / "filler").open("wb", 0) as filler:
            while True:
                filler.write(b"x" * 4096)

        for verb in (["status"], ["doctor"], ["hold", "one"], ["daemon", "start"],
                     ["run", str(folder / "job.yaml")]):  # fmt: skip
            done = d0ctl("--home", str(home.root), *verb)
            assert refused(done.exit_code, done.stderr) == [
                f"the disk of the home `{home.root}` is full",
                f"df -h {home.root}",
            ]


@pytest.mark.parametrize("key", [None, b"", b"k" * 31])
def test_a_key_that_is_missing_or_short_is_never_used(
    site: Site, d0ctl: Type, key: bytes | None
) -> None:
    site.submit(production())
    home = site.store.home
    home.key.unlink()
    if key is not None:
        home.key.write_bytes(key)

    for verb in (["run", "prod"], ["daemon", "run"], ["daemon", "start"]):
        done = d0ctl(*verb)
        assert done.exit_code == 5
        fault, hint = done.stderr.splitlines()[-2:]
        assert f"`{home.key}`" in fault
        assert ("is missing" in fault) if key is None else (f"has {len(key)} of 32" in fault)
        assert hint.replace(f" --home {home.root}", "") == (
            "copy `site.key` and `known_hosts` from your backup or the old home, with mode 600; "
            "if the key is lost: d0ctl site rotate-key --lost"
        )


# which home ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    ["status", "status --json", "logs a/1/1/1", "history a", "why a", "doctor", "node list",
     "daemon status", "policy show", "site show", "software list", "report failures", "wait a"],
)  # fmt: skip
@pytest.mark.parametrize("by_option", [True, False], ids=["option", "variable"])
def test_a_reading_verb_fails_without_the_named_home(
    d0ctl: Type, home: Home, words: str, by_option: bool
) -> None:
    before = ["--home", str(home.root)] if by_option else []

    done = d0ctl(*before, *words.split())

    assert done.exit_code == 5
    here = f"d0ctl --home {home.root}" if by_option else "d0ctl"
    assert done.stderr == (
        f"d0ctl: there is no home at `{home.root}`\n"
        f"{here} run FILE makes one, and so does {here} node add NAME [user@]host; "
        "if there was one, is its disk mounted?\n"
    )
    assert not home.root.exists()


def test_a_home_that_was_not_named_need_not_exist(
    d0ctl: Type, tmp_path: Path, usual_home: Home
) -> None:
    assert d0ctl("status").stdout == "no jobs: try `d0ctl run FILE`\n"
    job = tmp_path / "job.yaml"
    job.write_text(JOB)
    assert d0ctl("submit", str(job)).exit_code == 0
    assert usual_home.database.exists()


def test_a_writing_verb_creates_the_named_home_but_not_its_parent(
    d0ctl: Type, tmp_path: Path
) -> None:
    job = tmp_path / "job.yaml"
    job.write_text(JOB)

    missing = d0ctl("--home", str(tmp_path / "no" / "home"), "submit", str(job))
    made = d0ctl("--home", str(tmp_path / "new"), "submit", str(job))

    assert missing.exit_code == 5
    assert missing.stderr == (
        f"d0ctl: there is no folder `{tmp_path}/no` for the home\nmkdir -p {tmp_path}/no\n"
    )
    assert made.exit_code == 0


def test_a_rehearsed_restore_refuses_a_home_without_a_parent_folder_as_the_restore_does(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    saved, home = tmp_path / "saved.db", tmp_path / "no" / "home"
    d0ctl("backup", str(saved))

    planned, done = (d0ctl("--home", str(home), "restore", str(saved), *more)
                     for more in (["--dry-run"], []))  # fmt: skip

    assert (planned.exit_code, planned.stderr.splitlines()[-2:]) == (
        5, [f"d0ctl: there is no folder `{home.parent}` for the home", f"mkdir -p {home.parent}"],
    )  # fmt: skip
    assert done.stderr.splitlines()[-2:] == planned.stderr.splitlines()[-2:]
