"""The wrapper on its way to a node."""

import tempfile
from contextlib import closing
from pathlib import Path

import pytest

from d0ctl.nodes import link, ship
from d0ctl.nodes.link import Site, open_link
from d0ctl.nodes.transports.local import LocalTransport
from d0ctl.nodes.transports.transport import Address


def test_while_the_wrapper_is_copied_no_file_of_it_is_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = tmp_path / "tmp"
    here.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(here))
    seen: list[list[Path]] = []

    class Watched(LocalTransport):
        """This machine, and what its temporary folder has during a copy."""

        def put(self, source: Path, target: str) -> None:
            super().put(source, target)
            seen.append(list(here.iterdir()))

    monkeypatch.setattr(link, "LocalTransport", Watched)
    site = Site("site", tmp_path / "nodes", tmp_path, tmp_path)

    open_link(Address("n1", "local"), site, visit=True).close()

    assert seen == [[]]
    (shipped,) = (tmp_path / "nodes").glob("site/n1/bin/*")
    assert shipped.read_bytes() == ship.archive()


def test_the_folder_of_a_node_may_be_named_with_two_dots(tmp_path: Path) -> None:
    (tmp_path / "away").mkdir()
    site = Site("site", tmp_path / "nodes", tmp_path, tmp_path)
    address = Address("n1", "local", directory=f"{tmp_path}/away/../here")

    with closing(open_link(address, site)) as node:
        node.send({"kind": "hash", "id": 1, "path": f"{node.base}/lock"})
        answer = next(frame for frame in node.frames() if frame["kind"] == "hashed")

    assert "is not inside" not in answer["message"]
    assert (tmp_path / "here/site/n1").is_dir()


def test_a_copy_of_the_wrapper_that_can_not_be_renamed_is_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "programs"
    path.mkdir()
    (path / "rm").symlink_to("/bin/rm")
    monkeypatch.setenv("PATH", str(path))
    site = Site("site", tmp_path / "nodes", tmp_path, tmp_path)

    with pytest.raises(ship.CannotKeep, match="mv"):
        open_link(Address("n1", "local"), site)

    assert [*(tmp_path / "nodes").glob("site/n1/bin/*")] == []
