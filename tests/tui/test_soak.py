"""A thousand transitions a second for a minute, and keys at random: no exception, flat memory."""

import gc
import os
import random
import subprocess
import sys
import time
from pathlib import Path

from d0ctl.store import open_store
from d0ctl.store.jobs.submission.submit import submit
from tests.bench.site import job
from tests.support.site import Site
from tests.tui.conftest import Desk, Open

SECONDS = float(os.environ.get("D0CTL_SOAK_S", "2"))
"""A minute is for `D0CTL_SOAK_S=60`; each run of the tests soaks for less."""

WARM_S = 2.0

KEYS = (
    *("j", "k", "l", "h", "g", "G", "pageup", "pagedown", "space", "n", "N", "v", "escape", "tab"),
    *("f", "enter", "F", "o", "slash", "colon", "a", "question_mark", "apostrophe", "backspace"),
    *("T", "greater_than_sign", "minus", "asterisk", "x", "1", "ctrl+o"),
)
"""Keys that look; `enter` in a plan would act, so no key opens one."""

GROWTH = 8_000_000
"""How many bytes a run may grow by, once warm: pages that are kept, the allocator's slack."""


def memory() -> int:
    """What this process takes, in bytes."""
    gc.collect()
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:"))


def test_the_dashboard_handles_a_thousand_transitions_a_second_and_any_keys(
    site: Site, dashboard: Open
) -> None:
    with open_store(site.store.home) as store:
        submit(store, job(50_000), now=time.time(), actor="me")
    root = str(site.store.home.root)
    dice = random.Random(4711)

    async def type_for(desk: Desk, seconds: float) -> None:
        began = time.monotonic()
        while time.monotonic() - began < seconds:
            key = dice.choice(KEYS)
            if type(desk.app.screen).__name__ == "PlanDialog" and key == "enter":
                key = "escape"
            await desk.press(key)
            if dice.random() < 0.02:
                await desk.hands.resize_terminal(dice.randint(30, 200), dice.randint(8, 60))

    async def script(desk: Desk) -> None:
        await type_for(desk, WARM_S)
        warm = memory()
        await type_for(desk, SECONDS)
        for _ in range(4):
            await desk.press("escape")
        assert memory() - warm < GROWTH * max(1.0, SECONDS / 30)

    writer = subprocess.Popen([sys.executable, "-m", "tests.bench.dashboard", root])
    try:
        dashboard(script, draws=True)
        assert writer.poll() is None
    finally:
        writer.terminate()
        writer.wait()
