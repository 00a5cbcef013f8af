"""Site files in a folder of their own, with an archive beside them."""

from collections.abc import Callable
from pathlib import Path

import pytest

from d0ctl.errors import BadJobFile
from d0ctl.sitefile.reader import read
from d0ctl.sitefile.spec import Site
from tests.support.archives import RECO, packed
from tests.support.validation import refusals

Read = Callable[[str], Site]
Faults = Callable[[str], list[str]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the archive of a small program."""
    packed(tmp_path / "reco.tar.gz", RECO)
    return tmp_path


@pytest.fixture
def site(folder: Path) -> Read:
    """Reads a site file made of a text, which an editor then has to accept as well."""

    def make(text: str) -> Site:
        path = folder / "site.yaml"
        path.write_text(text)
        found = read(path)
        assert refusals("site", text) == []
        return found

    return make


@pytest.fixture
def faults(site: Read, folder: Path) -> Faults:
    """Reads a site file that has faults, and returns these without the folder's path."""

    def make(text: str) -> list[str]:
        with pytest.raises(BadJobFile) as caught:
            site(text)
        return [fault.removeprefix(f"{folder}/site.yaml:") for fault in caught.value.faults]

    return make
