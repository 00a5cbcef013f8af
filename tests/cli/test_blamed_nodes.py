"""What `why` says of packages that ran again since their node might have been the cause."""

import pytest

from tests.cli.conftest import Type
from tests.cli.test_bad_nodes import burning as burning
from tests.cli.test_bad_nodes import fail_on_hole
from tests.support.site import Site

BLAMED = "attempt 1 failed for the same reason on `hole`: the node might be the cause"


@pytest.mark.parametrize("node", ["localhost", "hole"])
def test_a_package_is_said_to_have_run_elsewhere_only_if_it_did(
    burning: Site, d0ctl: Type, node: str
) -> None:
    if node == "hole":
        d0ctl("node", "resume", "hole")
        fail_on_hole(burning, "prod/1/8/1")
    else:
        burning.fail("prod/1/8/1")

    assert (BLAMED in d0ctl("why", "prod/1/8/1").stdout) is (node == "localhost")
