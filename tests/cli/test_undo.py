"""What is printed of the command that undoes an action."""

import json
import shlex

import pytest

from d0ctl.model import Address
from d0ctl.store.nodes import registry
from tests.cli.conftest import Type
from tests.support.building import document, production
from tests.support.site import Site


@pytest.mark.parametrize(
    "verb, undoes, state", [("hold", "release", "held"), ("kill", "retry", "canceled")]
)
def test_the_undo_of_many_selectors_is_short_and_history_has_the_whole(
    verb: str, undoes: str, state: str, site: Site, d0ctl: Type
) -> None:
    site.submit(production(lines=60))
    scattered = [f"prod/1/{number}/1" for number in range(1, 60, 2)]

    result = d0ctl(verb, *scattered, "--yes")

    assert result.stderr.splitlines()[0] == (
        f"to undo: d0ctl {undoes} prod/1/1/1:{state} prod/1/3/1:{state} prod/1/5/1:{state} ... "
        "(30 selectors): the whole command is `undo` of the first of `actions` in "
        "`d0ctl history prod --json`"
    )
    whole = shlex.split(json.loads(d0ctl("history", "prod", "--json").stdout)["actions"][0]["undo"])
    assert whole[:2] == ["d0ctl", undoes] and len(whole) == 32
    assert d0ctl(*whole[1:]).exit_code == 0
    assert {site.phase(path) for path in scattered} == {"ready"}


def test_the_undo_of_many_selectors_of_any_jobs_is_in_the_history_of_all(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production(lines=60))
    d0ctl("hold", *(f"prod/1/{number}/1" for number in range(1, 60, 2)))

    result = d0ctl("hold", "*:ready", "--yes")

    assert result.stderr.splitlines()[0].endswith("in `d0ctl history --json`")
    action = document(d0ctl("history", "--json").stdout)["actions"][0]
    assert (action["target"], len(shlex.split(action["undo"]))) == ("*:ready", 32)


def test_the_undo_of_twenty_selectors_is_printed_whole(site: Site, d0ctl: Type) -> None:
    site.submit(production(lines=60))
    scattered = [f"prod/1/{number}/1" for number in range(1, 40, 2)]

    result = d0ctl("hold", *scattered)

    words = " ".join(f"{path}:held" for path in scattered)
    assert result.stderr.splitlines()[0] == f"to undo: d0ctl release {words}"


def undone(d0ctl: Type, *command: str) -> str:
    """Type an action, and the command that it offers to undo it; what that was."""
    offered = next(text for text in d0ctl(*command, "--yes").stderr.splitlines() if "undo" in text)
    words = shlex.split(offered.removeprefix("to undo: "))
    result = d0ctl(*words[1:], "--yes")
    assert result.exit_code == 0, result.stderr
    return shlex.join(words[1:])


@pytest.mark.parametrize("command, offered", [
    ("hold one two", "release one two"),
    ("hold '*'", "release two one"),
    ("hold one/1 two/2", "release one/1:held"),
    ("kill one two", "retry one:canceled"),
    ("finish one two", "retry one:canceled"),
    ("hold one/1/1 one/make/2 two/1", "release one/1/1:held one/make/2:held"),
    ("priority one two 70", "priority one 50"),
])  # fmt: skip
def test_the_undo_names_only_what_was_changed(
    command: str, offered: str, site: Site, d0ctl: Type
) -> None:
    site.submit(production("one"))
    site.submit(production("two"))
    if "hold one two" not in command and "*" not in command:
        d0ctl("kill", "two", "--yes")
        d0ctl("priority", "two", "70")

    assert undone(d0ctl, *shlex.split(command)) == offered


def test_the_undo_of_released_packages_holds_these_and_not_their_job(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production("one", lines=30))
    d0ctl("hold", "one/1/1-2/1")

    assert undone(d0ctl, "release", "one:held") == "hold one/1/1-2/1"
    assert not document(d0ctl("status", "one", "--json").stdout)["held"]
    d0ctl("hold", "one/1")
    assert undone(d0ctl, "release", "one:held") == "hold one/1/1-30/1-2"


