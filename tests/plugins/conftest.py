"""The example package, installed by pip, and packages with plug-ins that fail."""

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.homes import equip_nodes, make_home
from tests.support.site import Site

EXAMPLE = Path(__file__).parent / "example"

Add = Callable[..., None]


@pytest.fixture(scope="session")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which pip has installed the example package."""
    source = tmp_path_factory.mktemp("source") / "example"
    shutil.copytree(EXAMPLE, source)
    folder = tmp_path_factory.mktemp("installed")
    words = ["--no-deps", "--no-build-isolation", "--no-index", "--target", str(folder)]
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", *words, str(source)], check=True
    )
    return folder


@pytest.fixture
def bare_site(tmp_path: Path) -> Iterator[Site]:
    """A user of d0ctl without plug-ins; no process outlives the test."""
    site = Site(tmp_path / "site")
    equip_nodes(make_home(site.home.root))
    try:
        yield site
    finally:
        site.close()


@pytest.fixture
def use(monkeypatch: pytest.MonkeyPatch) -> Callable[[Path], None]:
    """Makes packages in a folder importable, here and for the processes that are started."""

    def use(folder: Path) -> None:
        monkeypatch.syspath_prepend(str(folder))
        monkeypatch.setenv("PYTHONPATH", str(folder))

    return use


@pytest.fixture
def site(bare_site: Site, installed: Path, use: Callable[[Path], None]) -> Site:
    """A user with the example package."""
    use(installed)
    return bare_site


@pytest.fixture
def add(tmp_path: Path, use: Callable[[Path], None]) -> Add:
    """Installs a package `broken` with a plug-in, as pip would leave it."""

    def add(kind: str, name: str, code: str, package: str = "broken") -> None:
        folder = tmp_path / package
        info = folder / f"{package}-1.0.dist-info"
        info.mkdir(parents=True)
        module = f"{package}_{tmp_path.name}"
        (folder / f"{module}.py").write_text(code)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[d0ctl.{kind}s]\n{name} = {module}:it\n")
        use(folder)

    return add
