"""`why` at a site with seven causes planted, each of which it has to name as a person would."""

import re
import time
from collections.abc import Iterator

import pytest

from d0ctl import actions
from d0ctl.actions import request
from d0ctl.model import Address
from d0ctl.select import parse
from d0ctl.store.nodes import contact, leases, registry
from tests.cli.conftest import Type
from tests.cli.test_check import drive
from tests.store.requiring import end_all, go_on, merge
from tests.support.building import job, line, package, production
from tests.support.site import Site

NOW = 1_790_000_000.0
TIME = r"\d\d:\d\d:\d\d"


@pytest.fixture
def planted(site: Site) -> Iterator[Site]:
    """A production in which seven things are in the way of seven packages.

    Line 1 failed, and so its second package waits; 2 is held by a person; 3 cools off; 4 asks
    for a platform that no node has; 5 is ready while all slots are taken, by 6; 7 was dropped,
    and the merge waits for what is left.
    """
    store = site.store
    site.up(cpus=1)
    for name in ("farm02", "farm03"):
        registry.add(store, Address(name, destination=name), cpus=1)
    site.up("farm02", machine_id="m2")
    with store.writing():
        leases.take_lease(store, "daemon", now=NOW)
        contact.down(store, registry.named(store, "farm03").id, "no route to host", now=NOW)
        store.change(
            "drain_node", node=registry.named(store, "farm02").id, note="new disk", now=NOW
        )
    lines = [line(package(f"gen-{n}"), package(f"reco-{n}", needs=[f"gen-{n}"])) for n in (1, 2, 3)]
    lines.append(line(package("gen-4", platform="linux-aarch64")))
    lines += [line(package(f"gen-{n}")) for n in (5, 6, 7)]
    made = [f"reco-{n}" for n in (1, 2, 3)] + [f"gen-{n}" for n in (4, 5, 6, 7)]
    site.submit(job(("chain", lines), ("merge", [line(package("all.root", takes=made))]),
                    name="reco001"))  # fmt: skip
    site.fail("reco001/1/1/1", stderr="no such field\n")
    _do(site, "hold", "reco001/1/2/1", "bad seed")
    site.fail("reco001/1/3/1", reason="stage-in", detail="no answer of root://se", binary=None)
    _do(site, "kill-line", "reco001/1/7", "bad sample", drop_outputs=True)
    site.launch("reco001/1/6/1")
    yield site


def _do(site: Site, verb: str, target: str, note: str, **more: bool) -> None:
    asked = request(verb, parse(target), **more)
    actions.apply(site.store, asked, actor="emmy", note=note, now=time.time())


CAUSES = {
    "reco001/1/1/1": (
        "package `reco001/1/1/1` failed: exit-code: binary 1 (tool) ended with exit code 3",
        ["on node `localhost`, TIME in binary 1, attempt 1",
         "`reco001/1/1/2` waits for its files",
         "the policy (default) does not retry `exit-code`",
         "a plain retry may fail again: fix the cause, then `d0ctl retry reco001/1/1/1`"],
        "d0ctl logs reco001/1/1/1",
    ),
    "reco001/1/2/1": (
        "package `reco001/1/2/1` has been held by emmy since TIME: bad seed", [],
        "d0ctl release reco001/1/2/1",
    ),
    "reco001/1/3/1": (
        "package `reco001/1/3/1` is cooling off until TIME (try 1 of 10), "
        "after stage-in: no answer of root://se",
        [], "d0ctl retry reco001/1/3/1",
    ),
    "reco001/1/4/1": (
        "package `reco001/1/4/1` is ready, and no node can take it",
        ["node `localhost` is ruled out: platform linux-x86_64, not linux-aarch64",
          "node `farm02` is drained: new disk",
          "node `farm03` has been down since TIME: no route to host",
         "without its platform, `localhost` could take it"],
        "d0ctl node list",
    ),
    "reco001/1/5/1": (
        "package `reco001/1/5/1` is ready, and no slot is free on `localhost`",
        ["node `farm02` is drained: new disk",
         "node `localhost` has 1/1 slots in use: 1 package of `reco001`"],
        "d0ctl node resume farm02   # once its reason no longer holds",
    ),
    "reco001/1/7/1": (
        "package `reco001/1/7/1` was dropped by emmy, TIME: bad sample",
        ["its line is dropped: packages that can run without it do so"],
        "d0ctl restore-line reco001/1/7",
    ),
    "reco001/2/1/1": (
        "package `reco001/2/1/1` waits for file `reco-1` of `reco001/1/1/2`, which is waiting",
        ["the cause is `reco001/1/1/1`, which is failed",
         "it will run with 6 of 7 inputs, missing: gen-7; "
         "to get it: `d0ctl restore-line reco001/1/7`",
         "line `reco001/1/1` can be dropped: packages that can run without it do so"],
        "d0ctl kill-line reco001/1/1 --drop-outputs",
    ),
    "reco001:reco-1": (
        "file `reco-1` of job `reco001` does not exist yet: its maker `reco001/1/1/2` is blocked: "
        "it waits for package `reco001/1/1/1` before it in its line, which is failed",
        ["`reco001/2/1/1` waits for it and for 5 more files"],
        "d0ctl kill-line reco001/1/1 --drop-outputs",
    ),
}  # fmt: skip
"""What was asked about, and what is to be answered: the sentence, facts among others, a command."""


