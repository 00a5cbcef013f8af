"""What `serve` refuses before it listens."""

import pytest

from tests.cli.conftest import Type
from tests.support.site import Site


@pytest.mark.parametrize("port", ["-1", "65536"])
def test_a_port_out_of_range_is_refused(site: Site, d0ctl: Type, port: str) -> None:
    refused = d0ctl("serve", "--port", port)

    assert refused.exit_code == 2
    assert f"`--port`: {port} is " in refused.stderr
