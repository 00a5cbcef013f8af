"""A script that is changed more than once: which version each package has read."""

import hashlib
from pathlib import Path

import pytest

from tests.e2e.test_edited import EDIT, script
from tests.support.site import Site

FIRST = "[ $1 = 2 ] && exit 3\necho old > $1.txt"
SECOND = "echo new > $1.txt"


def digest(path: Path) -> str:
    """The checksum of a file, as it is written."""
    return f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"


@pytest.fixture
def two(site: Site) -> tuple[Site, str]:
    """A job of which the first package has read another version of the script than the second, and
    the checksum of the first version.
    """
    first = digest(script(site, FIRST))
    site.submit(EDIT)
    assert site.d0ctl("run", "edit").code == 1
    script(site, SECOND)
    site.ok("retry", "edit:failed")
    site.ok("run", "edit")
    return site, first


def outdated(site: Site) -> set[str]:
    """The packages that have not read the script as it is."""
    plan = site.ok("update", "edit", "--dry-run").partition("out of date")[2]
    return {line.strip() for line in plan.splitlines() if line.startswith("  edit/1/")}


def changed(site: Site, number: int) -> bool:
    """Whether all screens say that the script has changed since so many packages read it."""
    packages = f"{number} finished package{'s' * (number > 1)} read it"
    texts = [site.ok("status", "edit"), site.ok("why", "edit"), site.d0ctl("results", "edit").err]
    return all(f"has changed since {packages}" in " ".join(text.split()) for text in texts)


def test_a_version_that_was_replaced_keeps_its_checksum(two: tuple[Site, str]) -> None:
    site, first = two
    second = digest(site.jobs / "sim.sh")

    assert f"an earlier version of `edit:{site.jobs / 'sim.sh'}`, {first}" in " ".join(
        site.ok("why", "edit:1.txt").split()
    )
    assert second in site.ok("why", "edit:2.txt")
    prov = site.ok("export", "edit", "--format", "prov")
    assert first in prov and second in prov
    site.ok("update", "edit", "--accept")
    assert first in site.ok("why", "edit:1.txt")


def test_packages_that_read_the_version_that_is_back_are_up_to_date(
    two: tuple[Site, str],
) -> None:
    site, _ = two
    assert outdated(site) == {"edit/1/1/1"} and changed(site, 1)

    script(site, FIRST)

    assert outdated(site) == {"edit/1/2/1"} and changed(site, 1)
    assert "has changed since" not in site.ok("why", "edit/1/1/1")
    assert "has changed since" in site.ok("why", "edit/1/2/1")
    script(site, "echo newest > $1.txt")
    assert outdated(site) == {"edit/1/1/1", "edit/1/2/1"} and changed(site, 2)
    script(site, SECOND)
    assert outdated(site) == {"edit/1/1/1"}
    site.ok("update", "edit", "--again")
    site.ok("run", "edit")
    assert site.result("edit/all.txt") == "new\nnew\n"
    assert outdated(site) == set() and "has changed since" not in site.ok("status", "edit")
