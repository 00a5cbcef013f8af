"""How people are led to the lines that they want to restore."""

from tests.cli.conftest import Type
from tests.support.building import production
from tests.support.site import Site


def test_a_retry_of_a_dropped_package_is_led_to_a_restore_that_is_not_refused(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production(lines=2))
    for path in ("prod/1/1/1", "prod/1/1/2"):
        site.finish(path)
    site.fail("prod/1/2/1")
    d0ctl("kill-line", "prod/1/2", "--drop-outputs")
    site.finish("prod/2/1/1")

    hint = d0ctl("retry", "prod/1/2/1").stderr.splitlines()[1]

    assert hint == "d0ctl restore-line prod/1/2 --again"
    assert d0ctl(*hint.split()[1:]).exit_code == 0


def test_a_stage_or_job_to_restore_is_led_to_its_lines(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    d0ctl("kill-line", "prod/1/1-2", "--drop-outputs")

    hints = [d0ctl("restore-line", target).stderr.splitlines()[1] for target in ("prod/1", "prod")]

    assert hints == ["d0ctl restore-line 'prod/1/*'", "d0ctl restore-line 'prod/*/*'"]
    assert d0ctl("restore-line", "prod/*/*").exit_code == 0
    assert "a line reads" in d0ctl("kill-line", "prod/1").stderr