def test_the_undo_of_a_pattern_names_only_the_lines_and_packages_that_it_changed(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production("one", lines=6))
    for number in (2, 3):
        site.fail(f"one/1/{number}/1")
    d0ctl("kill-line", "one/1/6", "--drop-outputs")

    dropped = undone(d0ctl, "kill-line", "one/1/*:failed", "--drop-outputs")
    d0ctl("kill-line", "one/1/*:failed", "--drop-outputs", "--yes")
    restored = undone(d0ctl, "restore-line", "one/1/2-3")
    d0ctl("hold", "one/1/5/1")
    released = undone(d0ctl, "release", "one/1/*")
    d0ctl("hold", "one/1/5/1")
    held = undone(d0ctl, "hold", "one/1/4-5/1")

    assert (dropped, restored) == (
        "restore-line one/1/2-3 --again", "kill-line one/1/2-3 --drop-outputs",
    )  # fmt: skip
    assert (released, held) == ("hold one/1/5/1", "release one/1/4/1")


def test_the_undo_of_a_resume_pauses_running_packages_if_they_were_paused(
    site: Site, d0ctl: Type
) -> None:
    site.up(cpus=2)
    site.submit(production("one"))
    site.launch("one/1/1/1")

    d0ctl("pause", "one", "--running")
    assert undone(d0ctl, "resume", "one") == "pause one --running"
    d0ctl("resume", "one")
    d0ctl("pause", "one")
    assert undone(d0ctl, "resume", "one") == "pause one"


def test_each_of_several_jobs_is_named_with_the_priority_it_had(site: Site, d0ctl: Type) -> None:
    site.submit(production("alpha", priority=10))
    site.submit(production("beta", priority=90))

    plan = d0ctl("priority", "beta", "alpha", "50", "--dry-run").stdout
    result = d0ctl("priority", "beta", "alpha", "50")

    change = "priority of jobs `beta` (90) and `alpha` (10) -> 50"
    assert change in plan and result.stdout.splitlines() == [change]
    undo = "d0ctl priority beta 90 && d0ctl priority alpha 10"
    assert f"to undo: {undo}" in result.stderr
    assert document(d0ctl("history", "beta", "--json").stdout)["actions"][0]["undo"] == undo
    assert f"to undo: {undo}" in " ".join(d0ctl("history").stdout.split())
    assert f"50; to undo: {undo}" in " ".join(d0ctl("history", "alpha").stdout.split())


def test_no_undo_brings_back_what_was_canceled_before(site: Site, d0ctl: Type) -> None:
    site.submit(production(lines=60))
    d0ctl("kill", "prod/1/7", "--yes")

    result = d0ctl("finish", "prod", "--yes")

    before = "can't be undone by one command: 2 packages had been canceled before"
    assert before in result.stdout + result.stderr
    assert "to undo" not in result.stderr


def test_a_finish_that_cancels_nothing_names_no_undo(site: Site, d0ctl: Type) -> None:
    site.submit(production(lines=1))
    site.launch("prod/1/1/1")
    d0ctl("kill", "prod:waiting", "--yes")

    plan = d0ctl("finish", "prod", "--dry-run")
    result = d0ctl("finish", "prod", "--yes")
    hard = d0ctl("finish", "prod", "--hard", "--yes")

    assert "undo" not in plan.stdout + plan.stderr + result.stdout + result.stderr
    before = "can't be undone by one command: 3 packages had been canceled before"
    assert before in hard.stdout + hard.stderr and "to undo" not in hard.stderr


@pytest.mark.parametrize("target", ["prod/1", "prod/1:ready,waiting", "prod/1/*"])
def test_the_undo_names_the_killed_packages_beside_one_canceled_before(
    target: str, site: Site, d0ctl: Type
) -> None:
    site.submit(production(lines=60))
    d0ctl("kill", "prod/1/2", "--yes")

    undo = undone(d0ctl, "kill", target)

    assert undo == "retry prod/1/1/1-2:canceled prod/1/3-60/1-2:canceled"
    assert site.phase("prod/1/2/1") == "canceled"


def test_the_undo_of_an_edit_leaves_alone_what_no_node_could_take_and_what_is_running(
    site: Site, d0ctl: Type
) -> None:
    site.up(cpus=4)
    site.submit(production(lines=3))
    site.launch("prod/1/2/1")
    registry.add(site.store, Address("small", "ssh", "small"), cpus=2)
    d0ctl("edit", "prod/1/1/1", "--on", "small", "--cpus", "2")
    d0ctl("edit", "prod/1/3/1", "--cpus", "2")

    assert undone(d0ctl, "edit", "prod/1/*/1", "--cpus", "3") == "edit prod/1/3/1 --cpus 2"
