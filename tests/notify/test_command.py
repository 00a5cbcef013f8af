"""The site's command: what it gets, how long it may take, and what it leaves."""

import threading
import time
from pathlib import Path

import pytest

from d0ctl.config import Home
from d0ctl.daemon.delivery import Delivery, NotificationSender
from d0ctl.daemon.steps.notifications import collect
from d0ctl.errors import NotSent
from d0ctl.notify.site_command import run
from tests.notify.conftest import Say, script
from tests.notify.events import end, many
from tests.support.site import Site
from tests.support.waiting import Pid, wait_until


def test_the_command_gets_the_event_on_stdin_and_no_shell_sees_its_arguments(
    tmp_path: Path,
) -> None:
    notified = tmp_path / "told"
    command = [
        script(tmp_path / "hook", f'echo "$1" > {notified}', f"cat >> {notified}"),
        "$(id) ; x",
    ]
    run(command, '{"event": 1}', timeout=10, stop=threading.Event())

    assert notified.read_text() == '$(id) ; x\n{"event": 1}\n'


def test_a_command_that_ignores_stdin_succeeds(tmp_path: Path) -> None:
    run(["/bin/true"], "x" * 1_000_000, timeout=10, stop=threading.Event())


def test_a_command_that_takes_too_long_is_ended_with_its_children(tmp_path: Path) -> None:
    child = tmp_path / "child"
    hook = script(tmp_path / "hook", "sleep 600 &", f"echo $! > {child}.new",
                  f"mv {child}.new {child}", "wait")  # fmt: skip
    with pytest.raises(NotSent, match=r"hook` took longer than 0.5 s"):
        run([hook], "", timeout=0.5, stop=threading.Event())

    number = int(child.read_text())
    wait_until(lambda: Pid.of(number) is None)


def test_a_command_is_ended_with_d0ctl(tmp_path: Path) -> None:
    stop = threading.Event()
    stop.set()
    with pytest.raises(NotSent, match="was stopped"):
        run([script(tmp_path / "hook", "sleep 600")], "", timeout=600, stop=stop)


def test_a_command_that_hangs_is_gone_when_delivery_has_stopped(
    home: Home, site: Site, say: Say, tmp_path: Path
) -> None:
    event = tmp_path / "event"
    hook = script(tmp_path / "hook", f"echo $$ > {event}.new", f"mv {event}.new {event}",
                  "exec sleep 600")  # fmt: skip
    say(command=[hook], command_timeout=300)
    site.submit(many(1))
    end(site, 1.0)
    with site.store.writing():
        collect(site.store, now=time.time())
    delivery = Delivery(home)
    delivery.start()
    wait_until(event.exists)
    delivery.stop(0)
    left = Pid.of(int(event.read_text()))
    wait_until(
        lambda: not any(isinstance(thread, NotificationSender) for thread in threading.enumerate())
    )

    assert left is None


@pytest.mark.parametrize(
    ("lines", "error"),
    [
        (["exit 3"], "ended with exit code 3"),
        (["echo one >&2", "printf 'two\\033[1m' >&2", "exit 1"], r"exit code 1: two\x1b[1m"),
        (["kill -TERM $$"], "ended with signal 15"),
    ],
)
def test_a_command_that_fails_is_reported_with_its_last_words(
    tmp_path: Path, lines: list[str], error: str
) -> None:
    with pytest.raises(NotSent) as caught:
        run([script(tmp_path / "hook", *lines)], "", timeout=10, stop=threading.Event())

    assert str(caught.value).endswith(error)


def test_a_command_that_is_gone_is_reported(tmp_path: Path) -> None:
    with pytest.raises(NotSent, match="can't be run: No such file"):
        run([str(tmp_path / "gone")], "", timeout=10, stop=threading.Event())
