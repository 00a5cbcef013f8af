"""The dashboard of a home that does not exist, or that is not the latest of its site."""

from pathlib import Path

from d0ctl.store.files import moved_home
from d0ctl.store.nodes.site import SUCCESSOR
from tests.cli.conftest import type_in
from tests.support.jobs import job
from tests.support.site import Site
from tests.support.waiting import PATIENCE_S
from tests.tui.conftest import Desk, Open
from tests.tui.test_terminal import ALTERNATE, PROGRAM, Screen


def test_it_is_refused_as_by_other_commands(site: Site) -> None:
    screen = Screen(PROGRAM, "--home", site.store.home.root / "mistyped", "tui",
                    home=site.store.home.root)  # fmt: skip

    assert screen.program.wait(PATIENCE_S) == 5
    screen.sees(b"d0ctl: there is no home at")
    assert ALTERNATE not in screen.read()


def test_the_header_says_that_a_home_is_a_copy_or_that_another_has_taken_over(
    site: Site, dashboard: Open, tmp_path: Path
) -> None:
    site.submit(job("before"))
    moved_home.follow(site.store)
    home = str(site.store.home.root)
    saved, copy = str(tmp_path / "saved.db"), str(tmp_path / "copy")
    assert type_in("--home", home, "backup", saved).exit_code == 0
    assert type_in("--home", copy, "restore", saved).exit_code == 0

    async def of_copy(desk: Desk) -> None:
        await desk.sees("a copied home: d0ctl status")

    dashboard(of_copy, home=Path(copy))
    (site.store.home.root / SUCCESSOR).write_text(copy)

    async def of_old(desk: Desk) -> None:
        await desk.sees("an old home: d0ctl status")

    dashboard(of_old)
