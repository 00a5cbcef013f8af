"""hold, release, kill, kill-line and remove, as they are typed."""

import shlex
import time

import pytest

from d0ctl.actions import ACTIONS
from d0ctl.actions.option import fields_of
from d0ctl.store.attempts.launching import launches
from d0ctl.store.nodes import registry
from tests.cli.building import Site, document, job, line, package, production
from tests.cli.conftest import Type


def test_a_whole_job_is_held_by_its_flag(site: Site, d0ctl: Type) -> None:
    site.submit(production())

    result = d0ctl("hold", "prod", "--reason", "disk check")

    assert result.exit_code == 0
    assert result.stdout == "held job `prod`\n"
    assert site.phase("prod/1/1/1") == "ready"
    held = document(d0ctl("status", "prod", "--json").stdout)["held"]
    assert held["reason"] == "disk check"
    assert d0ctl("release", "prod").stdout == "released job `prod`\n"
    assert document(d0ctl("status", "prod", "--json").stdout)["held"] is None


def test_a_held_job_is_not_held_again(site: Site, d0ctl: Type) -> None:
    site.submit(production(), hold=True)

    result = d0ctl("hold", "prod")

    assert result.exit_code == 4
    assert "is held by me (held at submission), so it can't be held again" in result.stderr


def test_part_of_a_job_is_held_by_its_packages(site: Site, d0ctl: Type) -> None:
    site.submit(production())

    d0ctl("hold", "prod/1/1-2")

    assert [site.phase(f"prod/1/{n}/1") for n in (1, 2, 3)] == ["held", "held", "ready"]
    refused = d0ctl("release", "prod")
    assert refused.exit_code == 4
    assert "4 packages are held: `d0ctl release 'prod:held'`" in refused.stderr
    d0ctl("release", "prod:held")
    assert [site.phase(f"prod/1/1/{n}") for n in (1, 2)] == ["ready", "waiting"]


def test_what_has_ended_is_not_held(site: Site, d0ctl: Type) -> None:
    site.submit(job(("a", [line(package("x"))])))
    site.finish("prod/1/1/1")

    assert d0ctl("hold", "prod").stderr.startswith(
        "d0ctl: job `prod` is successful, so it can't be held"
    )
    assert d0ctl("hold", "prod/1/1/1").exit_code == 4


