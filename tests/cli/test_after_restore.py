"""A home after a restore, whose next ids are far above the earlier ones."""

import os
import shutil
from pathlib import Path
from typing import Any

from d0ctl.model import Address
from d0ctl.store import open_store
from d0ctl.store.backup import back_up
from d0ctl.store.files import moved_home
from d0ctl.store.nodes import registry
from tests.cli.conftest import Type
from tests.support import rows
from tests.support.building import document, production
from tests.support.homes import make_home
from tests.support.site import Site
from tests.support.users import STRANGER, d0ctl_as, needs_root, open_folder


def test_failures_before_a_restore_are_compared_with_attempts_after_it(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    registry.add(site.store, Address("farm03", destination="farm03"), cpus=8)
    site.up("farm03", machine_id="m3", cpus=8)
    site.submit(production(lines=8))
    failed: dict[str, Any] = {"outcome": "failed", "reason": "seg-fault", "binary": 1}
    for number in range(1, 5):
        site.launch(f"prod/1/{number}/1", "farm03")
        site.end(f"prod/1/{number}/1", **failed)
    d0ctl("backup", saved := str(tmp_path / "saved.db"))
    site.store.close()
    d0ctl("restore", saved, "--yes")

    with open_store(site.store.home) as store:
        for number in range(5, 9):
            Site.of(store).finish(f"prod/1/{number}/1")
        assert rows.value(store, "attempt", "max(id)") > 2**40
    (blamed,) = document(d0ctl("report", "failures", "--json").stdout)["blamed"]

    assert (blamed["node"], blamed["failed"], blamed["of"]) == ("farm03", 4, 4)
    assert (blamed["others_failed"], blamed["others"]) == (0, 4)


def test_a_restore_into_another_home_says_what_came_later_in_the_first_home(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    site.submit(production("kept"))
    moved_home.follow(site.store)
    d0ctl("backup", saved := str(tmp_path / "saved.db"))
    site.submit(production("later"))
    restore = ("--home", str(tmp_path / "other"), "restore", saved, "--dry-run")

    known = d0ctl(*restore).stdout
    site.store.home.database.write_bytes(b"broken" * 1000)
    unknown = d0ctl(*restore).stdout

    assert ", and lacks what came later: 1 job with 8 packages (later) and 1 action\n" in known
    ends, newer = unknown.splitlines()[1:3]
    assert ends.endswith("; what came later is not known")
    assert newer == (
        "it is not known which packages were launched after the backup: their nodes end them at "
        "the next contact, and delete their logs and files"
    )


def test_a_restore_names_nodes_that_were_added_or_removed_after_the_backup(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    registry.add(site.store, Address("old", "ssh", "old"), cpus=2)
    d0ctl("backup", saved := str(tmp_path / "saved.db"))
    assert d0ctl("node", "remove", "old", "--yes").exit_code == 0
    registry.add(site.store, Address("new", "ssh", "new"), cpus=2)

    said = d0ctl("restore", saved, "--dry-run").stdout

    assert ", and lacks what came later: 1 node (new) and 1 action\n" in said
    assert "only the backup has 1 node: old\n" in said
    assert (
        "packages, logs and files on nodes that it lacks stay there until `d0ctl node add` adds "
        "these again\n" in said
    )


@needs_root
def test_what_came_later_is_not_known_of_a_home_that_another_user_may_not_enter() -> None:
    with open_folder() as folder:
        with open_store(make_home(folder / "home")) as store:
            moved_home.follow(store)
            back_up(store, saved := folder / "saved.db")
        saved.chmod(0o644)
        (folder / "mine").mkdir(mode=0o755)
        os.chown(folder / "mine", STRANGER, STRANGER)
        home = folder / "mine" / "home"

        planned = d0ctl_as(STRANGER, home, "restore", str(saved), "--dry-run")
        done = d0ctl_as(STRANGER, home, "restore", str(saved), "--yes")
        status = d0ctl_as(STRANGER, home, "status")

    assert (planned.returncode, planned.stderr) == (0, "")
    assert "; what came later is not known\n" in planned.stdout
    assert (done.returncode, status.returncode) == (0, 0), done.stderr + status.stderr


def test_a_restored_home_says_which_archives_were_not_copied(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    none = d0ctl("archives").stdout
    for name in ("gone", "also"):
        site.submit(production(name))
    d0ctl("kill", "*", "--yes")
    d0ctl("archive", "gone", "also", "--as", "old", "--yes")
    moved_home.follow(site.store)
    d0ctl("backup", saved := str(tmp_path / "saved.db"))
    copy, first = tmp_path / "copy", site.store.home.root
    d0ctl("--home", str(copy), "restore", saved)

    def said(*words: str) -> list[str]:
        done = d0ctl("--home", str(copy), *words)
        return [*done.stdout.splitlines(), *done.stderr.splitlines()]

    away = said("archives")
    asked = [said(word, "also") for word in ("status", "why")]
    shutil.move(first / "archive", tmp_path / "moved")
    moved = said("archives")
    shutil.copytree(tmp_path / "moved", copy / "archive")
    there = said("archives")

    lacks = f"no archives are in `{copy}/archive`, although jobs were archived"
    assert none.startswith("no archives yet")
    assert away == [
        f"{lacks}: copy them from the home of the backup",
        f"cp -pHr {first}/archive {copy}/",
    ]
    assert moved == [f"{lacks}: after a restore, copy the folder `archive` of the first home"]
    for lines in asked:
        assert (
            lines[0].startswith("d0ctl: there is no job `also` (") and " archived it at" in lines[0]
        )
        assert lines[1] == f"d0ctl --home {copy} archives"
    assert "old" in there[0] and len(there) == 1
