"""A site for each test, and the promise that nothing of it stays behind."""

from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from tests.support.homes import equip_nodes, make_home
from tests.support.htcondor import Pool
from tests.support.site import Site
from tests.support.slurm import Slurm

FAILED = pytest.StashKey[bool]()
"""Whether the set-up of a test or the test itself has failed."""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Let fixtures know how the test ended."""
    report = yield
    item.stash[FAILED] = report.failed
    return report


@pytest.fixture
def newcomer(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Site]:
    """A user with d0ctl and no home yet; no process of it outlives the test."""
    site = Site(tmp_path / "site")
    try:
        yield site
    finally:
        site.close(kills=request.node.stash.get(FAILED, False))


@pytest.fixture
def site(newcomer: Site) -> Site:
    """A user whose home is as the first use makes it."""
    equip_nodes(make_home(newcomer.home.root))
    return newcomer


@pytest.fixture
def go(site: Site) -> Path:
    """The file that lets a binary end."""
    return site.folder / "go"


@pytest.fixture(params=["localhost", "farm"])
def place(request: pytest.FixtureRequest, site: Site) -> str:
    """The only node that takes packages: this machine, or one behind an sshd."""
    name: str = request.param
    if name == "farm":
        site.add("farm")
        site.alone()
    return name


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Slurm]:
    """A Slurm of two nodes, for all tests of a module."""
    with Slurm(tmp_path_factory.mktemp("slurm")) as engine:
        yield engine


@pytest.fixture
def tools(site: Site) -> Path:
    """A folder before Slurm's own tools in the PATH of the user."""
    folder = site.folder / "tools"
    folder.mkdir()
    return folder


@pytest.fixture
def batch(site: Site, engine: Slurm, tools: Path) -> Iterator[Site]:
    """A site whose packages run in allocations only."""
    site.variables = {**engine.variables, "PATH": f"{tools}:{engine.variables['PATH']}"}
    site.alone()
    yield site
    _clear(site, engine)


@pytest.fixture
def pool(tmp_path: Path) -> Pool:
    """A pool of HTCondor's stand-ins, with a queue of its own."""
    return Pool(tmp_path)


@pytest.fixture
def condor(site: Site, pool: Pool, tools: Path) -> Iterator[Site]:
    """A site whose packages run in jobs of the pool only."""
    site.variables = {"PATH": f"{tools}:{pool.variables['PATH']}"}
    site.alone()
    yield site
    _clear(site, pool)


def _clear(site: Site, queue: Slurm | Pool) -> None:
    """End all jobs, and the daemon before, which could submit more."""
    if site.daemons:
        site.d0ctl("daemon", "stop")
    queue.clear()
