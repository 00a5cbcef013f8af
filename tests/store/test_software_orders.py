"""Orders about software: pushed, verified and purged on nodes."""

import json
import time

import pytest
from msgspec.structs import replace

from d0ctl.jobfile.spec import PackageSpec
from d0ctl.show.cards.software import removed, state_there
from d0ctl.store import Store
from d0ctl.store.clusters import cluster_views, software_places
from d0ctl.store.nodes import registry, software
from d0ctl.store.nodes.catalogue import Catalogue
from tests.store.catalogue import CHECKSUM, entry, keep, node, reco
from tests.support import rows
from tests.support.building import job, line, package
from tests.support.jobs import NOW
from tests.support.rows import change
from tests.support.site import Site

pytestmark = pytest.mark.usefixtures("drained_localhost")


def ask(store: Store, verb: str, node: int, title: str = "reco/v1") -> int:
    """Ask a node to do something with reco."""
    with store.writing():
        row = registry.by_id(store, node)
        found = Catalogue(store).entry(title, None)
        assert row is not None and found is not None
        return software.ask(store, verb, row, dict(found), actor="me", now=NOW)


def answer(
    store: Store, node: int, number: object, ok: bool = True, fault: str = "one", now: float = NOW
) -> None:
    """Let a node answer an order."""
    frame = {"id": number, "ok": ok, "message": "said", "faults": [fault]}
    with store.writing():
        software.end_order(store, node, frame, now=now)


def test_a_push_waits_for_its_archive_and_a_check_does_not(store: Store) -> None:
    here = node(store, "a")
    keep(store, entry(archive="/x.tar", checksum=CHECKSUM))
    push, verify = ask(store, "push", here), ask(store, "verify", here)

    first, second = software.open_orders(store, here)
    frame = software.frame_of(second)
    assert software.frame_of(first) is None
    assert frame is not None and (frame["id"], frame["verb"]) == (str(verify), "verify")
    assert len(software.archives_wanted(store, here, now=NOW)) == 1
    with store.writing():
        software.arrive(store, here, CHECKSUM, now=NOW)
    (first, _) = software.open_orders(store, here)
    frame = software.frame_of(first)
    assert frame is not None and (frame["id"], frame["verb"]) == (str(push), "pull")


def test_only_the_node_that_was_asked_can_answer_and_only_once(store: Store) -> None:
    here, there = node(store, "a"), node(store, "b")
    keep(store, entry(archive="https://x/y", checksum=CHECKSUM))
    number = ask(store, "verify", here)

    for wrong in (number + 1, None, "x", "²", "9" * 30, -number):
        answer(store, here, wrong)
    answer(store, there, number)
    assert len(software.open_orders(store, here)) == 1
    answer(store, here, str(number), ok=False)
    answer(store, here, str(number), ok=True)

    (row,) = store.rows("orders", ids=json.dumps([number]))
    assert (row["ok"], row["message"], row["faults"]) == (0, "said", '["one"]')


def test_after_a_purge_the_archive_is_brought_anew(store: Store) -> None:
    here = node(store, "a")
    keep(store, entry(archive="/x.tar", checksum=CHECKSUM))
    with store.writing():
        software.arrive(store, here, CHECKSUM, now=NOW)
    answer(store, here, ask(store, "purge", here))
    ask(store, "push", here)

    assert len(software.archives_wanted(store, here, now=NOW)) == 1


def test_software_that_is_removed_after_its_purge_needs_no_further_one(store: Store) -> None:
    here = node(store, "a")
    keep(store, entry(archive="/x.tar", checksum=CHECKSUM))

    def lines() -> int:
        return len(removed("reco/v1", software_places.places(store, "reco/v1")).splitlines())

    answer(store, here, ask(store, "push", here))
    assert lines() == 2
    answer(store, here, ask(store, "purge", here))
    assert lines() == 1
    with store.writing():
        software.arrive(store, here, CHECKSUM, now=NOW + 1)
    assert lines() == 2, "a package brought it again"


