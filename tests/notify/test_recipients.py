"""What the site file says of a recipient counts for that recipient, before what it says of all."""

import json

import pytest

from d0ctl.sitefile.reader import read_text
from d0ctl.store import Store
from tests.notify.conftest import Carry, Notified, Say
from tests.notify.events import fail, many
from tests.support.building import Site
from tests.support.smtp import PostOffice

ME = "me@here"


def recipients(text: str) -> object:
    """The section `recipients` as a site file has it."""
    lines = f"nodes: {{}}\nmail:\n  host: h\n  sender: d@h\n  recipients: {text}\n"
    return json.loads(json.dumps(read_text(lines, "site.yaml").settings["mail"])).get(
        "recipients", {}
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [("{}", [ME]), ("{me@here: {mode: never}}", []), ("{you@here: {mode: never}}", [ME])],
)
def test_a_recipient_who_wants_no_mail_gets_none(
    site: Site, say: Say, notified: Notified, text: str, expected: list[str]
) -> None:
    say(recipients=recipients(text))
    site.submit(many(1))
    fail(site, "prod/1/1/1")
    notified.collect()

    assert notified.recipients() == expected


def test_the_digest_of_a_recipient_delays_its_mail_and_no_other(
    site: Site, say: Say, notified: Notified
) -> None:
    due: list[float] = []
    for text in ("{}", "{me@here: {digest: 2h}}"):
        say(digest=60, recipients=recipients(text))
        site.submit(many(1, name=f"job{len(due)}"))
        fail(site, f"job{len(due)}/1/1/1")
        notified.collect(1e9)
        due.append(notified.waiting()[-1].due)

    assert due[1] - due[0] == pytest.approx(7200 - 60, abs=30)


def test_mail_goes_to_the_address_of_a_recipient(
    site: Site, say: Say, carry: Carry, store: Store, post: PostOffice
) -> None:
    say(recipients=recipients("{me@here: {address: emmy@lab.example}}"))
    site.submit(many(1))
    fail(site, "prod/1/1/1")
    carry()

    assert [address for address, _ in post.letters] == ["emmy@lab.example"]
