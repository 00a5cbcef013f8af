"""Servers and commands that are slow, refuse, or fail: no event is lost."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from d0ctl import actions
from d0ctl.config import Home
from d0ctl.daemon.delivery import Delivery, NotificationSender
from d0ctl.daemon.steps.notifications import collect
from d0ctl.select import parse
from d0ctl.store import Store
from d0ctl.store.mail import mail_queue
from d0ctl.store.nodes import placement
from d0ctl.store.nodes.holder import holder
from tests.notify.conftest import Carry, Clock, Say, script
from tests.notify.events import NOW, fail, many
from tests.support.building import production
from tests.support.rows import change
from tests.support.site import Site
from tests.support.smtp import PostOffice, free_port, silent_server
from tests.support.waiting import wait_until


def open_ones(store: Store) -> list[Any]:
    """What is on its way."""
    return [dict(row) for row in store.rows("open_deliveries")]


def last(store: Store) -> list[Any]:
    """What has gone or was given up."""
    return [dict(row) for row in store.rows("ended_deliveries", limit=100)]


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
    (message,) = open_ones(store)
    assert (message["tries"], message["last_error"]) == (1, f"127.0.0.1:{port}: Connection refused")
    unsent = mail_queue.unsent(store)
    assert unsent is not None
    assert (unsent["messages"], unsent["since"]) == (1, start + 1)
    carry(start + 40)
    (message,) = open_ones(store)
    assert (message["tries"], message["not_before"]) == (2, start + 40 + 60)

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
    (message,) = open_ones(store)
    assert "451 4.3.2 busy, come again" in message["last_error"]
    carry(NOW + 31)

    assert len(post.letters) == 1
    assert [message["tries"] for message in last(store)] == [2]


def test_a_refused_recipient_does_not_stop_mail_to_others(
    site: Site, say: Say, carry: Carry, store: Store
) -> None:
    with PostOffice(refused=["admin@lab.example"]) as strict:
        say(port=strict.port)
        site.submit(many(1))
        fail(site, "prod/1/1/1", "seg-fault")
        carry()
        assert sorted(to for to, _ in strict.titles()) == ["grid@lab.example", "me@here"]
    (refused,) = [message for message in last(store) if not message["sent"]]

    assert refused["recipient"] == "admin@lab.example"
    assert refused["last_error"].endswith("550 5.1.1 no such person here")
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
            change(store, "notice", due=0)
        carriers = Delivery(home)
        carriers.start()
        wait_until(lambda: open_ones(store))
        fail(site, "prod/1/2/1")
        with store.writing():
            collect(store, now=NOW)
        assert [notice.count for notice in mail_queue.notices(store, "me@here")] == [1]

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

    (message,) = last(store)
    assert message["last_error"] == f"`{tmp_path}/hook` took longer than 0.2 s"


def test_the_command_is_given_the_end_of_a_job_of_which_a_part_was_killed_as_canceled(
    site: Site, say: Say, carry: Carry, tmp_path: Path
) -> None:
    notified = tmp_path / "told"
    say(command=[script(tmp_path / "hook", f"cat >> {notified}")])
    site.submit(many(2))
    site.finish("prod/1/1/1")
    kill = actions.request("kill", parse("prod/1/2/1"))
    actions.apply(site.store, kill, actor="ada", note=None, now=NOW)
    with site.store.writing():
        placement.end_jobs(site.store, now=NOW)
    carry(is_command=True)

    (ended,) = [json.loads(text) for text in notified.read_text().splitlines()]
    assert (ended["event"], ended["status"], ended["incomplete"]) == ("ended", "canceled", 1)


@pytest.mark.parametrize("is_killed", [True, False])
def test_the_end_of_a_job_that_only_a_kill_has_blocked_needs_nobody(
    site: Site, say: Say, carry: Carry, tmp_path: Path, is_killed: bool
) -> None:
    notified = tmp_path / "told"
    say(command=[script(tmp_path / "hook", f"cat >> {notified}")])
    site.submit(production(lines=1))
    if is_killed:
        kill = actions.request("kill", parse("prod/1/1/1"))
        actions.apply(site.store, kill, actor="ada", note=None, now=NOW)
    else:
        fail(site, "prod/1/1/1")
    with site.store.writing():
        placement.end_jobs(site.store, now=NOW)
    carry(is_command=True)

    events = [json.loads(text) for text in notified.read_text().splitlines()]
    (ended,) = [event for event in events if event["event"] == "ended"]
    word = "blocked" if is_killed else "failed"
    assert ended["headline"] == f"prod: {word}, 4 of 4 packages did not complete"
    assert (ended["status"], ended["needs_person"]) == ("failed", not is_killed)


def test_the_command_gets_each_event_as_json_on_stdin(
    site: Site, say: Say, carry: Carry, tmp_path: Path
) -> None:
    notified = tmp_path / "told"
    say(command=[script(tmp_path / "hook", f"cat >> {notified}")])
    site.submit(many(2))
    fail(site, "prod/1/1/1", stderr="x")
    fail(site, "prod/1/2/1", "looping")
    with site.store.writing():
        placement.end_jobs(site.store, now=NOW)
    carry(is_command=True)

    assert {message["way"] for message in last(site.store)} == {f"`{tmp_path / 'hook'}`"}
    events = [json.loads(text) for text in notified.read_text().splitlines()]
    assert {(event["event"], event.get("reason")) for event in events} == {
        ("ended", None), ("failures", "exit-code"), ("failures", "looping"),
    }  # fmt: skip
    (ended,) = [event for event in events if event["event"] == "ended"]
    assert (ended["job"], ended["status"], ended["incomplete"]) == ("prod", "failed", 2)
    assert ended["segments"][0]["path"] == "prod/1/1/1"
    (failure,) = [event for event in events if event.get("reason") == "exit-code"]
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
    (message,) = last(store)
    assert (message["sent"], message["tries"]) == (0, 6)
    assert message["last_error"] == f"`{tmp_path}/hook` ended with exit code 3: \\x1b[1mno"


def test_senders_of_two_processes_send_nothing_twice(
    site: Site, say: Say, store: Store, post: PostOffice, home: Home
) -> None:
    say(grid_control=[], cluster_admin=[])
    site.submit(many(1))
    fail(site, "prod/1/1/1")
    with store.writing():
        collect(store, now=NOW)
        store.change("take_lease", name="post mail", holder=other(), previous="", now=NOW)
    NotificationSender(home, is_command=False, clock=Clock(NOW)).round(store)

    assert post.letters == []
    change(store, "lease", {"name": "post mail"}, holder="x 1 1")
    NotificationSender(home, is_command=False, clock=Clock(NOW)).round(store)
    assert len(post.letters) == 1


def other() -> str:
    """The holder of a lease that lives and is not us."""
    boot, *_ = holder().split()
    stat = Path("/proc/1/stat").read_text().rpartition(")")[2].split()
    return f"{boot} 1 {stat[19]}"
