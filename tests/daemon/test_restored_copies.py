"""Copies of a restored backup that d0ctl itself may have removed before the restore."""

import time

from msgspec.structs import replace

from d0ctl.daemon.desk import Desk
from d0ctl.show.why.node import node as why_node
from tests.daemon.contact import list_again, turn_until
from tests.daemon.test_inventory import MANY, made, many_copies, why
from tests.support.rows import change, read


def facts(desk: Desk) -> list[str]:
    """What is said of copies on the node."""
    return [
        fact
        for fact in why_node(desk.store, "localhost", time.time()).facts
        if fact.startswith("1 copy")
    ]


def test_a_copy_that_is_missing_after_a_restore_was_removed_by_nobody_else(desk: Desk) -> None:
    former = made(desk, is_read=False)
    text = former.read_text()
    desk.site = replace(desk.site, restored=time.time())

    former.unlink()
    list_again(desk)

    (fact,) = facts(desk)
    assert fact.startswith("1 copy was missing or changed after a backup was restored, ")
    assert "but not by d0ctl" not in why(desk)
    assert read(desk.store, "location", "path", by="path") == []
    former.parent.mkdir(exist_ok=True)
    former.write_text(text)
    list_again(desk)
    turn_until(desk, lambda: read(desk.store, "location", "path", by="path"))
    former.unlink()
    list_again(desk)
    (fact,) = facts(desk)
    assert fact.startswith("1 copy was removed, but not by d0ctl, ")


def test_a_copy_reported_after_the_restore_may_have_been_removed_before_it(desk: Desk) -> None:
    former = made(desk, is_read=False)
    desk.site = replace(desk.site, restored=time.time())
    change(desk.store, "location", made=time.time())
    change(desk.store, "node", surveyed=None)

    former.unlink()
    list_again(desk)

    (fact,) = facts(desk)
    assert fact.startswith("1 copy was missing or changed after a backup was restored, ")


def test_a_cache_in_doubt_after_a_restore_says_that_the_files_may_have_been_removed_before(
    desk: Desk,
) -> None:
    paths = many_copies(desk)
    desk.site = replace(desk.site, restored=time.time())

    for path in paths:
        path.unlink()
    list_again(desk)

    explained = why_node(desk.store, "localhost", time.time())
    assert "has been in doubt since" in explained.answer
    said = f"{MANY} copies were missing or changed after a backup was restored, such as "
    assert any(fact.startswith(said) for fact in explained.facts), explained.facts
    list_again(desk)
    assert any(said in fact for fact in why_node(desk.store, "localhost", time.time()).facts)


def test_a_copy_of_the_restored_home_that_vanishes_before_the_first_inventory_is_reported(
    desk: Desk,
) -> None:
    desk.site = replace(desk.site, restored=time.time() - 60)
    former = made(desk, is_read=False)
    change(desk.store, "node", surveyed=None)

    former.unlink()
    list_again(desk)

    (fact,) = facts(desk)
    assert fact.startswith("1 copy was removed, but not by d0ctl, ")