def test_a_push_of_an_archive_that_is_gone_fails(store: Store) -> None:
    here = node(store, "a")
    keep(store, entry(archive="/x.tar", checksum=CHECKSUM))
    number = ask(store, "push", here)
    with store.writing():
        software.delay(store, here, CHECKSUM, "`/x.tar` is gone", is_gone=True, now=NOW)

    (row,) = store.rows("orders", ids=json.dumps([number]))
    assert (row["ok"], row["message"]) == (0, "`/x.tar` is gone")


def test_a_removed_node_takes_its_orders_with_it(store: Store) -> None:
    here = node(store, "a")
    keep(store, entry(archive="/x.tar", checksum=CHECKSUM))
    ask(store, "push", here)
    with store.writing():
        software.arrive(store, here, CHECKSUM, now=NOW)
    registry.forget(store, "a", now=NOW)
    with store.writing():
        software.arrive(store, here, CHECKSUM, now=NOW)
        software.delay(store, here, CHECKSUM, "x", is_gone=True, now=NOW)

    for table in ("archive_copy", "software_order"):
        assert store.connection.execute(f"select count(*) from {table}").fetchone()[0] == 0


def checked(store: Store, node: int) -> tuple[bool, str]:
    """Verify reco on a node that lacks it: whether that is right, and what `where` has of it."""
    number = ask(store, "verify", node)
    answer(store, node, number, ok=False, fault="not installed")
    (order,) = software.orders(store, [number])
    last_orders = [place.order for place in software_places.places(store)]
    return bool(order.ok), ", ".join(order.verb for order in last_orders if order)


def test_software_that_never_was_on_a_node_is_no_fault_there(store: Store) -> None:
    here = node(store, "a")
    keep(store, entry(archive="https://x/y", checksum=CHECKSUM))

    assert checked(store, here) == (True, "")


def test_software_was_used_where_packages_of_it_ran_and_not_their_job(
    store: Store, site: Site
) -> None:
    used, other = node(store, "a"), node(store, "b")
    keep(store, entry(archive="https://x/y", checksum=CHECKSUM))
    site.submit(job(("1", [line(PackageSpec("1", (reco(),))), line(package("x"))])))
    site.launch("prod/1/1/1", "a")
    site.end("prod/1/1/1")
    site.launch("prod/1/2/1", "b")
    site.end("prod/1/2/1")
    with store.writing():
        rows.delete(store, "job_node_record")  # as `node resume` does

    places = {place.node: place.jobs for place in software_places.places(store)}

    assert places == {"a": ["prod"]}
    assert [checked(store, number)[0] for number in (used, other)] == [False, True]


def test_a_cluster_has_no_software_that_was_not_found_there(store: Store) -> None:
    here = node(store, "a")
    keep(store, entry(archive="https://x/y", checksum=CHECKSUM))
    checked(store, here)

    assert not any(view.software for view in cluster_views.clusters(store))


def test_software_that_is_not_where_it_was_pushed_is_a_fault(store: Store) -> None:
    here = node(store, "a")
    keep(store, entry(archive="https://x/y", checksum=CHECKSUM))
    answer(store, here, ask(store, "push", here))
    assert checked(store, here) == (False, "verify")

    answer(store, here, ask(store, "purge", here))
    assert checked(store, here) == (True, "purge")


def test_software_whose_copied_archive_is_not_unpacked_is_a_fault(store: Store) -> None:
    here = node(store, "a")
    keep(store, entry(archive="/x.tar", checksum=CHECKSUM))
    with store.writing():
        software.arrive(store, here, CHECKSUM, now=NOW)

    assert not checked(store, here)[0]


