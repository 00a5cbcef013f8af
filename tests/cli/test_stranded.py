"""Packages and files of this machine's node, which is in the home: what a restored home lacks."""

import subprocess
from pathlib import Path

import pytest

from d0ctl.config import Home
from d0ctl.store.files import moved_home
from tests.cli.conftest import Type
from tests.support.jobs import job
from tests.support.rows import change
from tests.support.site import Site


@pytest.fixture
def saved(site: Site, d0ctl: Type, tmp_path: Path) -> str:
    """A backup of a home that runs a package, and has another one that does not."""
    moved_home.follow(site.store)
    for name in ("long", "later"):
        site.submit(job(name))
    site.launch("long/1/1/1")
    placed(site, site.store.home.nodes / "site/localhost")
    d0ctl("backup", path := str(tmp_path / "saved.db"))
    return path


def placed(site: Site, base: Path) -> None:
    """Let the node be one of this machine, with a folder."""
    change(site.store, "node", kind="local", base=str(base))


def said(root: Path) -> list[str]:
    """What is said of the package that runs."""
    return [
        f"1 package runs on this machine in the folder of `{root}`, where this home can't reach "
        "it, and would run a second time: long/1/1/1",
        "before you change over, let it end, or kill it, and make a new backup:",
        f"d0ctl --home {root} node drain localhost; d0ctl --home {root} daemon start",
    ]


def test_a_restore_names_packages_that_run_inside_the_home_in_use(
    site: Site, d0ctl: Type, saved: str, tmp_path: Path
) -> None:
    root = site.store.home.root
    other = ("--home", str(tmp_path / "other"))

    rehearsed = d0ctl(*other, "restore", saved, "--dry-run")
    restored = d0ctl(*other, "restore", saved)

    assert rehearsed.stdout.splitlines()[-3:] == said(root)
    assert restored.stderr.splitlines()[-3:] == said(root)
    assert "a second time" not in d0ctl("restore", saved, "--dry-run").stdout


def test_a_restore_advises_to_drain_only_nodes_that_are_not_drained(
    site: Site, d0ctl: Type, saved: str, tmp_path: Path
) -> None:
    root = site.store.home.root
    d0ctl("node", "drain", "localhost")

    answer = d0ctl("--home", str(tmp_path / "other"), "restore", saved, "--dry-run").stdout

    assert answer.splitlines()[-1] == f"d0ctl --home {root} daemon start"


def test_a_restore_names_packages_that_ran_in_a_home_that_is_not_there(
    site: Site, d0ctl: Type, saved: str, tmp_path: Path
) -> None:
    root = site.store.home.root
    root.rename(root.with_name("elsewhere"))

    answer = d0ctl("--home", str(tmp_path / "other"), "restore", saved, "--dry-run").stdout

    assert answer.splitlines()[-1] == (
        f"when the backup was made, 1 package ran on the machine of the home `{root}`, in its "
        "folder, and starts again here: long/1/1/1"
    )


def test_packages_outside_of_the_home_in_use_are_found_by_a_restored_one(
    site: Site, d0ctl: Type, saved: str, tmp_path: Path
) -> None:
    placed(site, tmp_path / "disk/site/localhost")

    rehearsed = d0ctl("--home", str(tmp_path / "other"), "restore", saved, "--dry-run")

    assert "a second time" not in rehearsed.stdout


def test_the_printed_commands_copy_the_folder_of_this_machines_node(
    site: Site, d0ctl: Type, saved: str, tmp_path: Path
) -> None:
    log = site.store.home.nodes / "site/localhost/attempts/1/1.out"
    log.parent.mkdir(parents=True)
    other = Home(tmp_path / "other")

    for name in ("1.out", "1.err"):  # also of a second backup
        (log.parent / name).touch()
        answer = d0ctl("--home", str(other.root), "restore", saved, "--yes").stdout
        for line in answer.splitlines():
            if line.startswith("cp "):
                subprocess.run(line, shell=True, check=True)
        assert (other.nodes / "site/localhost/attempts/1" / name).exists()
