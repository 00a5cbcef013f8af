"""Every command that d0ctl suggests is typed, and none is refused."""

import json
import shlex
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from d0ctl import actions
from d0ctl.actions import request
from d0ctl.daemon import systemd_service
from d0ctl.model import Phase, Reason
from d0ctl.select import parse
from d0ctl.store.nodes import contact, leases
from tests.cli.conftest import Type
from tests.cli.suggestions import suggested
from tests.support.acting import act
from tests.support.building import job, line, package, production
from tests.support.rows import change
from tests.support.site import Site

CHANGES = {"hold", "release", "pause", "resume", "retry", "kill", "kill-line", "restore-line",
           "finish", "priority", "set-status", "remove", "edit", "acknowledge", "limit",
           "update", "clone", "archive", "submit"}  # fmt: skip
"""Verbs that are typed with `--dry-run`."""

LASTING = ("daemon start", "run", "wait", "status --watch", "logs", "node check", "doctor --nodes")
"""Commands that start something or reach a node: only their words are checked."""

REFUSED = {2, 3, 4}
"""Exit codes of a command that can't be typed so, names nothing, or is refused."""

WAYS_TO_FAIL: dict[str, dict[str, Any]] = {
    **{reason: {} for reason in Reason},
    Reason.EXIT_CODE: {"exit_code": 3},
    Reason.SOFTWARE_MISSING: {"exit_code": 127, "stderr": "1.sh: line 1: ./sim.sh: No such file "
                              "or directory\n"},
    Reason.OUT_OF_MEMORY: {"rss": 403_000_000},
    Reason.SEG_FAULT: {"signal": 11},
    "site:bad-field": {},
}  # fmt: skip


def drive(site: Site) -> None:
    """A daemon lives."""
    with site.store.writing():
        leases.take_lease(site.store, "daemon", now=time.time())


def refusal(d0ctl: Type, command: str) -> str | None:
    """Why a command that is typed is not accepted; None if it is."""
    words = shlex.split(command, comments=True)[1:]
    if words[0] in CHANGES:
        words.append("--dry-run")
    elif " ".join(words).startswith(LASTING) or "--watch" in words:
        words.append("--help")
    result = d0ctl(*words)
    return f"{command}: {result.stderr}" if result.exit_code in REFUSED else None


def refused(d0ctl: Type, *asked: str) -> list[str]:
    """The suggestions in the answers to these commands that are refused."""
    commands = {text for words in asked for text in suggested(d0ctl, *words.split())}
    assert commands
    return [why for command in sorted(commands) if (why := refusal(d0ctl, command))]


LIMITS: dict[str, Any] = {"memory": 300_000_000, "disk": 5_000_000, "wall_time": 60.0}

LIMITING = (Reason.OUT_OF_MEMORY, Reason.DISK_FULL, Reason.WALL_TIME, Reason.EXIT_CODE)
"""Reasons for which limits change what is suggested, and one for which they do not."""


@pytest.mark.parametrize(
    ("reason", "limits"),
    [*((reason, {}) for reason in WAYS_TO_FAIL), *((reason, LIMITS) for reason in LIMITING)],
    ids=lambda value: "" if value == {} else "limited" if value == LIMITS else str(value),
)
def test_suggestions_after_a_failure_are_accepted(
    site: Site, d0ctl: Type, reason: str, limits: dict[str, Any]
) -> None:
    drive(site)
    site.submit(job(
        ("make", [line(package(f"f{n}", **limits), package(f"g{n}", needs=[f"f{n}"]))
                  for n in (1, 2, 3)]),
        ("merge", [line(package("all", takes=["g1", "g2", "g3"]))]),
    ))  # fmt: skip
    fields = {"reason": reason, "detail": "it went wrong", "exit_code": None}
    for path in ("prod/1/1/1", "prod/1/2/1"):
        site.fail(path, **(fields | WAYS_TO_FAIL[reason]))

    assert refused(
        d0ctl, "why prod", "why prod/1", "why prod/1/1", "why prod/1/1/1", "why prod/2/1/1",
        "status prod", "status prod/1/1/1", "history prod/1/1/1",
    ) == []  # fmt: skip


def _hold(site: Site, path: str) -> None:
    _do(site, "hold", path)


def _do(site: Site, verb: str, path: str, **more: bool) -> None:
    asked = request(verb, parse(path), **more)
    actions.apply(site.store, asked, actor="ada", note="a test", now=time.time())


def _unreachable(site: Site) -> None:
    site.launch("prod/1/1/1")
    with site.store.writing():
        contact.down(site.store, 1, "connection refused", now=time.time())


def _policy_holds(site: Site) -> None:
    with site.store.writing():
        site.store.change("keep_setting", name="policy", value='{"exit-code": {"hold": true}}')
    site.fail("prod/1/1/1")


def _transferring(site: Site) -> None:
    site.launch("prod/1/1/1")
    with site.store.writing():
        change(site.store, "package", {"phase": "running"}, phase="transferring")


def _dropped(site: Site) -> None:
    _do(site, "kill-line", "prod/1/1", drop_outputs=True)


def _assigned(site: Site) -> None:
    site.up()
    site.assign("prod/1/1/1")


def _killing(site: Site) -> None:
    site.launch("prod/1/1/1")
    _do(site, "kill", "prod/1/1/1")


