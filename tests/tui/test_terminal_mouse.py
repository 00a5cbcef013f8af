"""A real terminal: its size, and its mouse, whose events do not say which part of the screen they
are on."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pyte
import pytest

from tests.support.building import production
from tests.support.site import Site
from tests.support.waiting import PATIENCE_S, wait_until
from tests.tui.test_terminal import PROGRAM, Screen

COLUMNS, ROWS, ROW = 120, 36, 5


def shown(screen: Screen) -> list[str]:
    """The rows that the terminal shows."""
    picture = pyte.Screen(COLUMNS, ROWS)
    pyte.ByteStream(picture).feed(screen.read())
    return list(picture.display)


def edge(screen: Screen) -> int:
    """The column of the line between tree and details; -1 if there is none."""
    return next((at for at, sign in enumerate(shown(screen)[ROW]) if sign in "│|"), -1)


@pytest.fixture
def screen(site: Site) -> Iterator[Screen]:
    """A dashboard on a terminal, with a job."""
    site.submit(production())
    screen = Screen(PROGRAM, "tui", home=Path(site.store.home.root), size=(ROWS, COLUMNS))
    try:
        wait_until(lambda: edge(screen) > 0, what="the line between tree and details")
        wait_until(lambda: "q quit" in shown(screen)[-1], what="the keys")
        yield screen
    finally:
        screen.program.kill()
        screen.program.wait()


def mouse(*events: tuple[int, int, int, str]) -> bytes:
    """Buttons, columns, rows and ends of events, as a terminal sends them."""
    return b"".join(f"\x1b[<{button};{column + 1};{row + 1}{end}".encode()
                    for button, column, row, end in events)  # fmt: skip


def test_the_line_between_tree_and_details_is_dragged(screen: Screen) -> None:
    at = edge(screen)
    screen.type(mouse((0, at, ROW, "M")))

    def follows() -> bool:
        """Move the mouse on; a hand is slower than the dashboard."""
        screen.type(mouse((32, at - 10, ROW, "M"), (32, 50, ROW, "M")))
        return edge(screen) == 50

    wait_until(follows, what="it is where the mouse is")


def test_a_click_on_that_line_makes_the_details_wider(screen: Screen) -> None:
    at = edge(screen)

    screen.type(mouse((0, at, ROW, "M"), (0, at, ROW, "m")))

    wait_until(lambda: edge(screen) == 48, what="wider details")


def test_a_click_on_a_key_does_what_the_key_does(screen: Screen) -> None:
    column = shown(screen)[-1].index("o nodes")

    screen.type(mouse((0, column, ROWS - 1, "M"), (0, column, ROWS - 1, "m")))

    wait_until(lambda: "why it takes no more" in shown(screen)[1], what="the nodes")


def test_a_program_sees_the_size_of_its_own_terminal(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("LINES", "60")
    words = "import shutil; print(shutil.get_terminal_size())"

    screen = Screen(sys.executable, "-c", words, home=Path(site.store.home.root), size=(40, 120))

    screen.sees(b"columns=120, lines=40")
    screen.program.wait(PATIENCE_S)
    os.close(screen.ours)
