"""What most tests begin with: a home of their own, and the store in it."""

import gc
import os
import re
import signal
import textwrap
from collections import Counter, defaultdict
from collections.abc import Generator, Iterator
from functools import cache
from pathlib import Path

import pytest
import typer.main
import typer.testing
from hypothesis import HealthCheck, settings

from d0ctl.config import Home
from d0ctl.store import Store, open_store
from tests.support import CACHE
from tests.support.faketime import Clock
from tests.support.homes import equip_nodes, make_home
from tests.support.running_order import share_out
from tests.support.site import Site
from tests.support.site.state import state_of

# Drawing is most of what tests of the dashboard cost, and they look less often than people.
os.environ.setdefault("TEXTUAL_FPS", "15")

# Matplotlib would write its list of fonts into the home of who runs the tests.
os.environ.setdefault("MPLCONFIGDIR", str(CACHE / "matplotlib"))

# A shell that starts the tests in the background has them ignore ctrl-C, and so what they start.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)

# How long examples take says how busy the machine is, and nothing of the code.
settings.register_profile("untimed", suppress_health_check=[HealthCheck.too_slow], deadline=None)
settings.load_profile("untimed")

# Each command that a test types would convert all of Typer's declarations anew.
typer.testing._get_command = cache(typer.main.get_command)  # type: ignore[attr-defined]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A fresh home with the node `localhost`."""
    return make_home(tmp_path / "home")


@pytest.fixture
def store(home: Home) -> Iterator[Store]:
    """The store of that home."""
    with open_store(home) as store:
        yield store


@pytest.fixture
def site(store: Store) -> Site:
    """A home with its node, and hands that move packages in it."""
    return Site.of(store)


@pytest.fixture
def real_site(tmp_path: Path) -> Iterator[Site]:
    """A site for real processes, of which none outlives the test."""
    site = Site(tmp_path / "site")
    make_home(site.home.root)
    equip_nodes(site.home)
    try:
        yield site
    finally:
        site.close(kills=True)


@pytest.fixture
def clock(tmp_path: Path) -> Iterator[Clock]:
    """A clock that jumps; name it before what starts processes, so that it outlives them."""
    with Clock(tmp_path / "clock") as clock:
        yield clock


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Look for no garbage among the tests, neither while each worker collects them nor later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add the state of the test's site to a failure: a rare one may not come again."""
    report = yield
    if report.failed and call.when == "call":
        values = getattr(item, "funcargs", {}).values()
        for site in {id(value): value for value in values if isinstance(value, Site)}.values():
            report.sections.append(("the site", state_of(site)))
    return report


@pytest.hookimpl(trylast=True)  # once those of `make long` are left out
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Give each worker its share of the tests."""
    items[:] = share_out(items, int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print which tests were not run, and how long those of each folder took over all workers."""
    for report in terminalreporter.stats.get("skipped", []):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        terminalreporter.write_line(f"not run: {report.nodeid}: {reason}")
    took: defaultdict[str, float] = defaultdict(float)
    tests: Counter[str] = Counter()
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport):
                folder = re.split("/|::", report.nodeid.removeprefix("tests/"))[0]
                took[folder] += report.duration
                tests[folder] += report.when == "setup"
    if len(took) > 1:
        rows = [
            f"{name} {took[name]:.0f} s ({tests[name]})"
            for name in sorted(took, key=took.__getitem__, reverse=True)
        ]
        line = "seconds by folder (tests), over all workers: " + ", ".join(rows)
        terminalreporter.ensure_newline()
        terminalreporter.write("\n".join(textwrap.wrap(line, 96)) + "\n")
