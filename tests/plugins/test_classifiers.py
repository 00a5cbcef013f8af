"""Classifiers: the reason of a failure by a plug-in."""

import pytest

from tests.plugins.conftest import Add
from tests.support.site import Site

JOB = """\
job: busy
policy: {"site:licence": {tries: 1, delay: 0s}}
stages:
  - lines:
      - run: "echo no licence >&2; exit 75"
      - run: "exit 75"
"""


def reasons(site: Site, line: int) -> list[str]:
    """Why the attempts of a line's package failed."""
    return [one["reason"] for one in site.package(f"busy/1/{line}/1")["attempts"]]


def test_a_classifier_gives_failures_a_reason_that_policies_know(site: Site) -> None:
    site.ok("site", "apply", site.write("classifier: licence", "site.yaml"), "--yes")
    site.start_daemon()

    site.submit(JOB)

    assert site.d0ctl("wait", "busy").code == 1
    assert reasons(site, 1) == ["site:licence", "site:licence"]
    assert reasons(site, 2) == ["exit-code"]


def test_a_classifier_that_is_not_installed_is_a_fault(site: Site) -> None:
    done = site.d0ctl("site", "check", site.write("classifier: licences", "site.yaml"))

    said = "no installed package has a classifier `licences` (did you mean `licence`?)"
    assert (done.code, said in done.err) == (2, True), done


@pytest.mark.parametrize(
    ("code", "said"),
    [("1 / 0", "can't be imported: ZeroDivisionError"), ("it = 5", "must be a function, not int")],
)
def test_a_classifier_that_can_not_be_used_is_a_fault(
    bare_site: Site, add: Add, code: str, said: str
) -> None:
    add("classifier", "bad", code)

    done = bare_site.d0ctl("site", "check", bare_site.write("classifier: bad", "site.yaml"))

    assert (done.code, said in done.err) == (2, True), done


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("def it(failure): return 1 / 0", "failed: ZeroDivisionError: division by zero"),
        ("def it(failure): return 'lost'", "must return `site:NAME` or None, not 'lost'"),
        ("def it(failure): raise SystemExit", "failed: SystemExit"),
        ("def it(failure):\n    while True: pass", "took longer than 1 s; it is not asked again"),
        ("import os\ndef it(failure): os._exit(3)", "ended without an answer"),
    ],
)
def test_a_classifier_that_fails_is_a_line_of_the_log_and_the_daemon_goes_on(
    bare_site: Site, add: Add, code: str, said: str
) -> None:
    site = bare_site
    add("classifier", "bad", code)
    site.ok("site", "apply", site.write("classifier: bad", "site.yaml"), "--yes")
    site.start_daemon()

    site.submit(JOB)

    assert site.d0ctl("wait", "busy").code == 1
    assert reasons(site, 1) == reasons(site, 2) == ["exit-code"]
    logs = "".join(path.read_text() for path in (site.home.root / "logs").iterdir())
    lines = [line for line in logs.splitlines() if "plug-in `bad` of package `broken`" in line]
    assert said in lines[0]
    assert "Traceback" not in logs
