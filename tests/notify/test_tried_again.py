"""Failures that are tried again before they are reported."""

import json

import pytest

from d0ctl import actions
from d0ctl.notify import compose
from d0ctl.notify.routes import COMMAND
from d0ctl.select import parse
from d0ctl.store import Store
from d0ctl.store.attempts.launching import launches
from d0ctl.store.jobs import removal
from d0ctl.store.nodes import placement
from tests.notify.conftest import Carry, Notified, Say
from tests.notify.events import NOW, fail, held_by_policy, many, release
from tests.support.site import Site
from tests.support.smtp import PostOffice


def retry(site: Site, path: str) -> None:
    """A person retries a failed package."""
    actions.apply(site.store, actions.request("retry", parse(path)), actor="eve", note=None,
                  now=NOW)  # fmt: skip


def test_the_mail_counts_the_packages_that_are_still_failed(
    site: Site, say: Say, notified: Notified, carry: Carry, post: PostOffice
) -> None:
    say()
    site.submit(many(3))
    for number in (1, 2, 3):
        fail(site, f"prod/1/{number}/1")
    notified.collect()
    retry(site, "prod/1/1/1")
    carry()

    assert post.titles() == [("me@here", "prod: 2 packages failed (exit-code)")]
    assert "  3 failures: 2 failed, not tried again, 1 tried again\n" in post.text()


def test_the_mail_has_no_retry_command_if_all_are_tried_again(
    site: Site, say: Say, notified: Notified, carry: Carry, post: PostOffice
) -> None:
    say()
    site.submit(many(1))
    fail(site, "prod/1/1/1")
    notified.collect()
    retry(site, "prod/1/1/1")
    carry()

    assert post.titles() == [("me@here", "prod: 1 failure, tried again (exit-code)")]
    assert "d0ctl retry" not in post.text()


@pytest.mark.parametrize("of_job", [None, "when-needed"])
def test_mail_only_when_needed_is_not_sent_if_all_are_tried_again(
    site: Site, say: Say, notified: Notified, carry: Carry, post: PostOffice, of_job: str | None
) -> None:
    say(**({} if of_job else {"mode": "when-needed"}))
    site.submit(many(2, **({"mail": of_job} if of_job else {})))
    for number in (1, 2):
        fail(site, f"prod/1/{number}/1")
    notified.collect()
    retry(site, "prod:failed")
    carry()

    assert post.titles() == []
    assert notified.waiting() == []


def test_mail_only_when_needed_is_sent_if_a_package_fails_again(
    site: Site, say: Say, notified: Notified, carry: Carry, post: PostOffice
) -> None:
    say(mode="when-needed")
    site.submit(many(1))
    fail(site, "prod/1/1/1")
    notified.collect()
    retry(site, "prod/1/1/1")
    fail(site, "prod/1/1/1")
    carry()

    assert post.titles() == [("me@here", "prod: 1 package failed (exit-code)")]
    assert "  2 failures: 1 failed, not tried again, 1 tried again\n" in post.text()


def test_the_event_for_the_command_says_that_no_person_is_needed(
    site: Site, say: Say, notified: Notified
) -> None:
    say(command=["/bin/true"])
    site.submit(many(2))
    for number in (1, 2):
        fail(site, f"prod/1/{number}/1")
    notified.collect()
    retry(site, "prod:failed")
    event = composed(site.store)

    assert (event["needs_person"], event["failed"], event["tried_again"]) == (False, 0, 2)


def composed(store: Store) -> dict[str, object]:
    """The event that is given to the command."""
    with store.writing():
        compose.write(store, {}, COMMAND, now=NOW)
    (row,) = store.rows("due_deliveries", now=4e9, command=1)
    event: dict[str, object] = json.loads(row["body"])
    return event


def test_packages_that_are_released_are_not_reported_as_held(
    site: Site, say: Say, notified: Notified, carry: Carry, post: PostOffice
) -> None:
    say()
    held_by_policy(site)
    site.submit(many(2))
    for number in (1, 2):
        fail(site, f"prod/1/{number}/1")
    notified.collect()
    assert [(notice.failed, notice.held) for notice in notified.waiting()] == [(0, 2)]
    release(site, "prod/1/1/1")
    carry()

    assert post.titles()[0] == ("me@here", "prod: 1 package held (exit-code)")


def test_failures_of_a_job_that_was_removed_are_reported_as_they_were(
    site: Site, say: Say, notified: Notified, carry: Carry, post: PostOffice
) -> None:
    say()
    site.submit(many(1))
    fail(site, "prod/1/1/1")
    notified.collect()
    removal.remove_rows(site.store, 1, now=NOW)
    carry()

    assert post.titles() == [("me@here", "prod: 1 package failed (exit-code)")]


def test_a_package_that_is_held_after_refused_launches_is_still_reported_as_held(
    site: Site, say: Say, carry: Carry, post: PostOffice
) -> None:
    say(mode="when-needed", cluster_admin=[])
    site.submit(many(1))
    for _ in range(4):
        with site.store.writing():
            placement.advance(site.store, now=NOW + 1e6)
        site.assign("prod/1/1/1")
        with site.store.writing():
            (launch,) = launches.launch(site.store, [1], limit=1, now=NOW)[1]
            launches.refuse(site.store, 1, launch["attempt"], "launch-failed", "no", now=NOW)
    carry()

    assert post.titles() == [("me@here", "prod: 1 package held (launch-failed)")]