@pytest.mark.parametrize("asked", CAUSES)
def test_each_cause_is_named_with_a_command(planted: Site, d0ctl: Type, asked: str) -> None:
    answer, facts, command = CAUSES[asked]

    reply = re.sub(rf"\d\d \w\w\w (\d{{4}} )?\d\d:\d\d\b|{TIME}", "TIME",
                  d0ctl("why", asked).stdout)  # fmt: skip

    lines = reply.splitlines()
    assert answer in lines[:2]  # the card of a file begins with its line
    assert [fact for fact in facts if f"- {fact}" not in lines] == []
    assert f"  $ {command}" in lines
    for typed in [row.strip() for row in lines if row.startswith("  d0ctl ")]:
        assert "`" not in typed


def test_every_cause_is_there_for_scripts_as_well(planted: Site, d0ctl: Type) -> None:
    import json

    def details(asked: str) -> dict[str, object]:
        found: dict[str, object] = json.loads(d0ctl("why", asked, "--json").stdout)["details"]
        return found

    assert details("reco001/1/2/1")["held"]["by"] == "emmy"  # type: ignore[index]
    assert str(details("reco001/1/3/1")["until"]).endswith("Z")
    assert details("reco001/1/5/1")["is_no_node_free"] is True
    nodes_told = details("reco001/1/4/1")["nodes"]
    assert [one["against"] is not None for one in nodes_told] == [True, True, True]  # type: ignore[attr-defined]
    wants = details("reco001/2/1/1")["waits_for"]
    assert {"file": "gen-5", "maker": "reco001/1/5/1", "phase": "ready"} in wants  # type: ignore[operator]


def test_several_packages_are_listed_counted_and_explained(planted: Site, d0ctl: Type) -> None:
    """Lists and ranges of numbers are taken by every command that reads."""
    paths = [f"reco001/1/{line}/1" for line in (1, 2, 7)]

    listed = d0ctl("status", "reco001/1/1-2,7/1").stdout
    why = d0ctl("why", "reco001/1/1-2,7/1")

    assert [row.split()[0] for row in listed.splitlines()] == paths
    answer, *facts = why.stdout.splitlines()
    assert answer == (
        "3 packages of `reco001/1/1-2/1 reco001/1/7/1`: 1 unscheduled, 1 failed and 1 canceled"
    )
    assert [fact.split()[2] for fact in facts if fact.startswith("- ")] == [
        f"`{path}`" for path in paths
    ]
    assert "exit-code" in d0ctl("history", "reco001/1/1,2/1").stdout
    assert d0ctl("report", "failures", "reco001/1/1,2").exit_code == 0
    assert d0ctl("why", "reco001/1/1,2/9").exit_code == 3


def test_a_misspelt_node_comes_with_the_nearest_name(planted: Site, d0ctl: Type) -> None:
    assert d0ctl("why", "farm2").stderr.splitlines()[-1] == "did you mean `farm02`?"


def test_a_killed_line_that_had_failed_gives_the_reason_of_who_killed_it(
    planted: Site, d0ctl: Type
) -> None:
    _do(planted, "kill-line", "reco001/1/1", "no calibration")

    said = d0ctl("why", "reco001/1/1/1").stdout
    assert re.search(f"was canceled by emmy, {TIME}: no calibration", said)


