"""`status SELECTOR --check` and `status --check` follow the same rules."""

import re
import time
from collections.abc import Callable

import pytest

from d0ctl.store.nodes import contact, leases, placement, registry
from tests.cli.conftest import Type
from tests.cli.test_standing import await_far
from tests.support.building import job, line, package, production
from tests.support.site import Site

Make = Callable[[Site, Type], object]

NO_DAEMON = "no daemon is running, so nothing new starts"


def drive(site: Site) -> None:
    """A daemon lives."""
    with site.store.writing():
        leases.take_lease(site.store, "daemon", now=time.time())


def cools(site: Site, *lines: int) -> Site:
    """Packages of a job failed in a way that is tried again."""
    for seq in lines:
        site.fail(f"prod/1/{seq}/1", reason="stage-in", detail="no such file: raw.dat")
    return site


def two(site: Site, **more: object) -> Site:
    """A job of two packages."""
    site.submit(job(("a", [line(package("x")), line(package("y", **more))])))  # type: ignore[arg-type]
    return site


def held_after_failure(site: Site, d0ctl: Type) -> None:
    """A person holds a job of which a package has failed."""
    two(site)
    site.fail("prod/1/1/1")
    d0ctl("hold", "prod")


def killed(site: Site, d0ctl: Type) -> None:
    """A person killed a package, and the rest is done."""
    two(site)
    site.finish("prod/1/1/1")
    d0ctl("kill", "prod/1/2/1", "--yes")
    placement.end_jobs(site.store, now=time.time())


def waits(site: Site, d0ctl: Type) -> None:
    """A job waits for a file of another one, which runs."""
    site.submit(job(("a", [line(package("x"))]), name="raw"))
    site.submit(job(("a", [line(package("y", needs=["raw:x"]))])))
    site.launch("raw/1/1/1")


DRIVEN: dict[str, tuple[Make, int, str]] = {
    "held": (lambda site, d0ctl: two(site) and d0ctl("hold", "prod"), 0, "is held: 0 of 2 "),
    "paused": (lambda site, d0ctl: two(site) and d0ctl("pause", "prod"), 0, "is paused: 0 of 2 "),
    "held, failed": (held_after_failure, 1, "is held: 0 of 2 packages done, 1 failed"),
    "packages held": (
        lambda site, d0ctl: two(site) and d0ctl("hold", "prod/*", "--yes"), 1,
        "is held and stands still: 0 of 2 packages done; 2 packages are held",
    ),
    "cools off": (
        lambda site, d0ctl: cools(two(site), 1, 2), 1,
        r"is submitted and stands still: 0 of 2 packages done; nothing moves until .+, the next "
        r"try of `prod/1/1/1` \(1 of 10\), after stage-in: no such file: raw.dat; 1 more package",
    ),
    "one cools off": (lambda site, d0ctl: cools(two(site), 1), 0, "is submitted: 0 of 2 "),
    "impossible": (
        lambda site, d0ctl: two(site, cpus=64).finish("prod/1/1/1"), 5,
        "is submitted and stands still: 1 of 2 packages done; no node can take 1 package: "
        "`localhost`: 4 CPUs, needs 64",
    ),
    "partly impossible": (
        lambda site, d0ctl: two(site, cpus=64), 1,
        "is submitted: 0 of 2 packages done; no node can take 1 package: ",
    ),
    "killed": (killed, 0, "is canceled: 1 of 2 packages done$"),
    "waits": (waits, 0, "is submitted: 0 of 1 package done$"),
}  # fmt: skip


@pytest.mark.parametrize(("make", "code", "text"), DRIVEN.values(), ids=DRIVEN)
def test_a_job_alone_on_a_site_has_the_code_of_the_site(
    site: Site, d0ctl: Type, make: Make, code: int, text: str
) -> None:
    drive(site)
    site.up()
    make(site, d0ctl)

    whole, own, stage = (d0ctl("status", *words, "-q") for words in ([], ["prod"], ["prod/1"]))

    assert (whole.exit_code, own.exit_code, stage.exit_code) == (code, code, code)
    assert re.match(f"`prod` {text}", own.stdout)
    assert re.match(f"`prod/1` {text}", stage.stdout)


@pytest.mark.parametrize(
    "make", [DRIVEN[name][0] for name in ("held", "paused", "cools off", "impossible", "waits")]
)
def test_a_job_without_a_daemon_stands_still_and_names_that(
    site: Site, d0ctl: Type, make: Make
) -> None:
    site.up()
    make(site, d0ctl)

    whole, own, stage = (d0ctl("status", *words, "-q") for words in ([], ["prod"], ["prod/1"]))

    assert (whole.exit_code, own.exit_code, stage.exit_code) == (5, 5, 5)
    assert all(NO_DAEMON in result.stdout for result in (whole, own, stage))


