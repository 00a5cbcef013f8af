"""From what people are to be told to mails in a real server's hands, and commands that ran."""

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from d0ctl.config import Home
from d0ctl.daemon.delivery import Carrier, Delivery
from d0ctl.daemon.steps.notifications import collect
from d0ctl.store import Store
from d0ctl.store.mail import mail_queue
from d0ctl.store.nodes import placement
from d0ctl.store.nodes.holder import holder
from tests.cli.building import Site, line, package
from tests.cli.building import job as a_job
from tests.notify.conftest import Clock, Notified, Say, script
from tests.notify.test_collect import NOW, end, fail, many, moves_again
from tests.support.smtp import PostOffice, free_port, silent_server
from tests.support.waiting import wait_until

Carry = Callable[..., None]


def open_ones(store: Store) -> list[Any]:
    """What is on its way."""
    return [dict(row) for row in store.rows("open_deliveries")]


def last(store: Store) -> list[Any]:
    """What has gone or was given up."""
    return [dict(row) for row in store.rows("ended_deliveries", limit=100)]


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
    assert "  d0ctl retry 'prod/*/*:failed'\n" in post.text()
    assert post.mails[0]["Auto-Submitted"] == "auto-generated"
    assert len({str(mail["Message-ID"]) for mail in post.mails}) == 3


def test_all_that_waits_for_somebody_goes_in_one_mail(
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
        ("me@here", "prod: stands still, 2 of 4 packages did not complete, and 1 more")
    ]
    text = post.text()
    assert "  Reco\\r\\nBcc: all@lab\n  2 of 4 packages successful\n" in text
    assert "    prod/1/2/1  failed: exit-code: binary 1 (tool) ended with exit code 3\n" in text
    assert "    prod/1/2/2  blocked: waits for " in text
    assert "  d0ctl why prod\n" in text
    assert post.mails[0]["Bcc"] is None


def end_line(site: Site) -> None:
    """Let the second line fail, so that nothing moves."""
    fail(site, "prod/1/2/1")
    with site.store.writing():
        placement.end_jobs(site.store, now=NOW)