def _drained(site: Site) -> None:
    site.up()
    act(site.store, "node drain", "localhost", actor="ada", note=None, now=time.time())


SITUATIONS: dict[str, Callable[[Site], object]] = {
    "waiting": lambda site: site.launch("prod/1/2/1"),
    "ready": Site.up,
    "cooloff": partial(Site.fail, path="prod/1/1/1", reason="stage-in"),
    "held": partial(_do, verb="hold", path="prod/1/1/1"),
    "held by the policy": _policy_holds,
    "parked": partial(_do, verb="pause", path="prod/1/1/1"),
    "held job": partial(_do, verb="hold", path="prod"),
    "paused job": partial(_do, verb="pause", path="prod"),
    "assigned": _assigned,
    "running": lambda site: site.launch("prod/1/1/1"),
    "killing": _killing,
    "unreachable": _unreachable,
    "transferring": _transferring,
    "done": partial(Site.finish, path="prod/1/1/1"),
    "failed": partial(Site.fail, path="prod/1/1/1"),
    "canceled": partial(_do, verb="kill", path="prod/1/1/1"),
    "canceled job": partial(_do, verb="kill", path="prod"),
    "dropped": _dropped,
    "node drained": _drained,
}

UNDRIVEN = ("waiting", "ready", "running", "done", "failed")
"""Situations that are looked at without a daemon, too."""

CASES = [*((name, True) for name in SITUATIONS), *((name, False) for name in UNDRIVEN)]


@pytest.mark.parametrize(("situation", "is_driven"), CASES)
def test_suggestions_in_any_situation_are_accepted(
    site: Site, d0ctl: Type, situation: str, is_driven: bool
) -> None:
    if is_driven:
        drive(site)
    site.submit(production())
    SITUATIONS[situation](site)

    assert refused(
        d0ctl, "why prod", "why prod/1", "why prod/1/1", "why prod/1/1/1", "why prod/1/1/2",
        "why prod/2/1/1", "why prod/3/1/1", "why prod:gen-1", "why prod:sim-1", "why prod:all",
        "why localhost", "status", "status prod", "status prod/1/1", "status prod/1/1/1",
        "status --check --json", "history prod", "history prod/1/1/1",
    ) == []  # fmt: skip


def test_suggestions_of_the_doctor_are_accepted(
    site: Site, d0ctl: Type, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("d0ctl.doctor.examine.AGAIN_S", 0.0)
    # without a service it suggests one, which only a machine with systemd accepts
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    unit = systemd_service.user_units() / "d0ctl.service"
    unit.parent.mkdir(parents=True)
    unit.write_text(systemd_service.unit(site.store.home, is_system=False, journal=False))
    drive(site)
    site.submit(production())
    _unreachable(site)
    (site.store.home.dropbox / "new" / "1.1").write_text("{}\n")
    site.store.home.key.chmod(0o644)

    assert refused(d0ctl, "doctor") == []


def test_every_phase_is_among_the_situations() -> None:
    rare = {Phase.STARTING, Phase.STAGING_IN, Phase.SUSPENDED}

    assert {phase.value for phase in set(Phase) - rare} <= set(SITUATIONS)


@pytest.mark.parametrize(
    "words",
    [["logs", "prod"], ["logs", "prod/1/1"], ["why", "prod/*"], ["release", "prod"],
     ["resume", "prod"], ["retry", "prod"], ["retry", "prod/1/1/1"], ["status", "prot"],
     ["status", "prod/9"], ["hold", "prod/1/2/1:done"], ["restore-line", "prod/1/1"],
     ["wait", "prot"], ["run", "prot"], ["set-status", "prod/1/1/1", "successful"]],
)  # fmt: skip
def test_suggestions_of_errors_are_accepted(site: Site, d0ctl: Type, words: list[str]) -> None:
    drive(site)
    site.submit(production())
    _hold(site, "prod/1/2/1")
    _do(site, "kill", "prod/1/3")

    answer = [refusal(d0ctl, command) for command in suggested(d0ctl, *words)]

    assert [why for why in answer if why] == []


def test_the_commands_of_an_answer_are_those_of_its_document(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.fail("prod/1/1/1")

    commands = json.loads(d0ctl("why", "prod", "--json").stdout)["commands"]

    assert set(commands) <= set(suggested(d0ctl, "why", "prod"))


@pytest.mark.parametrize("how", [{}, {"outcome": "failed", "reason": "out-of-memory"}])
def test_the_memory_that_is_suggested_is_more_than_others_of_the_stage_took(
    site: Site, d0ctl: Type, how: dict[str, Any]
) -> None:
    site.submit(job(("a", [line(package(f"x{n}", memory=200_000_000)) for n in (1, 2)])))
    for number in (1, 2):
        site.fail(f"prod/1/{number}/1", reason="out-of-memory", rss=203_000_000)
    assert d0ctl("retry", "prod/1/1/1", "--memory", "600MB").exit_code == 0
    site.launch("prod/1/1/1")
    site.end("prod/1/1/1", rss=372_000_000, **how)

    answer = " ".join(d0ctl("why", "prod/1/2/1").stdout.split())

    assert "d0ctl retry prod/1/2/1 --memory 600MB" in answer
    assert "packages of its stage that ran out of memory took up to 372 MB" in answer
