"""A home that was restored from a backup repeats no mail about the time before the backup."""

from pathlib import Path

import pytest

from d0ctl.config import Home
from d0ctl.daemon.delivery import NotificationSender
from d0ctl.daemon.steps.notifications import collect
from d0ctl.store import Store, backup
from d0ctl.store.mail import mail_queue
from d0ctl.store.opening import open_store
from tests.notify.conftest import Carry, Clock, Notified, Say
from tests.notify.events import NOW, end, fail, many
from tests.support.site import Site
from tests.support.smtp import PostOffice, free_port


def send_after_restore(store: Store, home: Home, copy: Path, now: float = NOW + 9e6) -> None:
    """Go back to a backup, and let the daemon of the restored home send what it has."""
    with store.writing():
        store.change("drop_leases")  # the daemon has ended
    store.close()
    backup.restore(home, copy, now=now)
    with open_store(home) as restored:
        with restored.writing():
            collect(restored, now=now)
        NotificationSender(home, is_command=False, clock=Clock(now)).round(restored)


@pytest.mark.parametrize("is_read", [False, True])
def test_mail_that_waits_during_a_backup_is_sent_by_the_home_that_goes_on_and_not_again(
    site: Site, say: Say, notified: Notified, carry: Carry, post: PostOffice, home: Home,
    tmp_path: Path, is_read: bool,
) -> None:  # fmt: skip
    say()
    site.submit(many(2))
    end(site)
    if is_read:
        notified.collect()
    backup.back_up(site.store, tmp_path / "backup.db")
    carry(NOW + 1e6)
    before = post.titles()

    send_after_restore(site.store, home, tmp_path / "backup.db")

    assert any("prod" in title for _, title in before)
    assert post.titles() == before


def test_a_message_in_transit_during_a_backup_is_given_up_by_the_restored_home(
    site: Site, say: Say, carry: Carry, home: Home, tmp_path: Path
) -> None:
    say(port=free_port(), digest=1)
    site.submit(many(1))
    end(site)
    carry(NOW + 1e6)
    assert mail_queue.unsent_messages(site.store)
    backup.back_up(site.store, tmp_path / "backup.db")

    send_after_restore(site.store, home, tmp_path / "backup.db")

    with open_store(home) as restored:
        assert mail_queue.unsent_messages(restored) == []
        last = mail_queue.latest_messages(restored, 9)
    assert {row.last_error for row in last} == {backup.RESTORED}


def test_what_fails_after_a_restore_is_reported(
    site: Site, say: Say, post: PostOffice, home: Home, tmp_path: Path
) -> None:
    say()
    site.submit(many(2))
    backup.back_up(site.store, tmp_path / "backup.db")
    site.store.close()
    backup.restore(home, tmp_path / "backup.db", now=NOW)

    with open_store(home) as restored:
        again = Site.of(restored)
        fail(again, "prod/1/1/1")
        with restored.writing():
            collect(restored, now=NOW)
        NotificationSender(home, is_command=False, clock=Clock(NOW + 1e6)).round(restored)

    assert any("prod: 1 package failed" in title for _, title in post.titles())
