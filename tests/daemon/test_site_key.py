"""A new key of the site signs new attempts; those that run keep the previous one."""

import time
from pathlib import Path

import pytest

from d0ctl import site_key
from d0ctl.config import Home
from d0ctl.daemon.desk import Desk
from d0ctl.daemon.drive import driving
from d0ctl.errors import DatabaseUnavailable, Refused
from d0ctl.show.why.production import obstacles
from d0ctl.store import due_times, open_store
from d0ctl.store.clusters import site_changes
from d0ctl.store.nodes import leases, standstill
from d0ctl.store.nodes.leases import LEASE
from d0ctl_wrapper.protocol import message
from tests.daemon.contact import start_message, turn, turn_until
from tests.daemon.couriers import outcomes, reach_localhost
from tests.daemon.test_refused import running
from tests.support.jobs import job, phases, simple, submitted
from tests.support.rows import read, value


def rotate(desk: Desk) -> int:
    """Replace the key; how many attempts keep the previous one."""
    return site_changes.rotate_key(desk.store, actor="tester", note=None, now=time.time())


def previous(home: Home) -> list[int]:
    """The last attempts of the previous keys."""
    return [key.last for key in site_key.read(home).previous]


def test_an_attempt_outlives_the_key_that_signed_it_and_the_next_has_the_new_key(
    desk: Desk, tmp_path: Path
) -> None:
    first = running(desk, tmp_path / "gate")
    stolen = desk.home.site_key()

    assert rotate(desk) == 1
    submitted(desk.store, job("next", [simple()]))
    (tmp_path / "gate").touch()
    turn_until(desk, lambda: set(phases(desk.store).values()) == {"done"})

    signed = site_key.read(desk.home)
    assert outcomes(desk.store) == ["successful", "successful"]
    assert signed.token(first) == message.token(stolen, first)
    assert signed.token(first + 1) != message.token(stolen, first + 1)
    assert previous(desk.home) == [first]
    assert not list((desk.home.dropbox / "rejected").iterdir())


def test_a_stolen_key_signs_no_attempt_that_was_launched_after_it_was_replaced(
    desk: Desk, tmp_path: Path
) -> None:
    stolen = desk.home.site_key()
    rotate(desk)
    attempt = running(desk, tmp_path / "gate")
    true, forged = (message.token(key, attempt) for key in (desk.home.site_key(), stolen))
    texts = [start_message(desk, attempt, kind=kind) for kind in ("start", "end")]

    desk.dropbox.deliver("localhost", [text.replace(true, forged) for text in texts])
    turn(desk)

    assert desk.refused_ends == {}
    reasons = [path.read_text() for path in (desk.home.dropbox / "rejected").glob("*.reason")]
    assert f"the token of attempt {attempt} is wrong\n" in reasons
    (tmp_path / "gate").touch()
    turn_until(desk, lambda: outcomes(desk.store) == ["successful"])


def test_a_previous_key_is_forgotten_when_its_attempts_have_ended(
    desk: Desk, tmp_path: Path
) -> None:
    attempt = running(desk, tmp_path / "gate")
    for _ in range(2):
        rotate(desk)
    assert previous(desk.home) == [attempt]

    (tmp_path / "gate").touch()
    turn_until(desk, lambda: outcomes(desk.store) == ["successful"])
    assert rotate(desk) == 0

    assert previous(desk.home) == []
    for path in (desk.home.key, desk.home.previous_keys):
        assert path.stat().st_mode & 0o777 == 0o600
    verbs = [row[0] for row in read(desk.store, "action", "verb")]
    assert verbs.count("site rotate-key") == 3


def test_with_a_lost_key_running_packages_start_again_under_a_new_one(
    home: Home, tmp_path: Path
) -> None:
    with driving(home, None) as desk:
        first = running(desk, tmp_path / "gate")
        late = start_message(desk, first)
        with pytest.raises(Refused, match="a process drives packages"):
            site_changes.replace_lost_key(desk.store, actor="tester", note=None, now=time.time())
        with desk.store.writing():
            leases.give_lease(desk.store, LEASE)
    home.key.unlink()
    with pytest.raises(DatabaseUnavailable, match="is missing"), driving(home, None):
        pass

    with open_store(home) as store:
        ended = site_changes.replace_lost_key(store, actor="tester", note=None, now=time.time())
        assert ended == 1
        assert outcomes(store) == ["lost"]
    (tmp_path / "gate").touch()
    with driving(home, None) as desk:
        due_times.advance(desk.store, 86_400.0, now=time.time())
        reach_localhost(desk)
        turn_until(desk, lambda: outcomes(desk.store) == ["lost", "successful"])
        assert value(desk.store, "attempt", "message", id=first) == site_changes.LOST_KEY
        desk.dropbox.deliver("localhost", [late])
        turn(desk)
    assert not list((home.dropbox / "rejected").iterdir())


def test_messages_that_another_key_has_signed_are_named_with_that_cause(
    desk: Desk, tmp_path: Path
) -> None:
    attempt = running(desk, tmp_path / "gate")
    true = message.token(desk.home.site_key(), attempt)
    forged = message.token(b"x" * 32, attempt)
    text = start_message(desk, attempt).replace(true, forged)

    desk.dropbox.deliver("localhost", [text])
    turn(desk)

    state = standstill.production(desk.store, now=time.time(), driven=True)
    texts = [obstacle.text for obstacle in obstacles(state, time.time())]
    assert texts == [
        "1 message of packages rejected in the last hour: not signed by the `site.key` of this home"
    ]
    rotate(desk)
    assert standstill.production(desk.store, now=time.time(), driven=True).wrong_tokens == 0
    (tmp_path / "gate").touch()
    turn_until(desk, lambda: outcomes(desk.store) == ["successful"])


def test_a_rotation_that_is_killed_before_the_new_key_leaves_the_present_one(home: Home) -> None:
    home.create()
    present = home.site_key()
    home.previous_keys.write_text(f"7 {present.hex()}\n")

    key = site_key.read(home)

    assert [key.token(attempt) for attempt in (7, 8)] == [
        message.token(present, attempt) for attempt in (7, 8)
    ]
