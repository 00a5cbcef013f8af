"""A home that has taken over from another one, was perhaps moved, and is restored in place."""

from collections.abc import Callable
from pathlib import Path

import pytest

from d0ctl.config import Home
from d0ctl.daemon.drive import driving
from d0ctl.errors import DatabaseUnavailable
from d0ctl.model import Address
from d0ctl.nodes.inventory import Survey
from d0ctl.store import backup, open_store
from d0ctl.store.clusters.other_homes import marked_as_driver, take_over
from d0ctl.store.files import moved_home
from d0ctl.store.nodes import registry
from d0ctl.store.nodes.site import site_name, successor
from tests.cli.conftest import Type
from tests.support.jobs import NOW, job
from tests.support.site import Site

Say = Callable[..., str]


@pytest.fixture
def say(d0ctl: Type) -> Say:
    """What a command says in a home, in one line."""

    def answer(root: Path, *words: str) -> str:
        said = d0ctl("--home", str(root), *words)
        return " ".join(f"{said.stdout} {said.stderr}".split())

    return answer


def drive(root: Path) -> None:
    """Drive the nodes of a home for a moment."""
    home = Home(root)
    with open_store(home) as store, marked_as_driver(home, site_name(store)):
        take_over(store)


@pytest.fixture
def saved(site: Site, say: Say, tmp_path: Path) -> str:
    """A backup of the first home, from which `second` has taken over."""
    site.submit(job("before"))
    first, second = site.store.home.root, tmp_path / "second"
    drive(first)
    file = str(tmp_path / "saved.db")
    say(first, "backup", file)
    say(second, "restore", file)
    drive(second)
    return file


def test_a_successor_that_was_moved_and_restored_in_place_is_no_copy(
    saved: str, say: Say, tmp_path: Path
) -> None:
    moved = (tmp_path / "second").rename(tmp_path / "moved")
    drive(moved)

    restored = say(moved, "restore", saved, "--yes")

    assert "change over" not in restored
    for command in ("status", "doctor"):
        said = say(moved, command)
        assert "no daemon has driven" not in said and "moved from" not in said
    assert "no daemon is running" in say(moved, "status")
    say(moved, "backup", later := str(tmp_path / "later.db"))
    again = say(moved, "restore", later, "--yes")
    assert "change over" not in again and "the home in use is" not in again
    assert "no daemon has driven" not in say(moved, "status")


def test_a_successor_that_is_moved_after_it_was_restored_in_place_is_no_copy(
    saved: str, say: Say, tmp_path: Path
) -> None:
    say(tmp_path / "second", "restore", saved, "--yes")
    moved = (tmp_path / "second").rename(tmp_path / "moved")

    assert "no daemon has driven" not in say(moved, "status")
    say(moved, "restore", saved, "--yes")
    assert "no daemon has driven" not in say(moved, "status")


def test_a_successor_whose_first_home_was_moved_is_no_copy_after_a_restore(
    site: Site, saved: str, say: Say, tmp_path: Path
) -> None:
    site.store.home.root.rename(tmp_path / "aside")

    say(tmp_path / "second", "restore", saved, "--yes")

    assert "no daemon has driven" not in say(tmp_path / "second", "status")


def test_a_broken_database_of_a_successor_is_restored_in_place(
    saved: str, say: Say, tmp_path: Path
) -> None:
    moved = (tmp_path / "second").rename(tmp_path / "moved")
    drive(moved)
    Home(moved).database.write_bytes(b"broken" * 1000)

    say(moved, "restore", saved, "--yes")

    assert "no daemon has driven" not in say(moved, "status")


def test_a_third_home_is_a_copy_of_the_one_that_took_over(
    site: Site, saved: str, say: Say, tmp_path: Path
) -> None:
    second, third = tmp_path / "second", tmp_path / "third"

    restored = say(third, "restore", saved)

    assert f"to change over from `{second}`" in restored
    assert f"this home is a copy of `{second}`" in say(third, "status")
    drive(third)
    assert [successor(Home(root)) for root in (site.store.home.root, second)] == [third, third]
    say(second, "restore", saved, "--yes")
    assert f"this home is a copy of `{third}`" in say(second, "status")


def test_a_home_is_a_copy_of_the_first_one_that_was_put_to_use_again(
    site: Site, saved: str, say: Say, tmp_path: Path
) -> None:
    first = site.store.home.root
    (first / "d0ctl.successor").unlink()

    say(tmp_path / "second", "restore", saved, "--yes")

    assert f"this home is a copy of `{first}`" in say(tmp_path / "second", "status")


