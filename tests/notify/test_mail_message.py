"""What goes over the wire: nothing from outside becomes a header, an escape or a line."""

import email
import email.policy
import json
import re
import shlex
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from d0ctl.model import Group
from d0ctl.notify.compose import document, mail_message, make_id
from d0ctl.select import parse
from d0ctl.show.job_end import Ending, Segment
from d0ctl.show.notifications import mail
from d0ctl.store import Store
from d0ctl.store.mail import mail_queue
from d0ctl.store.mail.mail_queue import Notice

HEADERS = [
    "From", "To", "Subject", "Date", "Message-ID", "Auto-Submitted", "Content-Type",
    "Content-Transfer-Encoding", "MIME-Version",
]  # fmt: skip

HOME = "/srv/prod\r\n.\r\n"

nasty = st.text(max_size=40) | st.sampled_from(
    ["x\r\nBcc: all@lab", "\n.\r\nMAIL FROM:<x>", "\x1b]0;x\x07", "é" * 500, "a" * 2000, "\u2028"]
)
samples = st.fixed_dictionaries(
    {"path": nasty, "attempt": st.integers(1, 99), "node": nasty, "message": nasty | st.none(),
     "stderr": st.lists(nasty, max_size=3)}
)  # fmt: skip
failures = st.builds(
    Notice, st.just("me@here"), st.just("failures"), st.integers(1, 9), nasty, st.just(1.0),
    st.just(5.0), st.just(9.0), reason=nasty, count=st.integers(5, 10**6),
    failed=st.integers(0, 5), samples=st.lists(samples, max_size=3),
)  # fmt: skip


def mail_of(notices: list[Notice], endings: dict[int, Ending]) -> bytes:
    """A mail about these."""
    return mail_message(
        sender="d0ctl@lab", recipient="me@here", message_id=make_id("d0ctl@lab"),
        title=mail.title(notices, endings), text=mail.body(notices, endings, HOME), at=1e9,
    )  # fmt: skip


@given(st.lists(failures, min_size=1, max_size=4), nasty, st.lists(nasty, max_size=3))
def test_arbitrary_names_cannot_change_the_form_of_a_mail(
    notices: list[Notice], title: str, whys: list[str]
) -> None:
    segments = tuple(Segment("a/1/1/1", "failed", why) for why in whys)
    ended = Ending("a", title, Group.FAILED, {"failed": 9}, 1.0, 2.0, segments, 9)
    end = Notice("me@here", "ended", 1, title, 1.0, 1.0, 1.0, problem="still")
    raw = mail_of([end, *notices], {1: ended})

    mail = email.message_from_bytes(raw, policy=email.policy.default)
    assert list(mail.keys()) == HEADERS
    assert raw.isascii()
    assert max(len(text) for text in raw.split(b"\r\n")) < 998
    text = mail.get_content().replace("\r\n", "\n")
    assert "".join(c for c in text if not c.isprintable() and c != "\n") == ""
    assert str(mail["Subject"]).isprintable()


def thing(kind: str, subject: str = "reco001", **more: Any) -> Notice:
    """Something to tell."""
    return Notice("x", kind, 1, subject, 1.0, 2.0, 3.0, **more)


def test_every_command_in_a_mail_can_be_typed() -> None:
    sample = {"path": "reco001/1/3/1", "attempt": 2, "node": "n", "message": "m", "stderr": []}
    ended = Ending("reco001", "", Group.FAILED, {"failed": 9}, 1.0, 2.0, (), 9)
    notices = [
        thing("ended", problem="still"),
        thing("failures", reason="seg-fault", count=3, failed=1, held=1, samples=[sample]),
        thing("node-down", "farm07"),
        thing("node-drained", "farm07"),
        thing("node-doubted", "farm08"),
        thing("node-mistrusted", "farm09"),
        thing("node-given-up", "farm07", count=3),
        thing("cleared", reason="still"),
        thing("cleared", reason="held"),
        thing("cleared", "farm07", reason="node-down"),
        thing("software", "reco/v1", reason="purge", count=2),
    ]
    text = mail.body(notices, {1: ended}, HOME)

    typed = re.findall(r"^  d0ctl (.+)$", text, re.MULTILINE)
    assert len(typed) > 15
    for command in typed:
        verb, *rest = shlex.split(command)
        if verb in ("retry", "release", "logs", "status", "why"):
            parse(rest[0])
    heads = [mail.headline(notice, {1: ended}) for notice in notices]
    assert heads == [
        "reco001: failed, 9 of 9 packages did not complete",
        "reco001: 1 package failed (seg-fault)", "node farm07 is down",
        "node farm07 is drained: packages fail there that succeed elsewhere",
        "the cache of node farm08 is in doubt: most of its files are missing",
        "node farm09 shows a host key that is not trusted",
        "node farm07 does not answer: 3 attempts given up", "reco001: moves again",
        "reco001: no packages are held any longer", "node farm07 is back",
        "purge of reco/v1: done on 2 nodes that answered late",
    ]  # fmt: skip


def test_a_mail_names_fifty_things_and_counts_the_rest() -> None:
    notices = [thing("cleared", f"n{n}", reason="still") for n in range(1, 61)]

    assert mail.body(notices, {}, HOME).count("moves again") == 50
    assert "\n... and 10 more\n" in mail.body(notices, {}, HOME)


@given(failures)
def test_an_event_is_one_json_document_whatever_is_in_it(notice: Notice) -> None:
    event = document(notice, {}, "site")

    assert json.loads(json.dumps(event)) == event
    assert event["tried_again"] == notice.count - notice.failed


def test_a_subject_is_one_line_of_the_raw_mail() -> None:
    words_of_it = "prod: failed, 100,001 of 100,001 packages did not complete, and 1 more"
    raw = mail_message(sender="d0ctl@lab", recipient="me@here", message_id=make_id("d0ctl@lab"),
                 title=words_of_it, text="é\n" * 99, at=1e9)  # fmt: skip

    assert f"\r\nSubject: {words_of_it}\r\n".encode() in raw
    assert b"=C3=A9" in raw


def test_equal_notices_have_the_earliest_and_the_latest_time(store: Store) -> None:
    with store.writing():
        for first, last in ((5.0, 6.0), (3.0, 4.0)):
            notice = Notice("eve", "failures", 1, "prod", first, last, 9.0, reason="x")
            mail_queue.add(store, notice)

    (merged,) = mail_queue.notices(store, "eve")

    assert (merged.first, merged.last, merged.count) == (3.0, 6.0, 2)