def test_a_launched_package_is_killed_by_its_wrapper(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.launch("prod/1/1/1")

    result = d0ctl("kill", "prod/1/1/1")

    assert result.exit_code == 0
    assert "1 package is being killed on" in result.stdout
    assert site.phase("prod/1/1/1") == "killing"
    assert document(d0ctl("status", "prod/1/1/1", "--json").stdout)["request"] == "kill"
    assert d0ctl("kill", "prod/1/1/1").exit_code == 0
    assert d0ctl("kill", "prod/1/1/1").stderr.startswith(
        "d0ctl: package `prod/1/1/1` is already being killed"
    )
    site.end("prod/1/1/1", "killed", reason="killed")
    assert site.phase("prod/1/1/1") == "canceled"


def test_what_is_successful_is_not_killed(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.finish("prod/1/1/1")

    result = d0ctl("kill", "prod/1/1/1")

    assert result.exit_code == 4
    assert result.stderr == (
        "d0ctl: package `prod/1/1/1` is successful, so it can't be killed\nd0ctl why prod/1/1/1\n"
    )


def test_a_job_is_killed_as_far_as_it_has_not_ended(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.finish("prod/1/1/1")
    site.fail("prod/1/2/1")

    d0ctl("kill", "prod")

    packages = document(d0ctl("status", "prod", "--json").stdout)["packages"]
    assert (packages["successful"], packages["failed"], packages["canceled"]) == (1, 1, 6)
    assert d0ctl("kill", "prod").exit_code == 4


def test_a_dry_run_changes_nothing(site: Site, d0ctl: Type) -> None:
    site.submit(production())

    for words in (["hold", "prod"], ["hold", "prod/1"], ["kill", "prod"], ["remove", "prod"],
                  ["kill-line", "prod/1/1", "--drop-outputs"]):  # fmt: skip
        assert d0ctl(*words, "--dry-run").stdout.startswith("would ")

    assert document(d0ctl("status", "prod", "--json").stdout)["packages"]["unscheduled"] == 8
    assert document(d0ctl("status", "prod", "--json").stdout)["held"] is None
    assert len(document(d0ctl("history", "prod", "--json").stdout)["actions"]) == 1


def test_the_plan_of_a_drop_says_who_loses_what_and_who_can_start(site: Site, d0ctl: Type) -> None:
    site.submit(production(lines=2))
    site.finish("prod/1/1/1")
    site.finish("prod/1/1/2")
    site.fail("prod/1/2/1")

    result = d0ctl("kill-line", "prod/1/2", "--drop-outputs", "--dry-run")

    assert result.stdout == (
        "would drop 2 packages: 1 failed, 1 waiting\n"
        "  prod/1/2/1  failed\n"
        "  prod/1/2/2  waiting\n"
        "removed from the inputs of later packages: 2 files\n"
        "  gen-2\n"
        "  sim-2\n"
        "going on without these files: 1 package\n"
        "  prod/2/1/1 loses 1 input, keeps 1, and can start now\n"
    )


def test_a_dropped_line_lets_the_merge_go_on(site: Site, d0ctl: Type) -> None:
    site.submit(production(lines=2))
    for path in ("prod/1/1/1", "prod/1/1/2"):
        site.finish(path)
    site.fail("prod/1/2/1")

    d0ctl("kill-line", "prod/1/2", "--drop-outputs", "--reason", "bad run")

    assert site.phase("prod/2/1/1") == "ready"
    site.finish("prod/2/1/1")
    site.finish("prod/3/1/1")
    answer = document(d0ctl("status", "prod", "--json").stdout)
    assert (answer["status"], answer["dropped"]) == ("successful", 1)
    again = d0ctl("kill-line", "prod/1/2", "--drop-outputs")
    assert again.exit_code == 4
    assert "line `prod/1/2` is already dropped" in again.stderr
    assert d0ctl("kill-line", "prod/1/2").exit_code == 4


def test_a_drop_takes_along_what_cannot_do_without(site: Site, d0ctl: Type) -> None:
    site.submit(production(lines=1))

    preview = d0ctl("kill-line", "prod/1/1", "--drop-outputs", "--dry-run").stdout
    d0ctl("kill-line", "prod/1/1", "--drop-outputs")

    assert "also dropped, because their inputs are: 2 packages" in preview
    assert site.phase("prod/2/1/1") == "dropped"
    assert site.phase("prod/3/1/1") == "dropped"
    answer = document(d0ctl("status", "prod", "--json").stdout)
    assert (answer["status"], answer["dropped"]) == ("canceled", 3)


def test_without_drop_outputs_the_consumers_stay_waiting(site: Site, d0ctl: Type) -> None:
    site.submit(production(lines=2))
    site.fail("prod/1/1/1")

    result = d0ctl("kill-line", "prod/1/1")

    assert result.exit_code == 0
    assert [site.phase(f"prod/1/1/{n}") for n in (1, 2)] == ["canceled", "canceled"]
    assert site.phase("prod/2/1/1") == "waiting"


def test_a_successful_line_can_be_dropped_and_stays_successful(site: Site, d0ctl: Type) -> None:
    site.submit(production(lines=2))
    site.finish("prod/1/1/1")
    site.finish("prod/1/1/2")

    assert d0ctl("kill-line", "prod/1/1", "--drop-outputs").exit_code == 0

    assert site.phase("prod/1/1/2") == "done"
    inputs = document(d0ctl("status", "prod/2/1/1", "--json").stdout)["inputs"]
    assert {one["file"]: one["dropped"] for one in inputs} == {"sim-1": True, "sim-2": False}
    assert document(d0ctl("status", "prod", "--json").stdout)["dropped"] == 1


def test_a_line_in_which_nothing_is_left_to_kill_is_told_so(site: Site, d0ctl: Type) -> None:
    site.submit(production(lines=2))
    site.finish("prod/1/1/1")
    site.finish("prod/1/1/2")

    killed = d0ctl("kill-line", "prod/1/1")

    assert killed.exit_code == 0
    assert killed.stdout == "nothing to kill in `prod/1/1`\nunchanged: 2 done\n"
    assert "to undo" not in killed.stderr
    dropped = d0ctl("kill-line", "prod/1/1", "--drop-outputs")
    assert dropped.stdout.startswith(
        "dropped the files of `prod/1/1`; there was no package to drop\nunchanged: 2 done\n"
    )
    assert d0ctl("kill-line", "prod/1/1", "--drop-outputs").exit_code == 4


def test_an_end_that_cancels_nothing_is_told_so(site: Site, d0ctl: Type) -> None:
    site.submit(job(("a", [line(package("x"))])))
    site.launch("prod/1/1/1")

    finished = d0ctl("finish", "prod")

    assert finished.stdout == "finished job `prod`\nno package canceled, 1 still running\n"


@pytest.mark.parametrize("selector", ["prod", "prod/1", "prod/1/1/1"])
def test_kill_line_takes_lines_only(site: Site, d0ctl: Type, selector: str) -> None:
    site.submit(production())

    assert d0ctl("kill-line", selector).exit_code == 2


def test_a_job_with_launched_packages_is_not_removed(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.launch("prod/1/1/1")

    result = d0ctl("remove", "prod")

    assert result.exit_code == 4
    assert result.stderr == (
        "d0ctl: job `prod` has 1 launched package, so it can't be removed\nd0ctl kill prod\n"
    )


def test_a_removed_job_is_gone_and_its_name_is_free(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.finish("prod/1/1/1")

    result = d0ctl("remove", "prod")

    assert result.stdout == "removed job `prod`\n"
    assert d0ctl("status", "prod").exit_code == 3
    site.store.connection.execute("update node set base = null")  # it was never on a disk
    assert document(d0ctl("doctor", "--json").stdout)["ok"]
    site.submit(production())


def test_part_of_a_job_is_not_removed(site: Site, d0ctl: Type) -> None:
    site.submit(production())

    assert d0ctl("remove", "prod/1").exit_code == 2


def test_who_did_what_and_why_is_kept(site: Site, d0ctl: Type) -> None:
    site.submit(production())

    d0ctl("kill", "prod/1/1/1", "--reason", "wrong seed")

    (action,) = [one for one in document(d0ctl("history", "prod", "--json").stdout)["actions"]
                 if one["verb"] == "kill"]  # fmt: skip
    assert (action["target"], action["reason"], action["packages"]) == (
        "prod/1/1/1", "wrong seed", 1,
    )  # fmt: skip
    answer = d0ctl("why", "prod/1/1/1").stdout
    assert "was canceled by" in answer
    assert "wrong seed" in answer


def test_a_verb_for_nothing_finds_nothing(site: Site, d0ctl: Type) -> None:
    site.submit(production())

    assert d0ctl("kill", "prod:failed").exit_code == 3
    assert d0ctl("kill", "none").exit_code == 3
    assert d0ctl("release", "prod/1/1/1").exit_code == 4
    assert d0ctl("kill").exit_code == 2


def test_verbs_need_a_home(d0ctl: Type) -> None:
    assert d0ctl("kill", "prod").exit_code == 5


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["hold", "prdo"], "there is no job `prdo`\ndid you mean `prod`?"),
        (["kill", "prod/mkae"], "has no stage `mkae`\ndid you mean `make`?"),
        (
            ["kill", "prod:failed"],
            "matches `prod:failed`\n`prod` has 3 ready, 5 waiting",
        ),
        (["kill", "prod/2:held"], "`prod/2` has 1 waiting"),
        (["pause", "prod/7-9"], "job `prod` has stages 1 to 3"),
        (["kill", "prod/1/8-9"], "stage `prod/1` has lines 1 to 3"),
        (["retry", "prod", "--failed-for", "lost"], "none of it has failed"),
        (["hold", "prod", "--node", "localhots"], "did you mean `localhost`?"),
    ],
)
def test_a_selector_that_matches_nothing_is_told_the_nearest(
    site: Site, d0ctl: Type, words: list[str], expected: str
) -> None:
    site.submit(production())

    result = d0ctl(*words)

    assert result.exit_code == 3
    assert expected in result.stderr


def test_a_launch_that_failed_is_a_request_that_failed(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    here = registry.named(site.store, "localhost")["id"]
    for path, words in (("prod/1/1/1", "submit failed"), ("prod/1/2/1", "resubmit failed")):
        if words.startswith("re"):
            site.fail(path)
            d0ctl("retry", path)
        site.up()
        site.assign(path)
        with site.store.writing():
            (launch,) = launches.launch(site.store, here, limit=10, now=time.time())
            launches.refuse(site.store, here, launch["attempt"], "disk-full", "no space",
                            now=time.time())  # fmt: skip

        answer = document(d0ctl("status", path, "--json").stdout)

        assert (answer["phase"], answer["request"]) == ("cooloff", f"{words}: disk-full: no space")


def test_what_is_asked_for_is_seen_at_once_and_gone_when_it_is_done(
    site: Site, d0ctl: Type
) -> None:
    def request(path: str) -> str | None:
        answer: str | None = document(d0ctl("status", path, "--json").stdout)["request"]
        return answer

    site.submit(production())
    site.launch("prod/1/1/1")
    d0ctl("pause", "prod/1/1/1", "--running")
    assert request("prod/1/1/1") == "pause"
    d0ctl("resume", "prod/1/1/1")
    assert request("prod/1/1/1") == "resume"
    d0ctl("kill", "prod/1/1/1", "--yes")
    assert request("prod/1/1/1") == "kill"
    site.end("prod/1/1/1", "killed", reason="killed")
    assert request("prod/1/1/1") is None

    site.fail("prod/1/2/1")
    d0ctl("retry", "prod/1/2/1")
    assert request("prod/1/2/1") == "resubmit"
    site.launch("prod/1/2/1")
    assert request("prod/1/2/1") is None


def test_what_has_been_made_is_kept_where_that_is_asked_for(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    attempt = site.launch("prod/1/1/1")

    d0ctl("kill", "prod/1/1/1", "--partial")

    here = registry.named(site.store, "localhost")["id"]
    assert launches.killing(site.store, here) == {attempt: "kill partial"}


@pytest.mark.parametrize(
    "again",
    [["kill", "prod/1/1/1"], ["kill-line", "prod/1/1"], ["finish", "prod", "--hard"],
     ["finish", "prod/1/1/1", "--hard"]],
    ids=" ".join,
)  # fmt: skip
def test_an_end_that_keeps_outputs_is_hastened_by_another(
    site: Site, d0ctl: Type, again: list[str]
) -> None:
    site.submit(production())
    attempt = site.launch("prod/1/1/1")
    here = registry.named(site.store, "localhost")["id"]
    d0ctl("kill", "prod/1/1/1", "--partial")

    assert d0ctl(*again, "--yes").exit_code == 0
    assert launches.killing(site.store, here) == {attempt: "kill"}
    d0ctl("kill", "prod/1/1/1")
    assert launches.killing(site.store, here) == {attempt: "kill now"}
    assert d0ctl("kill", "prod/1/1/1").exit_code == 4
    assert d0ctl("kill", "prod/1/1/1", "--partial").exit_code == 4
    assert launches.killing(site.store, here) == {attempt: "kill now"}


def test_a_kill_does_not_hasten_what_it_has_just_begun_to_end(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    attempt = site.launch("prod/1/1/1")

    d0ctl("kill", "prod")

    here = registry.named(site.store, "localhost")["id"]
    assert launches.killing(site.store, here) == {attempt: "kill"}


def test_a_line_that_is_dropped_while_it_is_killed_at_once_stays_so(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production())
    attempt = site.launch("prod/1/1/1")
    d0ctl("kill", "prod/1/1/1")
    d0ctl("kill", "prod/1/1/1")

    d0ctl("kill-line", "prod/1/1", "--drop-outputs")

    here = registry.named(site.store, "localhost")["id"]
    assert launches.killing(site.store, here) == {attempt: "drop now"}


def test_status_and_why_say_until_when_a_binary_may_end_by_itself(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.launch("prod/1/1/1")

    plan = d0ctl("kill", "prod/1/1/1", "--partial", "--dry-run").stdout
    d0ctl("kill", "prod/1/1/1", "--partial")

    assert "a running binary has 1 min 00 s to end by itself" in plan
    for answer in (d0ctl("status", "prod/1/1/1").stdout, d0ctl("why", "prod/1/1/1").stdout):
        assert "its binary may end by itself until" in answer
    assert "d0ctl kill prod/1/1/1" in d0ctl("why", "prod/1/1/1").stdout


def test_the_help_of_every_action_has_an_example_that_is_accepted(site: Site, d0ctl: Type) -> None:
    for name, action in ACTIONS.items():
        reply = d0ctl(*name.split(), "--help").stdout

        example = reply.partition("Example: d0ctl ")[2].partition("\n\n")[0]
        words = shlex.split(" ".join(example.split()))
        assert " ".join(words).startswith(f"{name} ")
        code = {"node add": 0, "submit": 2}.get(name, 3)
        assert d0ctl(*words, "--dry-run").exit_code == code, name
        assert "Exit status: 0 done" in reply
        first = reply.splitlines()[2].strip()
        assert (first, first[-1]) == (action.help, ".")


def test_no_two_actions_have_the_same_key_or_title() -> None:
    found = list(ACTIONS.values())
    keys = [("node" in action.level, action.key) for action in found if action.key]

    assert len(set(keys)) == len(keys)
    assert len({action.title for action in found}) == len(found)


def test_the_file_of_an_action_has_its_name() -> None:
    assert [action.name for action in ACTIONS.values()] == list(ACTIONS)
    assert {"submit", "node add", "file set-disposition", "kill-line"} <= set(ACTIONS)


@pytest.mark.parametrize("name", ACTIONS)
def test_the_ways_of_an_action_are_its_flags(name: str) -> None:
    action = ACTIONS[name]
    flags = {each.option.name for each in fields_of(action.options) if each.option.kind == "flag"}

    assert all(way.flags <= flags for way in action.ways)
    assert len({way.flags for way in action.ways}) == len(action.ways)


def test_a_flag_that_no_way_has_is_the_default(d0ctl: Type) -> None:
    for name, action in ACTIONS.items():
        if not action.ways:
            continue
        flags = {f.option.name for f in fields_of(action.options) if f.option.kind == "flag"}
        offered = frozenset[str]().union(*(way.flags for way in action.ways))
        for left in flags - offered:
            answer = " ".join(d0ctl(*name.split(), "--help").stdout.split())
            assert "(default)" in answer.partition(left)[2].partition("--")[0]


def test_a_verb_without_effect_leaves_the_end_of_a_job_alone(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.store.connection.execute("update package set phase = 'ready' where phase = 'waiting'")
    site.store.connection.execute("update package set phase = 'canceled'")
    site.store.connection.execute("update job set ended = 7.0")

    d0ctl("kill-line", "prod/1/1")
    d0ctl("kill", "prod")

    assert site.store.connection.execute("select ended from job").fetchone()[0] == 7.0
