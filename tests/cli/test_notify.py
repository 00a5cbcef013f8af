"""Notifications, listed and tried on the command line."""

import json
from pathlib import Path
from typing import Any

import pytest

from d0ctl.config import Home
from d0ctl.store.mail import mail_queue
from d0ctl.store.mail.mail_queue import Notice
from tests.cli.conftest import Type
from tests.notify.conftest import script
from tests.support.building import document, production
from tests.support.site import Site
from tests.support.smtp import PostOffice, free_port


def say(site: Site, **said: Any) -> None:
    """Put a section `mail` in force."""
    with site.store.writing():
        value = json.dumps({name.replace("_", "-"): one for name, one in said.items()})
        site.store.change("keep_setting", name="mail", value=value)


def server(**more: Any) -> dict[str, Any]:
    """A server that is away."""
    return {"host": "127.0.0.1", "port": free_port(), "security": "none",
            "sender": "d0ctl@lab.example"} | more  # fmt: skip


def post(site: Site, recipient: str = "eve@lab.example", title: str = "x: moves again") -> None:
    """Put something on its way."""
    with site.store.writing():
        mail_queue.post(
            site.store, recipient, "<id>", title, "Subject: x\r\n\r\nhe\x1bllo\r\n", now=5
        )


def test_a_site_without_recipients_is_reported(d0ctl: Type, site: Site) -> None:
    result = d0ctl("notify", "list")
    assert (result.exit_code, result.stdout) == (
        0, "the site has no `mail`, so d0ctl notifies no one: docs/mail.md\n"
    )  # fmt: skip
    result = d0ctl("notify", "test", "eve@lab.example")
    assert result.exit_code == 4
    assert result.stderr.splitlines() == [
        "d0ctl: the site has no `mail`, so d0ctl notifies no one",
        "a section `mail:` in the site file says who is notified: docs/mail.md",
    ]


def test_the_list_has_waiting_unsent_and_sent_messages(d0ctl: Type, site: Site) -> None:
    say(site, **server(), command=["/bin/true"])
    with site.store.writing():
        mail_queue.add(site.store, Notice("eve@lab.example", "failures", 1, "prod", 1, 1, 4e9, "x"))
    for title in ("sent", "stuck\x1b", "refused"):
        post(site, title=title)
    with site.store.writing():
        site.store.change("keep_sent", delivery=1, way=None, now=6.0)
        site.store.change("keep_unsent", delivery=2, not_before=7.0, last_error="busy")
        site.store.change("keep_given_up", delivery=3, way=None, now=8.0, last_error="550 no")

    answer = d0ctl("notify", "list").stdout
    assert "people are notified by mail through 127.0.0.1 and the command `/bin/true`" in answer
    assert "eve@lab.example  1 event  to be written in " in answer
    assert "stuck\\x1b  1 try, next in 0.0 s: busy" in answer
    assert "refused    given up: 550 no" in answer.replace("  given", "    given")
    whole = document(d0ctl("notify", "list", "--json").stdout)
    assert [group["things"] for group in whole["waiting"]] == [1]
    assert [(mail["message"], mail["tries"]) for mail in whole["on_way"]] == [(2, 1)]
    assert [(mail["message"], mail["sent"]) for mail in whole["last"]] == [(3, False), (1, True)]


def test_the_list_names_originators_without_an_address_once(d0ctl: Type, site: Site) -> None:
    for name, more in (
        ("a", {"originator": "nils"}), ("b", {"originator": "nils"}),
        ("c", {"originator": "eve@lab.example"}), ("d", {"originator": "known"}),
        ("e", {"originator": "quiet", "mail": "never"}),
    ):  # fmt: skip
        site.submit(production(name, lines=1, **more))
    said = "`nils` gets no mail about `a` and 1 other job: it is no address, and"

    say(site, command=["/bin/true"])
    assert "gets no mail" not in d0ctl("notify", "list").stdout
    say(site, **server(), recipients={"known": {"address": "known@lab.example"}})
    answer = d0ctl("notify", "list").stdout

    assert answer.count("gets no mail") == answer.count(said) == 1


@pytest.mark.parametrize(
    ("settings", "name"),
    [({"command": ["/bin/true"]}, "`/bin/true`"),
     ({"webhook": "https://lab.example/hook"}, "the webhook"),
     ({"notifier": "chat"}, "the plug-in `chat`")],
    ids=["command", "webhook", "notifier"],
)  # fmt: skip
def test_the_list_names_what_gets_the_events(
    d0ctl: Type, site: Site, settings: dict[str, Any], name: str
) -> None:
    say(site, **settings)
    with site.store.writing():
        mail_queue.add(site.store, Notice("command", "failures", 1, "prod", 1, 1, 4e9, "x"))
    post(site, "command")

    answer = d0ctl("notify", "list").stdout

    assert f"{name}  1 event" in answer
    assert f"1  {name}" in answer


