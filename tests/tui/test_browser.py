"""`d0ctl tui --web` in a headless Chromium: it shows what a terminal shows, to one browser."""

import asyncio
import os
import re
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pyte
import pytest

from tests.support import Missing
from tests.support.browser import Page, browser, program
from tests.support.building import production
from tests.support.live import PROGRAM, LiveTerminal
from tests.support.site import Site
from tests.support.waiting import Pid, wait_until

LINK = re.compile(r"open (http://127\.0\.0\.1:\d+/\?token=\S+)")


class Served(NamedTuple):
    """A server, and its link."""

    process: "subprocess.Popen[bytes]"
    link: str


Serve = Callable[..., Served]


@pytest.fixture
def serve(site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Serve]:
    """Start servers for browsers."""
    monkeypatch.setenv("D0CTL_HOME", str(site.store.home.root))
    started: list[subprocess.Popen[bytes]] = []

    def start(*words: str) -> Served:
        said = tmp_path / f"said-{len(started)}"
        with said.open("wb") as file:
            started.append(subprocess.Popen([PROGRAM, "tui", "--web", *words], stdout=file,
                                            stderr=subprocess.STDOUT))  # fmt: skip
        wait_until(lambda: LINK.search(said.read_text()), what="the link")
        found = LINK.search(said.read_text())
        assert found
        return Served(started[-1], found[1])

    yield start
    for one in started:
        one.send_signal(signal.SIGINT)
        assert one.wait(60) in (0, -signal.SIGKILL)


@pytest.fixture
def visit(tmp_path: Path) -> Callable[[Callable[[Page], Awaitable[None]]], None]:
    """Run a script at a page of a new browser."""
    try:
        program()
    except Missing as error:
        pytest.skip(str(error))

    def run(script: Callable[[Page], Awaitable[None]]) -> None:
        async def main() -> None:
            async with browser(tmp_path / "profile") as page:
                await script(page)

        asyncio.run(main())

    return run


Visit = Callable[[Callable[[Page], Awaitable[None]]], None]


@contextmanager
def terminal(columns: int, rows: int, *words: str) -> Iterator[Callable[[], list[str]]]:
    """Open the dashboard in a terminal of this size; what it shows at a call."""
    board = LiveTerminal("tui", *words, columns=columns, rows=rows)
    screen = pyte.Screen(columns, rows)

    def look() -> list[str]:
        screen.reset()
        pyte.Stream(screen).feed(board.raw)
        return [row.rstrip() for row in screen.display]

    try:
        yield look
    finally:
        board.process.kill()
        board.process.wait()
        os.close(board.descriptor)


async def shows_the_same(page: Page) -> bool:
    """Return once the page shows what a terminal of its size shows, or has another size."""
    columns, rows = await page.run("[board.terminal.cols, board.terminal.rows]")
    with terminal(columns, rows, "--read-only", "prod/1/2/1") as look:
        seen: list[list[str]] = []

        def is_over(shown: str) -> bool:
            seen[:] = [shown.splitlines(), look()]
            return seen[0] == seen[1] or len(seen[0]) != rows

        await page.until(is_over, "both show the same")
        return seen[0] == seen[1]


def test_the_browser_shows_what_a_terminal_shows_and_takes_keys(
    site: Site, serve: Serve, visit: Visit
) -> None:
    site.submit(production())  # nothing has ended: rates of the last minutes would move
    link = serve("prod/1/2/1").link

    async def script(page: Page) -> None:
        await page.open(link)
        await page.sees("read-only", "is ready, and no daemon")
        while not await shows_the_same(page):
            pass  # the page had not its final size yet
        await page.type("g")
        await page.sees("prod  A production")
        await page.type("o")
        await page.sees("localhost  this machine")
        await page.type("q")
        await page.until(lambda shown: "this machine" not in shown, "back")
        await page.type("q")
        await page.until_true("document.body.classList.contains('-closed')")

    visit(script)


