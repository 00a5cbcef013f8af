"""From notices to mails in a real server and commands that ran."""

import time

from d0ctl import actions
from d0ctl.config import Home
from d0ctl.daemon.delivery import NotificationSender
from d0ctl.select import parse
from d0ctl.store.nodes import placement
from tests.notify.conftest import Carry, Clock, Notified, Say
from tests.notify.events import NOW, end, fail, many, moves_again
from tests.support.building import job as a_job
from tests.support.building import line, package, production
from tests.support.site import Site
from tests.support.smtp import PostOffice


def test_a_digest_has_the_failures_their_last_words_and_what_to_type(
    site: Site, say: Say, carry: Carry, post: PostOffice
) -> None:
    say(mode="everything")
    site.submit(many(3))
    for number in (1, 2, 3):
        fail(site, f"prod/1/{number}/1", "seg-fault", stderr="\x1b[31mred\x1b[0m\r\nHelp",
             detail="binary 1 (reco) was ended by SIGSEGV")  # fmt: skip
    carry()

    subject = "prod: 3 packages failed (seg-fault)"
    assert sorted(post.titles()) == [
        ("admin@lab.example", subject), ("grid@lab.example", subject), ("me@here", subject),
    ]  # fmt: skip
    assert "3 failures: 3 failed, not tried again" in post.text()
    assert "prod/1/3/1, attempt 1 on localhost\n    binary 1 (reco) was ended" in post.text()
    assert "    | \\x1b[31mred\\x1b[0m\n    | Help\n" in post.text()
    assert "  d0ctl retry 'prod:failed'\n" in post.text()
    assert f"sent by d0ctl of home {site.home.root}; messages" in post.text()
    assert post.mails[0]["Auto-Submitted"] == "auto-generated"
    assert len({str(mail["Message-ID"]) for mail in post.mails}) == 3


def test_a_mail_advises_no_retry_that_would_be_refused(
    site: Site, say: Say, carry: Carry, post: PostOffice
) -> None:
    say(grid_control=[], cluster_admin=[])
    site.submit(a_job(("1", [line(package("out", memory=100))])))
    fail(site, "prod/1/1/1", "out-of-memory", rss=200)
    with site.store.writing():
        placement.end_jobs(site.store, now=NOW)
    carry()

    assert "prod: failed, 1 of 1 package did not complete" in post.text()
    assert "prod: 1 package failed (out-of-memory)" in post.text()
    assert "  d0ctl why prod/1/1/1\n" in post.text()
    assert "d0ctl retry" not in post.text()


def test_all_notices_of_a_recipient_go_in_one_mail(
    site: Site, say: Say, carry: Carry, post: PostOffice
) -> None:
    say(grid_control=[], cluster_admin=[])
    site.submit(many(3))
    fail(site, "prod/1/1/1", "exit-code")
    fail(site, "prod/1/2/1", "looping")
    fail(site, "prod/1/3/1", "stage-in")
    carry()

    ((_, title),) = post.titles()
    assert title.endswith(", and 2 more")
    for words in ("1 package failed (exit-code)", "1 package failed (looping)",
                  "1 failure, tried again (stage-in)"):  # fmt: skip
        assert f"prod: {words}\n" in post.text()


def test_the_mail_at_the_end_lists_what_did_not_complete_and_why(
    site: Site, say: Say, carry: Carry, post: PostOffice
) -> None:
    say()
    lines = [line(package(f"f{i}"), package(f"g{i}", needs=[f"f{i}"])) for i in (1, 2)]
    site.submit(a_job(("make", lines), title="Reco\r\nBcc: all@lab"))
    site.finish("prod/1/1/1")
    site.finish("prod/1/1/2")
    end_line(site)
    carry(NOW)

    assert post.titles() == [
        ("me@here", "prod: failed, 2 of 4 packages did not complete, and 1 more")
    ]
    text = post.text()
    assert "  Reco\\r\\nBcc: all@lab\n  2 of 4 packages successful\n" in text
    assert "    prod/1/2/1  failed: exit-code: binary 1 (tool) ended with exit code 3\n" in text
    assert "    prod/1/2/2  blocked: waits for " in text
    assert "  d0ctl why prod\n" in text
    assert post.mails[0]["Bcc"] is None