def test_of_many_that_did_not_complete_fifty_are_listed(
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


def test_a_success_is_told_in_one_line_of_subject(
    site: Site, say: Say, carry: Carry, post: PostOffice
) -> None:
    say()
    site.submit(many(1))
    site.finish("prod/1/1/1")
    with site.store.writing():
        placement.end_jobs(site.store, now=NOW)
    carry(NOW)

    assert post.titles() == [("me@here", "prod: successful, 1 package")]


def test_the_end_of_a_job_that_moves_again_is_told_no_more(
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
    Carrier(home, is_command=False, clock=Clock(NOW + 7200)).round(site.store)

    assert [title.split(",")[0] for _, title in post.titles()] == [
        "prod: stands still", "prod: 1 package failed (exit-code)",
    ]  # fmt: skip


def test_no_more_mails_than_the_rate_go_in_an_hour_and_the_rest_joins(
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


def test_nothing_is_lost_while_the_server_is_down(
    site: Site, say: Say, carry: Carry, store: Store
) -> None:
    port = free_port()
    say(port=port, digest=1, grid_control=[], cluster_admin=[])
    site.submit(many(5))
    start = time.time() + 10
    for number in range(1, 6):
        fail(site, f"prod/1/{number}/1")
        carry(start + number)
    (one,) = open_ones(store)
    assert (one["tries"], one["trouble"]) == (1, f"127.0.0.1:{port}: Connection refused")
    unsent = mail_queue.unsent(store)
    assert unsent is not None
    assert (unsent["messages"], unsent["since"]) == (1, start + 1)
    carry(start + 40)
    (one,) = open_ones(store)
    assert (one["tries"], one["not_before"]) == (2, start + 40 + 60)

    with PostOffice(port=port) as late:
        carry(start + 100)
        carry(start + 101)
        assert [title for _, title in late.titles()] == [
            "prod: 1 package failed (exit-code)", "prod: 4 packages failed (exit-code)",
        ]  # fmt: skip
    assert mail_queue.unsent(store) is None


def test_a_server_that_is_busy_is_asked_again(
    site: Site, say: Say, carry: Carry, store: Store, post: PostOffice
) -> None:
    say(grid_control=[], cluster_admin=[])
    post.busy = 1
    site.submit(many(1))
    fail(site, "prod/1/1/1")
    carry(NOW)
    (one,) = open_ones(store)
    assert "451 4.3.2 busy, come again" in one["trouble"]
    carry(NOW + 31)

    assert len(post.letters) == 1
    assert [one["tries"] for one in last(store)] == [2]


def test_who_is_refused_keeps_nobody_else_from_being_told(
    site: Site, say: Say, carry: Carry, store: Store
) -> None:
    with PostOffice(refused=["admin@lab.example"]) as strict:
        say(port=strict.port)
        site.submit(many(1))
        fail(site, "prod/1/1/1", "seg-fault")
        carry()
        assert sorted(to for to, _ in strict.titles()) == ["grid@lab.example", "me@here"]
    (refused,) = [one for one in last(store) if not one["sent"]]

    assert refused["recipient"] == "admin@lab.example"
    assert refused["trouble"].endswith("550 5.1.1 no such person here")
    assert open_ones(store) == []


def test_a_server_that_never_speaks_holds_up_no_other_thread(
    site: Site, say: Say, store: Store, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("d0ctl.daemon.delivery.LOOK_S", 0.01)
    with silent_server() as port:
        say(port=port)
        site.submit(many(2))
        fail(site, "prod/1/1/1")
        with store.writing():
            collect(store, now=NOW)
            store.connection.execute("update notice set due = 0")
        carriers = Delivery(home)
        carriers.start()
        wait_until(lambda: open_ones(store))
        fail(site, "prod/1/2/1")
        with store.writing():
            collect(store, now=NOW)
        assert [one.count for one in mail_queue.notices(store, "me@here")] == [1]

        began = time.monotonic()
        carriers.stop()
        assert time.monotonic() - began < 10
        assert len(open_ones(store)) == 1


def test_the_site_says_how_long_the_command_may_take(
    site: Site, say: Say, carry: Carry, store: Store, tmp_path: Path
) -> None:
    say(command=[script(tmp_path / "hook", "exec sleep 600")], command_timeout=0.2)
    site.submit(many(1))
    fail(site, "prod/1/1/1")
    for hour in range(10):
        carry(NOW + 3600 * hour, is_command=True)

    (one,) = last(store)
    assert one["trouble"] == f"`{tmp_path}/hook` took longer than 0.2 s"


def test_the_command_gets_each_event_as_json_on_stdin(
    site: Site, say: Say, carry: Carry, tmp_path: Path
) -> None:
    notified = tmp_path / "told"
    say(command=[script(tmp_path / "hook", f"cat >> {notified}", f"echo >> {notified}")])
    site.submit(many(2))
    fail(site, "prod/1/1/1", stderr="x")
    fail(site, "prod/1/2/1", "looping")
    with site.store.writing():
        placement.end_jobs(site.store, now=NOW)
    carry(is_command=True)

    events = [json.loads(text) for text in notified.read_text().splitlines()]
    assert {(one["event"], one.get("reason")) for one in events} == {
        ("ended", None), ("failures", "exit-code"), ("failures", "looping"),
    }  # fmt: skip
    (ended,) = [one for one in events if one["event"] == "ended"]
    assert (ended["job"], ended["status"], ended["incomplete"]) == ("prod", "failed", 2)
    assert ended["segments"][0]["path"] == "prod/1/1/1"
    (failure,) = [one for one in events if one.get("reason") == "exit-code"]
    assert (failure["count"], failure["failed"], failure["needs_person"]) == (1, 1, True)
    assert failure["samples"][0]["stderr"] == ["x"]


def test_a_command_that_fails_is_run_again_a_few_times_and_then_given_up(
    site: Site, say: Say, carry: Carry, store: Store, tmp_path: Path
) -> None:
    ran = tmp_path / "ran"
    say(command=[script(tmp_path / "hook", f"echo x >> {ran}", "echo '\x1b[1mno' >&2", "exit 3")])
    site.submit(many(1))
    fail(site, "prod/1/1/1")
    for hour in range(10):
        carry(NOW + 3600 * hour, is_command=True)

    assert ran.read_text().count("x") == 6
    (one,) = last(store)
    assert (one["sent"], one["tries"]) == (0, 6)
    assert one["trouble"] == f"`{tmp_path}/hook` ended with exit code 3: \\x1b[1mno"


def test_carriers_of_two_processes_send_nothing_twice(
    site: Site, say: Say, store: Store, post: PostOffice, home: Home
) -> None:
    say(grid_control=[], cluster_admin=[])
    site.submit(many(1))
    fail(site, "prod/1/1/1")
    with store.writing():
        collect(store, now=NOW)
        store.change("take_lease", name="post mail", holder=other(), former="", now=NOW)
    Carrier(home, is_command=False, clock=Clock(NOW)).round(store)

    assert post.letters == []
    store.connection.execute("update lease set holder = 'x 1 1' where name = 'post mail'")
    Carrier(home, is_command=False, clock=Clock(NOW)).round(store)
    assert len(post.letters) == 1


def other() -> str:
    """The holder of a lease that lives and is not us."""
    boot, *_ = holder().split()
    stat = Path("/proc/1/stat").read_text().rpartition(")")[2].split()
    return f"{boot} 1 {stat[19]}"