def test_a_version_with_the_archive_of_an_older_one_names_that_one(store: Store) -> None:
    here = node(store, "a")
    older = entry(archive="/x.tar", checksum=CHECKSUM)
    keep(store, older)
    keep(store, replace(older, version="v99"))
    with store.writing():
        software.arrive(store, here, CHECKSUM, now=NOW)

    places = {place.title: place for place in software_places.places(store)}

    assert places[older.title].same_as is None
    assert places[f"{older.name}/v99"].same_as == older.title


@pytest.mark.parametrize("title", [None, "reco/v1"])
def test_a_version_is_not_there_because_another_with_its_archive_is(
    store: Store, title: str | None
) -> None:
    here = node(store, "a")
    older = entry(archive="/x.tar", checksum=CHECKSUM)
    keep(store, replace(older, version="v99"))
    keep(store, older)
    push = ask(store, "push", here, "reco/v99")
    with store.writing():
        software.arrive(store, here, CHECKSUM, now=NOW)
    answer(store, here, push)

    places = {place.title: place for place in software_places.places(store, title)}

    shown = state_there(places["reco/v1"], NOW)
    assert shown.startswith("not known to be installed: its archive was copied ")
    assert shown.endswith(" for `reco/v99`")
    assert title or places["reco/v99"].copied_for is None
    assert checked(store, here)[0]


def test_two_versions_with_the_same_archive_are_there_if_both_were_used(
    store: Store, site: Site
) -> None:
    here = node(store, "a")
    older = entry(archive="/x.tar", checksum=CHECKSUM)
    keep(store, older)
    keep(store, replace(older, version="v99"))
    with store.writing():
        software.arrive(store, here, CHECKSUM, now=NOW)
    site.submit(job(("1", [line(PackageSpec("1", (reco(),)))])))
    site.launch("prod/1/1/1", "a")
    site.end("prod/1/1/1")
    push = ask(store, "push", here, "reco/v99")
    answer(store, here, push)

    assert [place.copied_for for place in software_places.places(store)] == [None, None]
    assert not checked(store, here)[0]


def launch(site: Site, name: str) -> None:
    """Launch a package with reco on node `a`."""
    site.submit(job(("1", [line(PackageSpec("1", (reco(),)))]), name=name))
    site.launch(f"{name}/1/1/1", "a")


def test_a_purge_counts_until_a_package_has_used_the_software_there_again(
    store: Store, site: Site
) -> None:
    here = node(store, "a")
    keep(store, entry(archive="https://x/y", checksum=CHECKSUM))
    launch(site, "before")
    site.end("before/1/1/1")
    answer(store, here, ask(store, "purge", here), now=time.time())
    launch(site, "vain")
    site.end("vain/1/1/1", "failed", reason="stage-in")

    (place,) = software_places.places(store)
    assert state_there(place, NOW).startswith("said ")
    assert (place.is_used, place.jobs) == (False, ["before", "vain"])

    launch(site, "after")
    (place,) = software_places.places(store)
    assert state_there(place, NOW) == "brought by packages"
    assert place.is_used
    site.end("after/1/1/1")
    assert not checked(store, here)[0]


def test_software_that_no_package_got_after_its_purge_is_no_fault(store: Store, site: Site) -> None:
    here = node(store, "a")
    keep(store, entry(archive="https://x/y", checksum=CHECKSUM))
    answer(store, here, ask(store, "purge", here), now=time.time())
    launch(site, "vain")
    site.end("vain/1/1/1", "failed", reason="stage-in")

    assert checked(store, here) == (True, "purge")


def test_a_check_after_an_update_expects_what_the_runs_before_it_used(
    store: Store, site: Site
) -> None:
    here = node(store, "a")
    keep(store, entry(archive="https://x/y", checksum=CHECKSUM))
    launch(site, "before")
    site.end("before/1/1/1")
    assert not checked(store, here)[0], "it was used there"

    change(store, "attempt", recipe='[{"seq": 1, "software": "reco/v2"}]')

    assert checked(store, here)[0]
    assert "reco/v2" in [place.title for place in software_places.places(store)]
