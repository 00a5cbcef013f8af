"""Two people at once: one wins, the other reads who did what, and nothing else happens."""

import fcntl
import os
import re
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from d0ctl import actions
from d0ctl.actions import conflict, request
from d0ctl.config import Home
from d0ctl.errors import Refused
from d0ctl.select import parse
from d0ctl.store import lifecycle, open_store
from d0ctl.store.jobs import audit
from tests.cli.conftest import Type
from tests.support.building import job, line, package, production
from tests.support.rows import read
from tests.support.site import Site
from tests.support.waiting import wait_until

PROGRAM = Path(sys.executable).with_name("d0ctl")


def waits_for_its_turn(process: subprocess.Popen[str], home: Home) -> bool:
    """Whether a process has the turn's lock open, which it only does to take it."""
    folder = Path(f"/proc/{process.pid}/fd")
    with suppress(FileNotFoundError):  # it has just closed one of them
        return any(link.resolve() == home.writer_lock.resolve() for link in folder.iterdir())
    return False


def type_as(person: str, *words: str) -> subprocess.Popen[str]:
    """Start d0ctl as this user."""
    return subprocess.Popen(
        [PROGRAM, *words], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=os.environ | {"LOGNAME": person},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("first", "second"),
    [(("kill", "prod/1/2"), ("hold", "prod/1/2")),
     (("kill-line", "prod/1/1"), ("retry", "prod/1/1")),
     (("retry", "prod/1/1"), ("kill", "prod/1/1")),
     (("kill-line", "prod/1/1", "--drop-outputs"), ("retry", "prod/1")),
     (("hold", "prod"), ("release", "prod"))],
    ids=lambda words: words[0],
)  # fmt: skip
def test_of_two_simultaneous_actions_one_wins_and_the_other_names_the_winner(
    site: Site, home: Home, first: tuple[str, ...], second: tuple[str, ...]
) -> None:
    site.submit(production())
    site.fail("prod/1/1/1")
    with home.writer_lock.open("a") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        people = [type_as("anna", *first), type_as("bert", *second)]
        if first[0] == "hold":
            people.append(type_as("cleo", "hold", "prod"))
        for one in people:
            wait_until(lambda one=one: waits_for_its_turn(one, home))  # type: ignore[misc]
        fcntl.flock(turn, fcntl.LOCK_UN)
    ends = [(one.communicate(timeout=60), one.returncode) for one in people]

    assert sorted(code for _, code in ends).count(0) == 1
    winner = next(index for index, (_, code) in enumerate(ends) if code == 0)
    name = ["anna", "bert", "cleo"][winner]
    for index, ((answer, complaint), code) in enumerate(ends):
        if index != winner:
            assert (answer, code) == ("", 4)
            if index != 1 or first[0] != "hold":
                assert name in complaint
    done = read(site.store, "action", "verb", "actor")
    assert [actor for verb, actor in done if verb != "submit"] == [name]


def test_a_plan_made_before_another_acted_is_refused(site: Site) -> None:
    site.submit(production())
    plan = actions.preview(site.store, request("kill", parse("prod/1/1")), now=time.time())
    actions.apply(
        site.store, request("hold", parse("prod/1/1/1")), actor="anna", note="wait", now=time.time()
    )

    with pytest.raises(Refused, match=r"anna held `prod/1/1/1` at .* \(wait\), after the plan"):
        actions.apply(
            site.store, plan.request, actor="bert", note=None, now=time.time(), seen=plan.seen
        )

    assert site.phase("prod/1/1/2") == "waiting"


def test_actions_on_other_packages_do_not_conflict(site: Site) -> None:
    site.submit(production())
    plan = actions.preview(site.store, request("kill", parse("prod/1/1")), now=time.time())
    actions.apply(
        site.store, request("hold", parse("prod/1/2")), actor="anna", note=None, now=time.time()
    )
    actions.apply(site.store, request("priority", parse("prod"), priority=9), actor="anna",
                note=None, now=time.time())  # fmt: skip

    actions.apply(
        site.store, plan.request, actor="bert", note=None, now=time.time(), seen=plan.seen
    )

    assert site.phase("prod/1/1/2") == "canceled"


def test_the_second_person_reads_who_was_first(site: Site, d0ctl: Type, home: Home) -> None:
    site.submit(production())
    with open_store(home) as store:
        asked = request("kill", parse("prod/1/2"))
        actions.apply(store, asked, actor="anna", note="bad run", now=time.time())

    answer = d0ctl("hold", "prod/1/2/1").stderr

    assert (
        "package `prod/1/2/1` is canceled, so it can't be held; anna killed `prod/1/2` at" in answer
    )
    assert answer.splitlines()[0].endswith("(bad run)")


@pytest.mark.parametrize(
    ("reason", "end"), [((), ""), (("--reason", "wrong; file"), " (reason: wrong; file)")]
)
def test_the_status_that_a_person_has_set_is_named_apart_from_the_reason(
    site: Site, d0ctl: Type, reason: tuple[str, ...], end: str
) -> None:
    site.submit(job(("a", [line(package("x")), line(package("y"))])))
    d0ctl("set-status", "prod", "canceled", *reason)

    first, *_ = d0ctl("edit", "prod", "--cpus", "1").stderr.splitlines()

    said = r"d0ctl: no packages of `prod` can be edited: 2 canceled; \w+ set the status of `prod` "
    assert re.fullmatch(said + rf"to canceled at [\d:]+{re.escape(end)}", first)


IN_THE_WAY = {
    "hold": {"hold", "release", "finish", "remove"},
    "release": {"hold", "release", "finish", "remove"},
    "pause": {"pause", "resume", "finish", "remove"},
    "resume": {"pause", "resume", "finish", "remove"},
    "finish": {"hold", "release", "pause", "resume", "finish", "retry", "remove"},
    "priority": {"priority", "remove"},
    "remove": {"hold", "release", "pause", "resume", "finish", "retry", "priority", "remove"},
}
"""Which verbs of somebody else, done to the same job meanwhile, refuse a verb for whole jobs."""


@pytest.mark.parametrize("first", sorted(IN_THE_WAY | {"retry": set()}))
@pytest.mark.parametrize("second", sorted(IN_THE_WAY))
def test_a_verb_for_a_job_is_refused_after_a_conflicting_one(
    site: Site, first: str, second: str
) -> None:
    site.submit(production())
    seen = audit.latest(site.store)
    with site.store.writing():
        lifecycle.keep_action(site.store, verb=first, target="prod", actor="anna", note=None,
                              packages=1, now=time.time())  # fmt: skip
    more = {"priority": 9} if second == "priority" else {}
    asked = request(second, parse("prod"), **more)

    if first in IN_THE_WAY[second]:
        with pytest.raises(Refused, match="anna"):
            conflict.refuse_second(site.store, asked, seen, time.time())
    else:
        conflict.refuse_second(site.store, asked, seen, time.time())


def test_killing_a_whole_job_reports_what_was_done_to_a_part_of_it(site: Site) -> None:
    site.submit(production())
    seen = audit.latest(site.store)
    asked = request("hold", parse("prod/1/1/1"))
    actions.apply(site.store, asked, actor="anna", note=None, now=time.time())

    with pytest.raises(Refused, match="anna held `prod/1/1/1`"):
        conflict.refuse_second(site.store, request("kill", parse("prod")), seen, time.time())