def test_the_mail_about_a_job_of_which_a_part_was_killed_calls_it_canceled(
    site: Site, say: Say, carry: Carry, post: PostOffice
) -> None:
    say()
    site.submit(many(2))
    site.finish("prod/1/1/1")
    kill = actions.request("kill", parse("prod/1/2/1"))
    actions.apply(site.store, kill, actor="ada", note=None, now=NOW)
    with site.store.writing():
        placement.end_jobs(site.store, now=NOW)
    carry(NOW)

    assert post.titles() == [("me@here", "prod: canceled, 1 of 2 packages done")]
    assert "  d0ctl retry 'prod:canceled'\n" in post.text()


def test_the_mail_about_a_job_that_a_kill_has_blocked_does_not_call_it_failed(
    site: Site, say: Say, carry: Carry, post: PostOffice
) -> None:
    say()
    site.submit(production(lines=1))
    kill = actions.request("kill", parse("prod/1/1/1"))
    actions.apply(site.store, kill, actor="ada", note=None, now=NOW)
    with site.store.writing():
        placement.end_jobs(site.store, now=NOW)
    carry(NOW)

    assert post.titles() == [("me@here", "prod: blocked, 4 of 4 packages did not complete")]
    assert "  d0ctl retry 'prod:canceled'\n  d0ctl why prod\n" in post.text()


def end_line(site: Site) -> None:
    """Let the second line fail, so that nothing moves."""
    fail(site, "prod/1/2/1")
    with site.store.writing():
        placement.end_jobs(site.store, now=NOW)


def test_fifty_of_many_incomplete_packages_are_listed(
    site: Site, say: Say, carry: Carry, post: PostOffice
) -> None:
    say()
    lines = [line(*(package(f"f{i}") for i in range(61)))]
    site.submit(a_job(("make", lines)))
    end(site)
    carry(NOW)

    text = post.text()
    assert text.count("  blocked: ") == 49
    assert "    and 11 more: d0ctl status prod\n" in text


def test_a_success_is_reported_in_the_subject_line(
    site: Site, say: Say, carry: Carry, post: PostOffice
) -> None:
    say()
    site.submit(many(1))
    site.finish("prod/1/1/1")
    with site.store.writing():
        placement.end_jobs(site.store, now=NOW)
    carry(NOW)

    assert post.titles() == [("me@here", "prod: successful, 1 package")]


def test_no_mail_reports_the_end_of_a_job_that_moves_again(
    site: Site, say: Say, notified: Notified, carry: Carry, post: PostOffice, home: Home
) -> None:
    say(rate=1)
    site.submit(many(1))
    end(site)
    carry(NOW)
    moves_again(site)
    end(site, NOW + 1)
    notified.collect(NOW + 1)
    moves_again(site)
    NotificationSender(home, is_command=False, clock=Clock(NOW + 7200)).round(site.store)

    assert [title.split(",")[0] for _, title in post.titles()] == [
        "prod: failed", "prod: 1 failure",
    ]  # fmt: skip


def test_mails_beyond_the_hourly_rate_are_combined(
    site: Site, say: Say, carry: Carry, post: PostOffice
) -> None:
    say(rate=2, digest=1, grid_control=[], cluster_admin=[])
    site.submit(many(5))
    start = time.time() + 10
    for number in range(1, 6):
        fail(site, f"prod/1/{number}/1")
        carry(start + number)
    assert len(post.letters) == 2
    carry(start + 3600)
    assert len(post.letters) == 2
    carry(start + 3605)

    assert [title for _, title in post.titles()] == [
        "prod: 1 package failed (exit-code)", "prod: 1 package failed (exit-code)",
        "prod: 3 packages failed (exit-code)",
    ]  # fmt: skip
