"""What tests of connections share."""

from pathlib import Path

import pytest

from d0ctl.errors import NodeUnreachable
from d0ctl.nodes.transports.connect import connect
from d0ctl.nodes.transports.transport import Address
from tests.nodes.conftest import one_plain_line

SSH = pytest.mark.parametrize("via", ["fabric", "openssh"])


def home_of(address: Address, known_hosts: Path) -> str:
    """Connect, ask for the home directory, and part."""
    node = connect(address, known_hosts, connect_timeout=10, io_timeout=10)
    try:
        return node.home()
    finally:
        node.close()


def failure_of(address: Address, known_hosts: Path, timeout: float = 10) -> NodeUnreachable:
    """What connecting says when it fails."""
    with pytest.raises(NodeUnreachable) as failure:
        connect(address, known_hosts, connect_timeout=timeout, io_timeout=timeout)
    assert one_plain_line(str(failure.value))
    return failure.value
