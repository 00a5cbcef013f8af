"""A home that was moved: its copies are found where they are now."""

import shutil

from d0ctl.config import Home
from d0ctl.doctor.examine import examine
from d0ctl.jobfile.spec import Disposition, OutputSpec
from d0ctl.show.why.file import file as why_file
from d0ctl.store import backup, open_store
from d0ctl.store.views import file_locations
from tests.support.jobs import job, simple
from tests.support.rows import value
from tests.support.site import Site


def produce(site: Site) -> None:
    """Run a job that delivers a result."""
    outputs = [OutputSpec("hits", result=True)]
    site.drive(site.submit(job("raw", [simple(site.ran("raw", "echo 7 > hits"), outputs=outputs)])))


def read(site: Site) -> None:
    """Run a job that reads it."""
    site.drive(site.submit(job("look", [simple(site.ran("look", "cat hits"), ["raw:hits"])])))


def move(site: Site) -> None:
    """Move the home to another folder."""
    root = site.home.root
    site.home = Home(root.rename(root.with_name("moved")))


def test_a_later_job_reads_the_results_of_a_home_that_was_moved(site: Site) -> None:
    produce(site)
    move(site)

    read(site)

    assert site.runs() == {"raw": 1, "look": 1}
    with open_store(site.home) as store:
        assert value(store, "location", "path") == str(site.home.result("raw", "hits"))
        assert examine(store).findings == []


def test_copies_that_came_with_the_home_by_a_copy_count_at_once(site: Site) -> None:
    kept = frozenset({Disposition.RETAIN_INDEF})
    outputs = [OutputSpec("hits", dispositions=kept)]
    site.drive(site.submit(job("raw", [simple(site.ran("raw", "echo 7 > hits"), outputs=outputs)])))
    root = site.home.root
    moved = root.with_name("copied")
    shutil.copytree(root, moved, ignore=shutil.ignore_patterns("wake"))  # a pipe
    root.rename(root.with_name("first"))
    site.home = Home(moved)

    read(site)

    assert site.runs() == {"raw": 1, "look": 1}
    with open_store(site.home) as store:
        assert examine(store).findings == []


def test_a_home_by_another_name_keeps_its_results(site: Site) -> None:
    produce(site)
    link = site.home.root.with_name("link")
    link.symlink_to(site.home.root)
    site.home = Home(link)

    read(site)

    assert site.runs() == {"raw": 1, "look": 1}


def test_doctor_and_why_say_that_a_home_was_moved(site: Site) -> None:
    produce(site)
    before = site.home.root
    move(site)

    with open_store(site.home) as store:
        (finding,) = examine(store).findings
        why = why_file(store, file_locations.in_job(store, "raw", "hits"), 0.0)

    assert (finding.check, finding.subject, finding.heals) == ("home", str(site.home.root), True)
    assert finding.detail == f"was moved from {before}, where its copies are recorded"
    assert why.commands[0] == "d0ctl daemon start"
    assert f"the home was moved from {before}, where its copies are recorded" in why.facts


def test_why_says_that_the_copies_of_a_restored_home_are_those_of_the_former_one(
    site: Site,
) -> None:
    produce(site)
    before, other = site.home, Home(site.home.root.with_name("other"))
    with open_store(before) as store:
        backup.back_up(store, other.root.with_name("saved.db"))
    backup.restore(other, other.root.with_name("saved.db"), now=0.0)

    with open_store(other) as store:
        why = why_file(store, file_locations.in_job(store, "raw", "hits"), 0.0)
    with open_store(before) as store:
        at_home = why_file(store, file_locations.in_job(store, "raw", "hits"), 0.0)

    (moved,) = set(why.facts) - set(at_home.facts)
    assert moved == (
        f"the home was copied or restored from {before.root}, where its copies are recorded; from "
        f"the next `daemon start` on they count as copies in {other.root}: bring them there first"
    )
