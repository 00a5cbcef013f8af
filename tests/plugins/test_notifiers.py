"""Notifiers: plug-ins that get each event."""

import pytest

from tests.plugins.conftest import Add
from tests.support.site import Site
from tests.support.waiting import wait_until

JOB = "job: told\nstages: [{lines: [{run: 'true'}]}]\n"


def apply(site: Site, name: str) -> None:
    """Let the site have a notifier."""
    site.ok("site", "apply", site.write(f"mail: {{notifier: {name}}}", "site.yaml"), "--yes")


def test_a_notifier_gets_each_event(site: Site) -> None:
    journal = site.folder / "user" / "journal"
    apply(site, "journal")
    site.start_daemon()

    assert "the plug-in `journal` accepted a test event" in site.ok("notify", "test")
    site.submit(JOB)
    wait_until(lambda: "ended" in journal.read_text(), what="the end of the job is told")

    lines = journal.read_text().splitlines()
    assert lines[0] == "test a test event from d0ctl"
    assert lines[1].startswith("ended told")
    assert site.json("notify", "list")["notifier"] == "journal"


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("def it(event): return 1 / 0", "failed: ZeroDivisionError: division by zero"),
        ("def it(event):\n  import os, signal\n  os.kill(os.getpid(), 9)", "ended with signal 9"),
        ("def it(event):\n  import time\n  time.sleep(600)", "took longer than 2.0 s"),
    ],
)
def test_a_notifier_that_fails_is_reported_with_its_name_and_the_daemon_goes_on(
    bare_site: Site, add: Add, code: str, said: str
) -> None:
    site = bare_site
    add("notifier", "bad", code)
    text = "mail: {notifier: bad, command-timeout: 2s}"
    site.ok("site", "apply", site.write(text, "site.yaml"), "--yes")
    daemon = site.start_daemon().pid

    site.submit(JOB)
    wait_until(lambda: bool(troubles(site)), what="the notifier has failed")

    assert "the plug-in `bad`" in troubles(site)[0]
    assert said in troubles(site)[0]
    assert site.json("daemon", "status")["pid"] == daemon


def troubles(site: Site) -> list[str]:
    """Why events were not sent."""
    return [one["trouble"] for one in site.json("notify", "list")["on_way"] if one["trouble"]]


def test_a_notifier_has_to_be_installed_and_stands_in_place_of_a_command(site: Site) -> None:
    done = site.d0ctl("site", "check", site.write("mail: {notifier: journl}", "site.yaml"))
    said = "no installed package has a notifier `journl` (did you mean `journal`?)"
    assert (done.code, said in done.err) == (2, True), done

    text = "mail: {notifier: journal, command: /bin/true}"
    done = site.d0ctl("site", "check", site.write(text, "site.yaml"))
    assert (done.code, "replaces `command`" in done.err) == (2, True), done
