"""A new key of the site signs new attempts; those that run keep the previous one."""

import time
from pathlib import Path

from d0ctl import site_key
from d0ctl.config import Home
from d0ctl.daemon.desk import Desk
from d0ctl.store.clusters import site_changes
from d0ctl_wrapper.protocol import message
from tests.daemon.contact import start_message, turn, turn_until
from tests.daemon.couriers import outcomes
from tests.daemon.test_refused import running
from tests.support.jobs import job, phases, simple, submitted
from tests.support.rows import read


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


def test_a_rotation_that_is_killed_before_the_new_key_leaves_the_present_one(home: Home) -> None:
    home.create()
    present = home.site_key()
    home.previous_keys.write_text(f"7 {present.hex()}\n")

    key = site_key.read(home)

    assert [key.token(attempt) for attempt in (7, 8)] == [
        message.token(present, attempt) for attempt in (7, 8)
    ]
