"""What site file and job file say of mail, and who gets it then."""

import time

import pytest

from d0ctl.jobfile.reader import read_text
from d0ctl.store import Store
from tests.notify.conftest import Carry, Notified, Say
from tests.notify.events import fail, many
from tests.support.site import Site
from tests.support.smtp import PostOffice

ME, GRID, ADMIN = "me@here", "grid@lab.example", "admin@lab.example"


@pytest.mark.parametrize(
    ("routes", "expected"),
    [
        ({"seg-fault": ["grid-control", "boss@lab.example"]}, ["boss@lab.example", GRID]),
        ({"seg-fault": ["nobody"]}, []),
        ({"looping": ["nobody"]}, [ADMIN, GRID, ME]),
    ],
)
def test_mail_about_a_reason_goes_where_the_site_routes_it(
    site: Site, say: Say, notified: Notified, routes: object, expected: list[str]
) -> None:
    say(routes=routes)
    site.submit(many(1))
    fail(site, "prod/1/1/1", "seg-fault")
    notified.collect()

    assert notified.recipients() == expected


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        ("", {ME: ["tried again", "final"], GRID: ["tried again", "final"]}),
        ("mail: everything", {ME: ["tried again", "final"], GRID: ["tried again", "final"]}),
        ("mail: when-needed", {ME: ["final"], GRID: ["tried again", "final"]}),
        ("mail: never", {ME: [], GRID: ["tried again", "final"]}),
    ],
)
def test_a_job_says_which_mails_its_originator_gets_and_no_other(
    site: Site, say: Say, notified: Notified, mode: str, expected: dict[str, list[str]]
) -> None:
    say(routes={"exit-code": ["researcher", "grid-control"]})
    lines = "stages: [{lines: [{run: a}, {run: b}]}]"
    site.submit(read_text(f"job: prod\noriginator: {ME}\n{mode}\n{lines}"))
    fail(site, "prod/1/1/1", "stage-in")
    fail(site, "prod/1/2/1", "exit-code")
    notified.collect()

    kinds = {True: "final", False: "tried again"}
    found = {
        recipient: [kinds[n.needs_a_person] for n in notified.waiting(recipient)]
        for recipient in (ME, GRID)
    }
    assert found == expected


@pytest.mark.parametrize(
    ("recipients", "expected"),
    [({}, [ME]), ({ME: {"mode": "never"}}, []), ({"you@here": {"mode": "never"}}, [ME])],
)
def test_a_recipient_who_wants_no_mail_gets_none(
    site: Site, say: Say, notified: Notified, recipients: object, expected: list[str]
) -> None:
    say(recipients=recipients)
    site.submit(many(1))
    fail(site, "prod/1/1/1")
    notified.collect()

    assert notified.recipients() == expected


def test_the_digest_of_a_recipient_delays_its_mail_and_no_other(
    site: Site, say: Say, notified: Notified
) -> None:
    due: list[float] = []
    for recipients in ({}, {ME: {"digest": "2h"}}):
        say(digest="1m", recipients=recipients)
        site.submit(many(1, name=f"job{len(due)}"))
        fail(site, f"job{len(due)}/1/1/1")
        notified.collect(1e9)
        due.append(notified.waiting()[-1].due)

    assert due[1] - due[0] == pytest.approx(7200 - 60, abs=30)


def test_a_recipient_gets_no_more_mails_an_hour_than_it_wants(
    site: Site, say: Say, carry: Carry, post: PostOffice
) -> None:
    people = {ME: {"rate": 2}, GRID: {"rate": 3}}
    say(digest="1s", routes={"exit-code": ["researcher", "grid-control", "cluster-admin"]},
        recipients=people)  # fmt: skip
    site.submit(many(5))
    start = time.time() + 10
    for number in range(1, 6):
        fail(site, f"prod/1/{number}/1")
        carry(start + 2 * number)

    got = [address for address, _ in post.letters]
    assert {recipient: got.count(recipient) for recipient in (ME, GRID, ADMIN)} == {
        ME: 2,
        GRID: 3,
        ADMIN: 5,
    }


def test_mail_goes_to_the_address_of_a_recipient(
    site: Site, say: Say, carry: Carry, store: Store, post: PostOffice
) -> None:
    say(recipients={ME: {"address": "emmy@lab.example"}})
    site.submit(many(1))
    fail(site, "prod/1/1/1")
    carry()

    assert [address for address, _ in post.letters] == ["emmy@lab.example"]
