"""How people are led to the lines that they want to restore."""

from tests.cli.conftest import Type
from tests.cli.suggestions import suggested
from tests.support.building import job, line, package, production
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


def test_restored_packages_that_would_run_out_of_memory_again_are_led_to_what_helps(
    site: Site, d0ctl: Type
) -> None:
    site.submit(job(("a", [line(package(name, memory=300_000_000)) for name in "xyz"])))
    site.fail("prod/1/1/1")
    site.fail("prod/1/2/1", reason="out-of-memory", rss=403_000_000)
    for target in ("prod/1/1", "prod/1/2"):
        d0ctl("kill-line", target, "--drop-outputs")

    alone = d0ctl("restore-line", "prod/1/2", "--dry-run").stdout
    both = d0ctl("restore-line", "prod/1/1-2").stdout

    helps = "would run out of memory or time again: `d0ctl why prod/1/2/1` says what helps"
    assert alone.splitlines()[-2:] == [
        "1 package that had failed or was canceled before the drop is so again",
        f"it {helps}",
    ]
    assert both.splitlines()[-2:] == [
        "2 packages that had failed or were canceled before the drop are so again: "
        "`d0ctl retry 'prod/1/1-2/*:failed,canceled'` runs 1 of them",
        f"1 of them {helps}",
    ]
    assert "d0ctl retry prod/1/2/1 --memory 700MB" in suggested(d0ctl, "why", "prod/1/2/1")