def test_a_first_home_that_is_restored_from_its_own_backup_is_a_copy_of_its_successor(
    site: Site, saved: str, say: Say, tmp_path: Path
) -> None:
    first, second = site.store.home.root, tmp_path / "second"
    say(second, "hold", "before")

    restored = say(first, "restore", saved, "--yes")

    assert "lacks what came later: 2 actions" in restored
    assert f"the home in use is `{second}`" in restored
    assert f"to change over from `{second}`" in restored
    assert f"the home in use is `{second}`" in say(first, "restore", saved, "--yes")
    assert f"this home is a copy of `{second}`" in say(first, "status")
    drive(first)
    assert "no daemon is running" in say(first, "status")
    assert successor(Home(second)) == first


def test_a_first_home_whose_successor_is_gone_still_asks_for_care_after_a_restore(
    site: Site, saved: str, say: Say, tmp_path: Path
) -> None:
    first, second = site.store.home.root, tmp_path / "second"
    second.rename(tmp_path / "aside")

    restored = say(first, "restore", saved, "--yes")

    assert "the home in use" not in restored
    assert f"the home in use, `{second}`, is gone" in say(first, "status")
    say(first, "restore", saved, "--yes")
    assert f"the home in use, `{second}`, is gone" in say(first, "status")


def test_a_first_home_is_compared_with_the_home_of_the_backup_if_its_successor_was_moved(
    site: Site, saved: str, say: Say, tmp_path: Path
) -> None:
    moved = (tmp_path / "second").rename(tmp_path / "moved")
    drive(moved)
    say(moved, "backup", later := str(tmp_path / "later.db"))

    restored = say(site.store.home.root, "restore", later, "--yes")

    assert f"the home in use is `{moved}`" in restored
    assert f"to change over from `{moved}`" in restored
    assert f"this home is a copy of `{moved}`" in say(site.store.home.root, "status")


def test_a_copy_without_the_key_of_the_site_takes_over_from_no_home(
    site: Site, say: Say, tmp_path: Path
) -> None:
    site.submit(job("before"))
    site.launch("before/1/1/1")  # so that no other key is made
    first, second, file = site.store.home.root, tmp_path / "second", str(tmp_path / "saved.db")
    drive(first)
    say(first, "backup", file)
    say(second, "restore", file)

    with pytest.raises(DatabaseUnavailable, match=r"site\.key` is missing"):
        driving(Home(second), None).__enter__()

    assert "taken over" not in say(first, "status")
    assert f"copy of `{first}`" in say(second, "status")


def test_nobody_is_advised_to_start_a_daemon_in_a_copy(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    site.submit(job("before"))
    moved_home.follow(site.store)
    d0ctl("backup", str(tmp_path / "saved.db"))
    copy = ("--home", str(tmp_path / "copy"))
    d0ctl(*copy, "restore", str(tmp_path / "saved.db"))

    of_package, of_daemon = d0ctl(*copy, "why", "before/1/1/1"), d0ctl(*copy, "daemon", "status")

    warning = "one would go on with its jobs, and the nodes would delete what is newer"
    for answer in (of_package.stdout, of_daemon.stdout):
        assert warning in " ".join(answer.split())
        assert "daemon start" not in answer and " run before" not in answer


def test_two_restores_in_one_second_keep_both_replaced_databases(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    saved, home = tmp_path / "saved.db", site.store.home
    d0ctl("backup", str(saved))
    site.submit(job("made-after"))
    site.store.close()

    kept = [backup.restore(home, saved, now=NOW), backup.restore(home, saved, now=NOW)]

    assert [database is not None and b"made-after" in database.read_bytes()
            for database in kept] == [True, False]  # fmt: skip


@pytest.mark.parametrize("is_lost", [False, True])
def test_doctor_has_nobody_remove_what_the_first_home_has_put_on_nodes(
    site: Site, say: Say, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_lost: bool
) -> None:
    later = Survey(attempts={7: "ended"})
    monkeypatch.setattr("d0ctl.doctor.node_files.survey", lambda *_, **__: later)
    monkeypatch.setattr("d0ctl.doctor.examine.AGAIN_S", 0.0)
    registry.add(site.store, Address("far", "ssh", "far"), cpus=2)
    site.up("far", base="/far")
    root, copy = site.store.home.root, tmp_path / "copy"
    site.up(base=f"{root}/nodes/localhost")
    drive(root)
    say(root, "backup", saved := str(tmp_path / "saved.db"))
    say(copy, "restore", saved)
    if is_lost:
        root.rename(tmp_path / "lost")

    said = say(copy, "doctor", "--nodes")

    other = f"node: far: has other attempts or files than this home records: those of `{root}`"
    assert other in said and "repaired by" not in said
    assert (f"not checked: `d0ctl --home {root} doctor` does that" in said) is not is_lost
    assert (f"; after `d0ctl --home {copy} daemon start` it is in this home" in said) is is_lost
    if not is_lost:
        repaired = f"belongs to no attempt of this site: repaired by `d0ctl --home {root} daemon"
        assert repaired in say(root, "doctor", "--nodes")
