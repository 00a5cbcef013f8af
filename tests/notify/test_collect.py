"""Events become notices: once each, and equal ones as one."""

import time

from d0ctl.show.notifications.mail import body
from d0ctl.store import Store
from d0ctl.store.attempts.launching import launches
from d0ctl.store.jobs import removal
from d0ctl.store.nodes import placement
from tests.notify.conftest import Notified, Say
from tests.notify.events import NOW, down, end, fail, held_by_policy, many, moves_again
from tests.support.building import job, line, package, production
from tests.support.rows import change, count, insert, read, value
from tests.support.site import Site


def test_failures_for_one_reason_share_one_notice(site: Site, say: Say, notified: Notified) -> None:
    say()
    site.submit(many(4))
    for number in (1, 2, 3):
        fail(site, f"prod/1/{number}/1", "looping", stderr="one\ntwo\n\n")
    fail(site, "prod/1/4/1", "log-message")

    notified.collect()

    by_reason = {
        notice.reason: notice for notice in notified.waiting() if notice.kind == "failures"
    }
    notice = by_reason["looping"]
    assert (notice.subject, notice.count, notice.failed, notice.held) == ("prod", 3, 3, 0)
    assert [sample["path"] for sample in notice.samples] == ["prod/1/3/1", "prod/1/1/1"]
    assert notice.samples[0]["stderr"] == ["one", "two"]
    assert by_reason["log-message"].count == 1
    assert notified.recipients() == ["me@here"]


def test_later_failures_join_the_waiting_notice(site: Site, say: Say, notified: Notified) -> None:
    say(digest=600)
    site.submit(many(9))
    for number in range(1, 8):
        fail(site, f"prod/1/{number}/1")
        notified.collect()

    (notice,) = notified.waiting()
    assert (notice.count, len(notice.samples)) == (7, 3)
    assert notice.due < notice.first + 601


def test_a_notice_has_when_packages_failed_and_is_due_after_that_was_recorded(
    site: Site, say: Say, notified: Notified
) -> None:
    say(digest=600)
    site.submit(many(2))
    for number, ended in ((1, 1000.0), (2, 1060.0)):
        fail(site, f"prod/1/{number}/1", started=900.0, ended=ended, utc_offset=None)
    notified.collect()

    (notice,) = notified.waiting()
    assert (notice.first, notice.last) == (1000.0, 1060.0)
    assert notice.due > time.time() + 500


def test_new_events_are_read_once(site: Site, say: Say, notified: Notified) -> None:
    say()
    site.submit(many(2))
    fail(site, "prod/1/1/1")
    for _ in range(3):
        notified.collect()

    assert [notice.count for notice in notified.waiting()] == [1]


def test_failures_are_reported_even_when_they_are_tried_again(
    site: Site, say: Say, notified: Notified
) -> None:
    say(recipients={"grid@lab.example": {"mode": "when-needed"}})
    site.submit(many(1))
    fail(site, "prod/1/1/1", "stage-in")
    notified.collect()

    (notice,) = notified.waiting()
    assert (notice.count, notice.failed, notice.held, notice.needs_a_person) == (1, 0, 0, False)
    assert notified.waiting("grid@lab.example") == []


def test_a_refused_launch_is_reported_when_it_is_held(
    site: Site, say: Say, notified: Notified
) -> None:
    say()
    site.submit(many(1))
    for _ in range(4):
        site.assign("prod/1/1/1")
        with site.store.writing():
            (launch,) = launches.launch(site.store, [1], limit=1, now=NOW)[1]
            launches.refuse(site.store, 1, launch["attempt"], "launch-failed", "no", now=NOW)
            placement.advance(site.store, now=NOW + 1e6)
    notified.collect()

    (notice,) = notified.waiting()
    assert (notice.reason, notice.count, notice.held) == ("launch-failed", 1, 1)


def test_the_end_of_a_job_is_reported_at_once(site: Site, say: Say, notified: Notified) -> None:
    say()
    site.submit(many(1))
    site.finish("prod/1/1/1")
    notified.collect()
    assert notified.kinds() == []
    with site.store.writing():
        placement.end_jobs(site.store, now=NOW)
    notified.collect(NOW)

    (notice,) = notified.waiting()
    assert (notice.kind, notice.due, notice.needs_a_person) == ("ended", NOW, False)