def test_a_browser_changes_nothing_unless_it_is_allowed_to(
    site: Site, serve: Serve, visit: Visit
) -> None:
    site.submit(production())
    link, allowed = serve("prod").link, serve("--allow-actions", "prod").link

    async def script(page: Page) -> None:
        await page.open(link)
        await page.sees("read-only", "prod  A production")
        await page.type("K")
        await page.sees("would kill", "read-only: nothing is changed from here")
        await page.type("\r")
        await page.until(lambda shown: "would kill" not in shown, "it is closed")
        assert set(site.phases().values()) == {"ready", "waiting"}
        await page.open(allowed)
        await page.until(lambda shown: "prod  A production" in shown and "read-only" not in shown,
                         "the other one")  # fmt: skip
        await page.type("K")
        await page.sees("would kill", "do it")
        await page.type("broken magnet\r")
        await page.sees("killed")
        assert set(site.phases().values()) == {"canceled"}

    visit(script)


def answer(link: str, **headers: str) -> tuple[int, str]:
    """What a program without cookies gets."""
    try:
        with urlopen(Request(link, headers=headers), timeout=60) as response:
            return response.status, response.read().decode()
    except HTTPError as error:
        return error.code, error.read().decode()


def test_a_link_is_for_the_browser_that_opens_it_first(
    site: Site, serve: Serve, visit: Visit
) -> None:
    site.submit(production())
    link = serve("prod").link
    server = link.partition("?")[0]

    assert answer(server)[0] == 403
    assert answer(f"{server}static/js/textual.js")[0] == 403
    assert answer(f"{server}ws")[0] == 403
    assert answer(f"{server}?token=wrong")[0] == 403
    assert answer(link, Host="d0ctl.example")[0] == 403
    assert answer(link, Origin="http://d0ctl.example")[0] == 403

    async def script(page: Page) -> None:
        await page.open(link)
        await page.sees("prod  A production")
        assert answer(link) == (
            403,
            "this link is not valid, or it was used before: start `d0ctl tui --web` again\n",
        )
        await page.open(link)
        await page.sees("prod  A production")
        assert await page.run("location.search") == ""
        assert await page.run("document.cookie") == ""

    visit(script)


def test_its_dashboards_end_with_the_server_however_that_ends(
    site: Site, serve: Serve, visit: Visit
) -> None:
    site.submit(production())
    process, link = serve("prod")

    async def script(page: Page) -> None:
        await page.open(link)
        await page.sees("prod  A production")
        [board] = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        process.kill()
        await page.until_true("document.body.classList.contains('-closed')")
        await page.until_true("document.body.innerText.includes('type d0ctl tui --web again')")
        assert "Open it again" not in await page.run("document.body.innerText")
        wait_until(lambda: Pid.of(int(board)) is None, what="the dashboard has ended")

    visit(script)


def test_a_dashboard_that_was_left_is_opened_again(site: Site, serve: Serve, visit: Visit) -> None:
    site.submit(production())
    link = serve("prod").link

    async def script(page: Page) -> None:
        await page.open(link)
        await page.sees("prod  A production")
        await page.type("q")
        await page.until_true("document.body.innerText.includes('Open it again')")
        assert "--web again" not in await page.run("document.body.innerText")
        await page.run("document.querySelector('.closed a').click()")
        await page.sees("prod  A production")

    visit(script)


def refusal(*words: str) -> tuple[int, str]:
    """What a command says that starts no server."""
    done = subprocess.run(words, text=True, capture_output=True, timeout=60)
    return done.returncode, done.stderr


def test_options_of_the_browser_are_refused_without_it(site: Site) -> None:
    code, said = refusal(str(PROGRAM), "tui", "--allow-actions")

    assert code == 2
    assert "--port and --allow-actions belong to --web" in said


def test_without_its_extra_it_says_what_to_install(site: Site) -> None:
    hidden = "import sys; sys.modules['textual_serve'] = None; from d0ctl.cli import main; main()"
    code, said = refusal(sys.executable, "-c", hidden, "tui", "--web")

    assert code == 4
    assert "what `--web` needs is not installed" in said and "pip install 'd0ctl[web]'" in said