def test_the_list_names_what_got_an_event_also_if_others_get_the_next(
    d0ctl: Type, site: Site
) -> None:
    say(site, command=["/bin/true"])
    post(site, "command")
    with site.store.writing():
        mail_queue.sent(site.store, 1, way="the webhook", now=6.0)

    answer = d0ctl("notify", "list")

    assert "✔  1  the webhook" in answer.stdout


def test_a_message_is_shown_as_it_will_be_sent_and_without_escapes(d0ctl: Type, site: Site) -> None:
    say(site, **server())
    post(site)

    assert d0ctl("notify", "show", "1").stdout == "Subject: x\n\nhe\\x1bllo\n"
    assert d0ctl("notify", "show", "2").exit_code == 3
    with site.store.writing():
        site.store.change("keep_sent", delivery=1, way=None, now=6.0)
    assert d0ctl("notify", "show", "1").exit_code == 4


def test_a_test_mail_arrives_or_says_why_not(d0ctl: Type, site: Site) -> None:
    away = server()
    say(site, **away)
    result = d0ctl("notify", "test", "eve@lab.example")
    assert (result.exit_code, result.stdout) == (
        1, f"✘ 127.0.0.1:{away['port']}: Connection refused\n"
    )  # fmt: skip
    assert d0ctl("notify", "test", "eve").exit_code == 2
    assert d0ctl("notify", "test", "eve@x\r\nBcc: y@z").exit_code == 2

    with PostOffice() as there:
        say(site, **there.said())
        result = d0ctl("notify", "test", "eve@lab.example")
        assert (result.exit_code, result.stdout) == (
            0, "✔ `127.0.0.1` accepted a test mail for eve@lab.example\n"
        )  # fmt: skip
        assert there.titles() == [("eve@lab.example", "a test mail from d0ctl")]


def test_waiting_mail_is_sent_once_the_server_is_back(d0ctl: Type, site: Site) -> None:
    with PostOffice() as there:
        say(site, **there.said())
        for _ in range(2):
            post(site)
        with site.store.writing():
            site.store.change("keep_unsent", delivery=1, not_before=9e9, last_error="busy")
            site.store.change("keep_unsent", delivery=2, not_before=9e9, last_error="busy")

        answer = d0ctl("notify", "test", "eve@lab.example").stdout
        assert answer.splitlines()[1] == "sending 2 waiting messages now"
        assert len(site.store.rows("due_deliveries", now=1.0, command=0)) == 2


def test_the_command_is_tried_with_a_test_event(d0ctl: Type, site: Site, tmp_path: Path) -> None:
    say(site, **server())
    assert d0ctl("notify", "test").exit_code == 2
    say(site, command=[script(tmp_path / "hook", f"cat > {tmp_path}/told")])
    assert d0ctl("notify", "test", "eve@lab.example").exit_code == 4

    assert d0ctl("notify", "test").stdout == f"✔ `{tmp_path}/hook` accepted a test event\n"
    assert json.loads((tmp_path / "told").read_text())["event"] == "test"
    script(tmp_path / "hook", "echo no >&2", "exit 7")
    result = d0ctl("notify", "test")
    assert (result.exit_code, result.stdout) == (
        1, f"✘ `{tmp_path}/hook` ended with exit code 7: no\n"
    )  # fmt: skip


def test_the_status_of_the_daemon_lists_unsent_notifications(d0ctl: Type, site: Site) -> None:
    say(site, **server())
    post(site)
    assert document(d0ctl("daemon", "status", "--json").stdout)["unsent"] is None
    with site.store.writing():
        site.store.change("keep_unsent", delivery=1, not_before=9.0, last_error="busy\x1b")

    answer = d0ctl("daemon", "status").stdout.splitlines()
    assert answer[0] == "not running: d0ctl daemon start"
    assert answer[1].startswith("✘ 1 message undelivered since ")
    assert answer[1].endswith(": busy\\x1b")
    assert answer[2] == "  d0ctl notify list"
    unsent = document(d0ctl("daemon", "status", "--json").stdout)["unsent"]
    assert unsent == {"messages": 1, "since": "1970-01-01T00:00:05.000Z", "trouble": "busy\x1b"}


@pytest.mark.parametrize("words", [["list"], ["show", "1"], ["test", "a@b"]], ids=" ".join)
def test_without_a_home_there_is_nothing_to_notify(
    d0ctl: Type, home: Home, words: list[str]
) -> None:
    assert d0ctl("notify", *words).exit_code == 5


def test_a_test_mail_that_fails_names_the_key_to_change(d0ctl: Type, site: Site) -> None:
    say(site, **server())
    refused = d0ctl("notify", "test", "eve@lab.example")
    with PostOffice() as office:
        say(site, **server(port=office.port, security="starttls"))
        plain = d0ctl("notify", "test", "eve@lab.example")

    assert (refused.exit_code, plain.exit_code) == (1, 1)
    assert "`port`" in refused.stderr
    assert "`security: none`" in plain.stderr
