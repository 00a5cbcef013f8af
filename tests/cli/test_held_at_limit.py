"""Packages that a policy holds since they ran out of memory: they need more before a release."""

import pytest

from tests.cli.conftest import Type
from tests.support.building import job, line, package
from tests.support.site import Site

RULES = {"out-of-memory": {"hold": True}}
USED = 303_000_000


@pytest.fixture
def site(site: Site) -> Site:
    """A site with two packages held for their memory, of a job of three."""
    lines = [line(package(name, memory=200_000_000)) for name in ("x", "y", "z")]
    site.submit(job(("a", lines), policy=RULES))
    site.launch("prod/1/3/1")
    site.end("prod/1/3/1", rss=80_000_000)
    for number, rss in ((1, USED), (2, USED + 200_000_000)):
        site.fail(f"prod/1/{number}/1", reason="out-of-memory", rss=rss,
                  detail=f"used {rss} bytes of memory, more than its request")  # fmt: skip
    return site


def commands(answer: str) -> list[str]:
    """The commands of an answer, without its `$`."""
    return [text.strip()[2:] for text in answer.splitlines() if text.strip().startswith("$ ")]


def test_such_a_package_is_given_more_memory_before_its_release(site: Site, d0ctl: Type) -> None:
    answer = d0ctl("why", "prod/1/1/1").stdout

    edit, release = "d0ctl edit prod/1/1/1 --memory 800MB", "d0ctl release prod/1/1/1"
    assert commands(answer)[:2] == [edit, release]
    assert "released as it is, it would most likely fail again" in answer
    assert "of memory (" not in answer, "it is not expected to take less than it has"
    for command in (edit, release):
        assert d0ctl(*command.split()[1:]).exit_code == 0
    assert site.phase("prod/1/1/1") == "ready"


def test_after_the_edit_only_the_release_is_left(site: Site, d0ctl: Type) -> None:
    d0ctl("edit", "prod/1/1/1", "--memory", "900MB")

    answer = d0ctl("why", "prod/1/1/1").stdout

    assert "released as it is" not in answer
    assert commands(answer)[0] == "d0ctl release prod/1/1/1"


def test_all_held_alike_are_edited_by_one_command(site: Site, d0ctl: Type) -> None:
    answer = commands(d0ctl("why", "prod").stdout)

    edit = "d0ctl edit 'prod:held' --failed-for out-of-memory --memory 800MB"
    assert answer[:2] == [edit, "d0ctl release prod:held"]
    assert d0ctl(*edit.replace("'", "").split()[1:]).stdout.startswith("edited 2 packages")


def test_a_retry_with_more_memory_names_the_edit_that_keeps_it(site: Site, d0ctl: Type) -> None:
    refused = d0ctl("retry", "prod:held", "--memory", "800MB")

    assert refused.exit_code == 4
    assert refused.stderr.splitlines()[-1] == (
        "d0ctl edit prod:held --memory 800MB && d0ctl release prod:held"
    )
