"""`results --copy --force`: other files in the folder are replaced, folders never."""

import hashlib
import shlex
from pathlib import Path

import pytest

from tests.cli.conftest import Type
from tests.support.building import job, line, package
from tests.support.rows import change
from tests.support.site import Site

TEXT = b"made again"


@pytest.fixture(autouse=True)
def made(site: Site) -> None:
    """A job with a result."""
    site.submit(job(("a", [line(package("sub/one.root"))])))
    site.finish("prod/1/1/1")
    checksum = "sha256:" + hashlib.sha256(TEXT).hexdigest()
    with site.store.writing():
        change(site.store, "file", {"name": "sub/one.root"}, size=len(TEXT), checksum=checksum)
    result = site.store.home.results / "prod" / "sub" / "one.root"
    result.parent.mkdir(parents=True)
    result.write_bytes(TEXT)


@pytest.mark.parametrize("kind", ["file", "link"])
def test_a_copy_of_earlier_results_is_replaced_if_asked_for(
    d0ctl: Type, tmp_path: Path, kind: str
) -> None:
    copy = tmp_path / "sub" / "one.root"
    copy.parent.mkdir()
    other = copy if kind == "file" else tmp_path / "elsewhere"
    other.write_text("made before")
    if kind == "link":
        copy.symlink_to(other)

    refused = d0ctl("results", "prod:sub/one.root", "--copy", str(tmp_path))
    advice = refused.stderr.splitlines()[-1]
    done = d0ctl(*shlex.split(advice)[1:])

    assert "one.root`: --force replaces it" in refused.stderr
    assert advice == f"d0ctl results prod:sub/one.root --copy {tmp_path} --force"
    assert (done.exit_code, copy.read_bytes(), copy.is_symlink()) == (0, TEXT, False)
    assert kind == "file" or other.read_text() == "made before"


def test_no_folder_is_replaced_by_a_result(d0ctl: Type, tmp_path: Path) -> None:
    (tmp_path / "sub" / "one.root").mkdir(parents=True)

    result = d0ctl("results", "prod:sub/one.root", "--copy", str(tmp_path), "--force")

    assert (result.exit_code, "move it elsewhere" in result.stderr) == (1, True)
    assert d0ctl("results", "prod", "--force").exit_code == 2
