"""Failed packages whose inputs are dropped afterwards."""

from tests.cli.conftest import Type
from tests.support.building import production
from tests.support.site import Site


def test_a_package_that_failed_before_a_drop_did_not_run_without_the_dropped_files(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production(lines=2))
    for path in ("1/1/1", "1/1/2", "1/2/1", "1/2/2"):
        site.finish(f"prod/{path}")
    site.fail("prod/2/1/1")
    d0ctl("kill-line", "prod/1/2", "--drop-outputs")

    before = [d0ctl("why", "prod/2/1/1").stdout, d0ctl("status", "prod").stdout]
    d0ctl("retry", "prod/2/1/1")
    site.fail("prod/2/1/1")
    after = [d0ctl("why", "prod/2/1/1").stdout, d0ctl("status", "prod").stdout]

    short = "with 1 of 2 inputs, missing: sim-2"
    assert [f"would run {short}" in text for text in before] == [True, True], before
    assert [f"ran {short}" in text for text in after] == [True, True], after
