"""The dashboard of a home that does not exist."""

from tests.support.site import Site
from tests.support.waiting import PATIENCE_S
from tests.tui.test_terminal import ALTERNATE, PROGRAM, Screen


def test_it_is_refused_as_by_other_commands(site: Site) -> None:
    screen = Screen(PROGRAM, "--home", site.store.home.root / "mistyped", "tui",
                    home=site.store.home.root)  # fmt: skip

    assert screen.program.wait(PATIENCE_S) == 5
    screen.sees(b"d0ctl: there is no home at")
    assert ALTERNATE not in screen.read()
