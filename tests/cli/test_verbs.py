"""hold, release, kill, kill-line and remove, as they are typed."""

import time
from pathlib import Path

import pytest

from d0ctl.store.attempts.launching import launches
from d0ctl.store.nodes import contact, registry
from tests.cli.conftest import Type
from tests.support.building import document, job, line, package, production
from tests.support.rows import change, value
from tests.support.site import Site


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


def test_a_job_that_is_submitted_held_says_why(site: Site, d0ctl: Type, tmp_path: Path) -> None:
    file = tmp_path / "late.yaml"
    file.write_text("job: late\nstages: [{lines: [{run: 'true', outputs: [all.txt]}]}]\n")

    assert d0ctl("submit", str(file), "--hold", "--reason", "waits for a disk").exit_code == 0

    assert (
        document(d0ctl("status", "late", "--json").stdout)["held"]["reason"] == "waits for a disk"
    )
    for verb in ("why", "status"):
        shown = d0ctl(verb, "late").stdout
        assert "waits for a disk" in shown and "held at submission" not in shown


def test_part_of_a_job_is_held_by_its_packages(site: Site, d0ctl: Type) -> None:
    site.submit(production())

    d0ctl("hold", "prod/1/1-2")

    assert [site.phase(f"prod/1/{n}/1") for n in (1, 2, 3)] == ["held", "held", "ready"]
    refused = d0ctl("release", "prod")
    assert refused.exit_code == 4
    assert "4 packages are held: `d0ctl release 'prod:held'`" in refused.stderr
    d0ctl("release", "prod:held")
    assert [site.phase(f"prod/1/1/{n}") for n in (1, 2)] == ["ready", "waiting"]


def test_an_ended_package_is_not_held(site: Site, d0ctl: Type) -> None:
    site.submit(job(("a", [line(package("x"))])))
    site.finish("prod/1/1/1")

    assert d0ctl("hold", "prod").stderr.startswith(
        "d0ctl: job `prod` is successful, so it can't be held"
    )
    assert d0ctl("hold", "prod/1/1/1").exit_code == 4


def test_a_package_on_a_node_that_is_down_runs_on_until_it_is_back(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.launch("prod/1/1/1")
    with site.store.writing():
        contact.down(site.store, 1, "connection refused", now=time.time())

    plan, done = d0ctl("kill", "prod/1/1/1", "--dry-run"), d0ctl("kill", "prod/1/1/1")

    runs_on = "1 package runs on until its node can be reached again, and then ends"
    assert runs_on in plan.stdout and runs_on in done.stdout


def test_of_killed_packages_those_that_end_on_a_node_are_named(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.launch("prod/1/1/1")

    assert "\nof these, 1 package is being killed on its node\n" in d0ctl("kill", "prod").stdout


def test_a_launched_package_is_killed_by_its_wrapper(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.launch("prod/1/1/1")

    result = d0ctl("kill", "prod/1/1/1")

    assert result.exit_code == 0
    assert result.stdout.startswith(
        "asked package `prod/1/1/1` to end\n1 package is being killed on"
    )
    assert site.phase("prod/1/1/1") == "killing"
    assert document(d0ctl("status", "prod/1/1/1", "--json").stdout)["request"] == "kill"
    assert d0ctl("kill", "prod/1/1/1").exit_code == 0
    assert d0ctl("kill", "prod/1/1/1").stderr.startswith(
        "d0ctl: package `prod/1/1/1` is already being killed"
    )
    site.end("prod/1/1/1", "killed", reason="killed")
    assert site.phase("prod/1/1/1") == "canceled"


def test_a_package_whose_results_are_copied_is_canceled_at_once(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.launch("prod/1/1/1")
    with site.store.writing():
        change(site.store, "package", {"phase": "running"}, phase="transferring")

    result = d0ctl("kill", "prod/1/1/1")

    assert site.phase("prod/1/1/1") == "canceled"
    assert "is being killed on" not in result.stdout


def test_a_successful_package_is_not_killed(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.finish("prod/1/1/1")

    result = d0ctl("kill", "prod/1/1/1")

    assert result.exit_code == 4
    assert result.stderr == (
        "d0ctl: package `prod/1/1/1` is successful, so it can't be killed\nd0ctl why prod/1/1/1\n"
    )


def test_a_kill_of_a_job_spares_its_ended_packages(site: Site, d0ctl: Type) -> None:
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
    change(site.store, "node", base=None)  # it was never on a disk
    assert document(d0ctl("doctor", "--json").stdout)["ok"]
    site.submit(production())


def test_part_of_a_job_is_not_removed(site: Site, d0ctl: Type) -> None:
    site.submit(production())

    assert d0ctl("remove", "prod/1").exit_code == 2


def test_an_action_is_recorded_with_its_person_and_reason(site: Site, d0ctl: Type) -> None:
    site.submit(production())

    d0ctl("kill", "prod/1/1/1", "--reason", "wrong seed")

    (action,) = [action for action in document(d0ctl("history", "prod", "--json").stdout)["actions"]
                 if action["verb"] == "kill"]  # fmt: skip
    assert (action["target"], action["reason"], action["packages"]) == (
        "prod/1/1/1", "wrong seed", 1,
    )  # fmt: skip
    answer = d0ctl("why", "prod/1/1/1").stdout
    assert "was canceled by" in answer
    assert "wrong seed" in answer


def test_a_verb_for_an_unknown_job_finds_nothing(site: Site, d0ctl: Type) -> None:
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
        (["retry", "prod", "--failed-for", "lost"], "none of its packages has failed"),
        (["hold", "prod", "--node", "localhots"], "did you mean `localhost`?"),
    ],
)
def test_a_selector_that_matches_nothing_is_refused_with_the_nearest(
    site: Site, d0ctl: Type, words: list[str], expected: str
) -> None:
    site.submit(production())

    result = d0ctl(*words)

    assert result.exit_code == 3
    assert expected in result.stderr


def test_a_failed_launch_is_shown_as_a_failed_request(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    here = registry.named(site.store, "localhost").id
    for path, words in (("prod/1/1/1", "submit failed"), ("prod/1/2/1", "resubmit failed")):
        if words.startswith("re"):
            site.fail(path)
            d0ctl("retry", path)
        site.up()
        site.assign(path)
        with site.store.writing():
            (launch,) = launches.launch(site.store, [here], limit=10, now=time.time())[here]
            launches.refuse(site.store, here, launch["attempt"], "disk-full", "no space",
                            now=time.time())  # fmt: skip

        answer = document(d0ctl("status", path, "--json").stdout)

        assert (answer["phase"], answer["request"]) == ("cooloff", f"{words}: disk-full: no space")


def test_a_request_is_shown_at_once_and_gone_when_done(site: Site, d0ctl: Type) -> None:
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


def test_a_verb_without_effect_leaves_the_end_of_a_job_alone(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    change(site.store, "package", {"phase": "waiting"}, phase="ready")
    change(site.store, "package", phase="canceled")
    change(site.store, "job", ended=7.0)

    d0ctl("kill-line", "prod/1/1")
    d0ctl("kill", "prod")

    assert value(site.store, "job", "ended") == 7.0