def test_a_success_is_not_sent_to_people_who_want_only_urgent_mail(
    site: Site, say: Say, notified: Notified
) -> None:
    say()
    site.submit(many(1, mail="when-needed"))
    site.finish("prod/1/1/1")
    with site.store.writing():
        placement.end_jobs(site.store, now=NOW)
    notified.collect()

    assert notified.recipients() == []


def test_events_before_the_first_recipient_are_not_reported(
    site: Site, say: Say, notified: Notified, store: Store
) -> None:
    site.submit(many(1))
    end(site)
    notified.collect()
    say()
    notified.collect()
    assert notified.recipients() == []

    with store.writing():
        store.change("remove_setting", name="mail")
    moves_again(site)
    end(site)
    notified.collect()
    say()
    notified.collect()
    assert notified.recipients() == []


def test_without_the_section_waiting_notices_are_forgotten(
    site: Site, say: Say, notified: Notified, store: Store
) -> None:
    say()
    site.submit(many(1))
    end(site)
    down(site)
    notified.collect()
    assert notified.recipients()

    with store.writing():
        store.change("remove_setting", name="mail")
    notified.collect()

    assert notified.recipients() == []
    assert count(store, "problem") == 0


def test_events_that_reuse_numbers_are_new(
    site: Site, say: Say, notified: Notified, store: Store
) -> None:
    say()
    site.submit(many(1, name="other"))
    site.submit(many(1))
    fail(site, "prod/1/1/1")
    notified.collect()
    removal.remove_rows(store, site_job(store, "prod"), now=NOW)
    fail(site, "other/1/1/1")
    notified.collect()

    assert [(notice.subject, notice.count) for notice in notified.waiting()] == [
        ("prod", 1),
        ("other", 1),
    ]


def site_job(store: Store, name: str) -> int:
    """The row of a job."""
    return int(value(store, "job", "id", name=name))


def test_actions_of_people_are_not_reported(
    site: Site, say: Say, notified: Notified, store: Store
) -> None:
    say()
    site.submit(production())
    with store.writing():
        change(store, "package", {"phase": "ready"}, phase="held", actor="eve")
    notified.collect()

    assert notified.recipients() == []


def test_ten_thousand_failures_are_one_notice_with_examples(
    site: Site, say: Say, notified: Notified, store: Store
) -> None:
    say()
    site.submit(many(10_000))
    with store.writing():
        for (package,) in read(store, "package", "id"):
            insert(store, "attempt", id=package, package_id=package, number=1, node_id=1,
                   node_name="localhost", launched=1.0, ended=2.0, outcome="failed",
                   reason="seg-fault", message="SIGSEGV", answer="fail")  # fmt: skip
            change(store, "package", {"id": package}, phase="assigned", changed=5.0,
                   attempt_id=package)  # fmt: skip
        change(store, "package", phase="starting")
        change(store, "package", phase="failed", actor=None)
    notified.collect()

    (notice,) = notified.waiting()
    assert (notice.count, notice.failed, len(notice.samples)) == (10_000, 10_000, 2)
    assert notified.recipients() == ["admin@lab.example", "grid@lab.example", "me@here"]


def test_a_job_that_is_held_for_alike_failures_says_so_in_the_mail(
    store: Store, site: Site, say: Say, notified: Notified
) -> None:
    say()
    lines = [line(package(f"x{n}")) for n in range(2)]
    site.submit(job(("a", lines), max_alike_failures=2))
    for number in (1, 2):
        site.fail(f"prod/1/{number}/1")
    notified.collect()

    text = body([notice for notice in notified.waiting() if notice.kind == "failures"], {}, "/home")

    assert "the job is held by `max-alike-failures`: 2 packages of `prod/1` failed alike" in text
    assert "  d0ctl release prod\n" in text


def test_urgent_only_recipients_are_notified_of_lasting_problems(
    site: Site, say: Say, notified: Notified
) -> None:
    say(mode="when-needed")
    held_by_policy(site)
    site.submit(many(3))
    fail(site, "prod/1/1/1", "stage-in")
    fail(site, "prod/1/2/1", "exit-code")
    fail(site, "prod/1/3/1", "looping")
    notified.collect()

    assert {(notice.reason, notice.failed, notice.held) for notice in notified.waiting()} == {
        ("exit-code", 0, 1), ("looping", 1, 0),
    }  # fmt: skip
