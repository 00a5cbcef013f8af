"""The retry that undoes a kill, before all packages have ended."""

from tests.cli.conftest import Type
from tests.support.building import production
from tests.support.site import Site


def test_a_retry_of_canceled_packages_says_how_many_are_still_being_killed(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production())
    site.launch("prod/1/1/1")
    d0ctl("kill", "prod", "--partial")

    first = d0ctl("retry", "prod:canceled").stdout
    site.fail("prod/1/2/1")
    of_failed = d0ctl("retry", "prod").stdout
    site.end("prod/1/1/1", "killed")
    again = d0ctl("retry", "prod:canceled").stdout

    assert ("1 package of `prod` is still being killed: when it has ended, "
            "`d0ctl retry 'prod:canceled'`") in first  # fmt: skip
    assert "being killed" not in of_failed + again
    assert again.startswith("retried package `prod/1/1/1`")