def test_a_killed_line_that_had_failed_shows_no_remark_of_the_policy(
    planted: Site, d0ctl: Type
) -> None:
    actions.apply(planted.store, request("kill-line", parse("reco001/1/1")), actor="emmy",
                  note=None, now=time.time())  # fmt: skip

    said = d0ctl("why", "reco001/1/1/1").stdout
    assert re.search(f"was canceled by emmy, {TIME}\n", said)
    assert "remark" not in said


def test_a_running_job_names_a_package_whose_maker_was_canceled(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.launch("prod/1/2/1")
    assert "waits for" not in d0ctl("why", "prod").stdout

    d0ctl("kill", "prod/1/1", "--yes")

    answer = d0ctl("why", "prod").stdout
    assert "is running: 1 package is launched" in answer
    assert "waits for" in answer and "canceled" in answer, answer


def test_a_failure_that_was_acknowledged_says_by_whom_and_why(site: Site, d0ctl: Type) -> None:
    site.submit(production(lines=1))
    site.fail("prod/1/1/1")

    d0ctl("acknowledge", "prod/1/1/1", "--reason", "asked Emmy")

    said = d0ctl("why", "prod/1/1/1").stdout
    assert re.search(f"acknowledged by \\S+ at {TIME}: asked Emmy\n", said)


def test_a_job_says_how_many_messages_its_failures_for_a_reason_have(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production(lines=4))
    for number, detail in enumerate(("code 1", "code 2", "code 42: no table", "code 7: ls"), 1):
        site.fail(f"prod/1/{number}/1", detail=detail)

    assert "failed: 4 for exit-code (with 3 different messages)\n" in d0ctl("why", "prod").stdout


def test_a_ready_package_and_its_job_say_why_its_last_attempt_failed(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production(lines=1))
    site.fail("prod/1/1/1", reason="hook", detail="the hook of the site ended with exit code 1")
    d0ctl("retry", "prod/1/1/1")
    drive(site)
    assert site.phase("prod/1/1/1") == "ready"

    for part in ("prod/1/1/1", "prod"):
        said = d0ctl("why", part).stdout
        assert re.search(f"its last attempt failed on `localhost`, {TIME}: hook: the hook of", said)
        assert "$ d0ctl logs prod/1/1/1" in said


def test_why_of_a_node_with_another_host_key_names_the_command_that_accepts_it(
    site: Site, d0ctl: Type
) -> None:
    registry.add(site.store, Address("farm", "ssh", "farm"), cpus=1)
    with site.store.writing():
        contact.down(site.store, 2, "the host key of `farm` has changed: it is SHA256:x", now=NOW)

    assert (
        "$ d0ctl node accept-key farm   # if that is its new key\n" in d0ctl("why", "farm").stdout
    )


def test_a_retry_of_held_packages_names_the_release(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    d0ctl("hold", "prod/1/1")

    assert d0ctl("retry", "prod:held").stderr.endswith("d0ctl release prod:held\n")


@pytest.mark.parametrize(("stop", "start"), [("hold", "release"), ("pause", "resume")])
def test_why_of_a_job_names_the_command_that_undoes_the_stop_of_its_packages(
    site: Site, d0ctl: Type, stop: str, start: str
) -> None:
    site.submit(production())
    for stage in (1, 2):
        d0ctl(stop, f"prod/{stage}")

    said = d0ctl("why", "prod").stdout

    assert f"$ d0ctl {start} 'prod:held'\n" in said or f"$ d0ctl {start} prod:held\n" in said
    assert d0ctl(start, "prod:held").exit_code == 0
    assert "held" not in d0ctl("why", "prod").stdout


def test_a_line_that_its_readers_do_not_need_is_not_said_to_be_dropped_by_a_person(
    site: Site, d0ctl: Type
) -> None:
    site.submit(merge(0.8))
    end_all(site, failing=2)
    d0ctl("retry", "prod/1/9", "--reason", "my retry")
    site.fail("prod/1/9/1")
    go_on(site.store)

    answer = " ".join(d0ctl("why", "prod/1/9/1").stdout.split())

    assert "enough for its readers" in answer.partition(" - ")[0]
    assert "my retry" not in answer and "by root" not in answer
    assert "its last attempt failed: exit-code" in answer
