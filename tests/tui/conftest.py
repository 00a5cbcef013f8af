"""A dashboard on a real database, with keys pressed as a person would."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from textual._compositor import Compositor
from textual._context import visible_screen_stack
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.pilot import Pilot

from d0ctl.config import Home
from d0ctl_tui.app import Dashboard
from d0ctl_tui.screens.dialogs.plan import PLANNED, PlanDialog
from d0ctl_tui.screens.main_screen import MainScreen
from d0ctl_tui.terminal import Terminal
from d0ctl_tui.widgets.lines import LineView
from tests.support.site import Site
from tests.support.waiting import PATIENCE_S
from tests.tui.at_work import put_to_work

Hands = Pilot[None]
Script = Callable[["Desk"], Awaitable[None]]


SHARE = 4
"""A look that takes long is repeated after this many times the CPU time that it took."""


_parse_rules = Stylesheet._parse_rules
_parsed: dict[object, list[RuleSet]] = {}


def parse_once(sheet: Stylesheet, css: str, **keys: Any) -> list[RuleSet]:
    """Parse a style sheet as Textual does, unless another dashboard has: that takes 20 ms."""
    key = (css, *keys.items(), *sheet._variables.items())
    if key not in _parsed:
        _parsed[key] = _parse_rules(sheet, css, **keys)
    return _parsed[key]


Stylesheet._parse_rules = parse_once  # type: ignore[assignment]


def draw_nothing(compositor: Compositor, *_: object, **__: object) -> None:
    """Forget what has changed: what is drawn for no terminal is thrown away, and eyes see all."""
    compositor._dirty_regions.clear()


class Desk:
    """A dashboard at work, its keyboard, and eyes on what it shows."""

    def __init__(self, app: Dashboard, hands: Hands, opened: float) -> None:
        self.app = app
        self.hands = hands
        self.opened = opened
        """When it was opened: a screen that nothing changes shows times as they were since then."""

    @property
    def main(self) -> MainScreen:
        """The main screen, whatever lies over it."""
        screen = self.app.screen_stack[0]
        assert isinstance(screen, MainScreen)
        return screen

    async def press(self, *keys: str) -> None:
        """Press keys; enter only once a plan that is made is on the screen, as a reader does."""
        for key in keys:
            if key == "enter":
                await self.until(self._is_plan_seen, "the plan is seen")
            await self.hands.press(key)

    def _is_plan_seen(self) -> bool:
        box = self.app.screen
        if not isinstance(box, PlanDialog) or box.state not in ("planning", *PLANNED):
            return True
        return bool(self.screen) and box.page.was_seen(time.monotonic())  # reading it paints it

    async def type(self, text: str) -> None:
        """Press the keys of a text."""
        names = {" ": "space", "/": "slash", "-": "minus", ":": "colon", "=": "equals_sign"}
        await self.hands.press(*(names.get(letter, letter) for letter in text))

    async def until(self, condition: Callable[[], object], what: str = "") -> None:
        """Return once it is so; fail with the contents of the screen if it never is."""
        began = time.monotonic()
        while True:
            cpu = time.thread_time()
            if condition():
                return
            cpu = time.thread_time() - cpu
            waited = time.monotonic() - began
            if waited > PATIENCE_S:
                raise AssertionError(f"never: {what}\n{self.screen}")
            await asyncio.sleep(max(min(waited / 5, 0.1), 0.02, SHARE * cpu))

    async def settled(self, part: str) -> list[str]:
        """Return what a part of a drawn screen shows, once it is the same at several looks."""
        looks: list[list[str]] = []

        def is_settled() -> bool:
            looks.append(self.lines(part))
            return looks[-6:].count(looks[-1]) == 6 and self.is_drawn

        await self.until(is_settled, f"{part} has settled")
        return looks[-1]

    async def sees(self, *texts: str) -> None:
        """Return once all of this is on the screen."""
        await self.until(lambda: all(map(self.screen.__contains__, texts)), f"{texts}")

    async def misses(self, *texts: str) -> None:
        """Return once none of this is on the screen."""
        await self.until(lambda: not any(map(self.screen.__contains__, texts)), f"no {texts}")

    @property
    def screen(self) -> str:
        """The contents of the screen, by line."""
        visible_screen_stack.set(self.app._background_screens)  # else a box is drawn over black
        strips = self.app.screen._compositor.render_strips()
        return "\n".join(strip.text.rstrip() for strip in strips[: self.app.size.height])

    @property
    def is_drawn(self) -> bool:
        """Whether every screen has its size, the first its panes, and no box waits for a thread."""
        return (
            self.main._is_settled
            and all(screen._compositor.size == self.app.size for screen in self.app.screen_stack)
            and all(worker.is_finished for worker in self.app.workers)
        )

    def lines(self, id: str) -> list[str]:
        """What one part of the screen shows."""
        part = self.app.screen.query_one(f"#{id}", LineView)
        # `render_line` would record that these are on the screen
        return [part.strip_at(y).text.rstrip() for y in range(part.size.height)]


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A site at work, for the tests of a module that change nothing there."""
    site = Site(tmp_path_factory.mktemp("busy") / "site")
    try:
        put_to_work(site)
        yield site
    finally:
        site.close(kills=True)


Open = Callable[..., None]


@pytest.fixture
def dashboard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Open:
    """Run a script at a dashboard of the home, of some size, opened at some path.

    With `draws`, the dashboard draws as for a terminal, also what the script does not look at.
    """
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))

    def run(
        script: Script,
        *,
        size: tuple[int, int] = (120, 36),
        start: str | None = None,
        terminal: Terminal = Terminal(),  # noqa: B008
        home: Path | None = None,
        archive: str = "",
        draws: bool = False,
    ) -> None:
        async def main() -> None:
            opened = time.time()
            app = Dashboard(
                Home(home or tmp_path / "home", archive=archive), terminal, "emmy", start
            )
            async with app.run_test(size=size) as hands:
                await hands.pause()
                await script(Desk(app, hands, opened))

        with monkeypatch.context() as patch:
            if not draws:
                patch.setattr(Compositor, "render_update", draw_nothing)
            asyncio.run(main())

    return run
