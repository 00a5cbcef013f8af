"""A node that the daemon of another home drives."""

from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from d0ctl.errors import NodeUnreachable
from d0ctl.nodes.link import Site, open_link
from d0ctl.nodes.transports.transport import Address


def test_a_node_that_another_daemon_drives_is_unreachable(tmp_path: Path) -> None:
    address = Address("n1", "local", directory=str(tmp_path / "node"))
    first = Site("site", tmp_path, tmp_path, tmp_path, driver="desk /home/emmy")
    second = msgspec.structs.replace(first, driver="lab /home/emmy")

    with closing(open_link(address, first, aside=True)):
        with pytest.raises(NodeUnreachable) as refusal:
            open_link(address, second, aside=True)

    assert str(refusal.value) == "another daemon of this site drives it: desk /home/emmy"


def test_a_node_that_a_home_restored_later_has_driven_is_unreachable(tmp_path: Path) -> None:
    address = Address("n1", "local", directory=str(tmp_path / "node"))
    first = Site("site", tmp_path, tmp_path, tmp_path, driver="desk /home/emmy")
    second = msgspec.structs.replace(first, driver="lab /home/emmy", restored=1.0)
    open_link(address, second, aside=True).close()

    with pytest.raises(NodeUnreachable) as refusal:
        open_link(address, first, aside=True)

    assert str(refusal.value) == (
        "a home of this site that was restored later has driven it since: lab /home/emmy"
    )