def test_packages_that_run_on_without_a_daemon_do_not_stand_still(site: Site, d0ctl: Type) -> None:
    site.submit(production(lines=1))
    site.launch("prod/1/1/1")

    result = d0ctl("status", "prod", "-q")

    assert result.exit_code == 5
    assert result.stdout == f"`prod` is running: 0 of 4 packages done; {NO_DAEMON}\n"


def test_a_part_that_has_ended_needs_no_daemon(site: Site, d0ctl: Type) -> None:
    two(site)
    site.finish("prod/1/1/1")

    assert d0ctl("status", "prod", "-q").exit_code == 5
    assert d0ctl("status", "prod/1/1", "-q").exit_code == 0


def test_a_part_names_its_own_next_try_while_the_rest_moves(site: Site, d0ctl: Type) -> None:
    drive(site)
    site.up()
    site.submit(job(("a", [line(package("x")), line(package("y"))]), ("b", [line(package("z"))])))
    cools(site, 1, 2)

    stage, part = d0ctl("status", "prod/1", "-q"), d0ctl("status", "prod/1/2", "-q")

    assert [stage.exit_code, part.exit_code] == [1, 1]
    assert "the next try of `prod/1/1/1` (1 of 10), after stage-in" in stage.stdout
    assert "the next try of `prod/1/2/1` (1 of 10), after stage-in" in part.stdout
    assert d0ctl("status", "prod", "-q").exit_code == d0ctl("status", "prod/2", "-q").exit_code == 0


def test_a_job_that_stands_still_alone_counts_so_although_others_move(
    site: Site, d0ctl: Type
) -> None:
    drive(site)
    site.up()
    site.submit(production("moves"))
    site.submit(job(("a", [line(package("x", cpus=64))]), name="stuck"))

    codes = [d0ctl("status", *words, "-q").exit_code for words in ([], ["stuck"], ["moves"], ["*"])]

    assert codes == [1, 5, 0, 5]


def test_packages_that_a_silent_node_has_are_named_with_it(site: Site, d0ctl: Type) -> None:
    two(site)
    drive(site)
    site.finish("prod/1/1/1")
    site.launch("prod/1/2/1")
    with site.store.writing():
        contact.down(site.store, registry.named(site.store, "localhost").id, "silent",
                     now=time.time())  # fmt: skip

    said = d0ctl("status", "prod", "-q").stdout

    assert said.startswith("`prod` is unreachable and stands still: 1 of 2 packages done")
    assert "; 1 unreachable (`localhost` down), which may run elsewhere from " in said


def test_a_job_whose_packages_only_wait_for_files_of_a_node_that_is_down_names_it(
    site: Site, d0ctl: Type
) -> None:
    await_far(site)
    for path in ("prod/3/1/1", "prod/3/2/1"):
        assert "far" not in d0ctl("status", "prod", "-q").stdout
        site.launch(path)
        site.end(path)

    said = d0ctl("status", "prod", "-q")

    assert "; some of its packages or inputs are on `far`, which is down\n" in said.stdout
    assert said.exit_code == 0


def test_a_part_that_waits_names_what_stops_its_job_as_that_of_its_job(
    site: Site, d0ctl: Type
) -> None:
    drive(site)
    site.up(cpus=1)
    big = ("a", [line(package("x", cpus=64))])
    site.submit(job(big, ("b", [line(package("y", takes=["x"]))])))

    first, second = (d0ctl("status", part, "--check").stdout for part in ("prod/1", "prod/2"))

    assert "; its job: no node can take 1 package: " in second
    assert "no node can take 1 package: " in first and "its job" not in first


def test_held_packages_of_a_job_that_goes_on_are_named(site: Site, d0ctl: Type) -> None:
    drive(site)
    site.up()
    site.submit(production(lines=2))
    d0ctl("hold", "prod/1/2/1")

    beside = [d0ctl("status", *words, "-q") for words in ((), ("prod",), ("prod/1/1",))]
    d0ctl("hold", "prod/1/1/1")
    alone = [d0ctl("status", *words, "-q").stdout for words in ((), ("prod",))]

    assert [answer.exit_code for answer in beside] == [0, 0, 0]
    assert beside[0].stdout == "moving: 1 job; 1 held package in `prod`\n"
    assert "0 of 6 packages done, 1 held" in beside[1].stdout
    assert "held" not in beside[2].stdout
    assert all("2 packages are held" in said and "2 held" not in said for said in alone)
