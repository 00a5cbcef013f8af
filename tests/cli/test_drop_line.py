"""kill-line and the packages that depend on it; kills that keep outputs or come at once."""

import pytest

from d0ctl.store.attempts.launching import launches
from d0ctl.store.nodes import registry
from tests.cli.conftest import Type
from tests.support.building import document, job, line, package, production
from tests.support.site import Site


def test_the_plan_of_a_drop_lists_lost_inputs_and_packages_that_will_be_ready(
    site: Site, d0ctl: Type
) -> None:
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
        "continuing without these files: 1 package\n"
        "  prod/2/1/1 loses 1 input, keeps 1, and will be ready\n"
    )


def test_files_that_nothing_reads_are_not_removed_from_inputs(site: Site, d0ctl: Type) -> None:
    site.submit(production(lines=1))

    plan = d0ctl("kill-line", "prod/3/1", "--drop-outputs", "--dry-run").stdout

    assert "dropped, and read by no other package: 1 file\n" in plan and "inputs" not in plan


def test_dropping_a_line_lets_the_merge_continue(site: Site, d0ctl: Type) -> None:
    site.submit(production(lines=2))
    for path in ("prod/1/1/1", "prod/1/1/2"):
        site.finish(path)
    site.fail("prod/1/2/1")

    dropped = d0ctl("kill-line", "prod/1/2", "--drop-outputs", "--reason", "bad run").stdout

    assert "1 package continues without these files; 1 is ready now\n" in dropped
    assert site.phase("prod/2/1/1") == "ready"
    site.finish("prod/2/1/1")
    site.finish("prod/3/1/1")
    answer = document(d0ctl("status", "prod", "--json").stdout)
    assert (answer["status"], answer["dropped"]) == ("successful", 1)
    again = d0ctl("kill-line", "prod/1/2", "--drop-outputs")
    assert again.exit_code == 4
    assert "line `prod/1/2` is already dropped" in again.stderr
    assert d0ctl("kill-line", "prod/1/2").exit_code == 4


@pytest.mark.parametrize(
    ("selector", "lines"),
    [("prod:failed", "prod/*/*:failed"), ("prod/1:failed", "prod/1/*:failed")],
)
def test_failed_packages_of_a_job_are_dropped_as_lines(
    site: Site, d0ctl: Type, selector: str, lines: str
) -> None:
    site.submit(production(lines=2))
    site.fail("prod/1/2/1")

    refused = d0ctl("kill-line", selector, "--drop-outputs")
    other = d0ctl("restore-line", selector)

    assert f"d0ctl restore-line '{lines}'" in other.stderr
    assert f"d0ctl kill-line '{lines}'" in refused.stderr
    assert d0ctl("kill-line", lines, "--drop-outputs", "--yes").exit_code == 0
    assert (site.phase("prod/1/2/1"), site.phase("prod/1/1/1")) == ("dropped", "ready")


def test_a_drop_includes_packages_that_need_its_files(site: Site, d0ctl: Type) -> None:
    site.submit(production(lines=1))

    preview = d0ctl("kill-line", "prod/1/1", "--drop-outputs", "--dry-run").stdout
    d0ctl("kill-line", "prod/1/1", "--drop-outputs")

    assert "also dropped, because of dropped inputs: 2 packages" in preview
    assert site.phase("prod/2/1/1") == "dropped"
    assert site.phase("prod/3/1/1") == "dropped"
    answer = document(d0ctl("status", "prod", "--json").stdout)
    assert (answer["status"], answer["dropped"]) == ("canceled", 3)


def test_without_drop_outputs_the_readers_keep_waiting(site: Site, d0ctl: Type) -> None:
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
    assert {input["file"]: input["dropped"] for input in inputs} == {"sim-1": True, "sim-2": False}
    assert document(d0ctl("status", "prod", "--json").stdout)["dropped"] == 1


def test_killing_a_line_without_live_packages_is_reported(site: Site, d0ctl: Type) -> None:
    site.submit(production(lines=2))
    site.finish("prod/1/1/1")
    site.finish("prod/1/1/2")

    killed = d0ctl("kill-line", "prod/1/1")

    assert killed.exit_code == 0
    assert killed.stdout == "nothing to kill in `prod/1/1`: 2 successful\n"
    assert "to undo" not in killed.stderr
    assert d0ctl("kill-line", "prod/1/1", "--dry-run").stdout == killed.stdout
    dropped = d0ctl("kill-line", "prod/1/1", "--drop-outputs")
    assert dropped.stdout.startswith(
        "dropped the files of `prod/1/1`; there was no package to drop\n"
    )
    assert d0ctl("kill-line", "prod/1/1", "--drop-outputs").exit_code == 4


def test_a_line_that_all_have_read_is_dropped_and_restored_with_its_files(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production(lines=2))
    for path in ("1/1/1", "1/1/2", "1/2/1", "1/2/2", "2/1/1", "3/1/1"):
        site.finish(f"prod/{path}")

    dropped = d0ctl("kill-line", "prod/1/1", "--drop-outputs").stdout
    restored = d0ctl("restore-line", "prod/1/1").stdout

    assert "2 packages have read these files or what was made of them, and will not" in dropped
    assert restored == "restored the files of `prod/1/1`\n"
    assert site.phase("prod/2/1/1") == "done"


def test_dropping_a_successful_line_without_files_is_no_change(site: Site, d0ctl: Type) -> None:
    site.submit(job(("a", [line(package()), line(package("x"))])))
    site.finish("prod/1/1/1")

    result = d0ctl("kill-line", "prod/1/1", "--drop-outputs")

    assert result.stdout == "nothing to drop in `prod/1/1`: 1 successful\n"
    assert "to undo" not in result.stderr
    assert d0ctl("kill-line", "prod/1/1", "--drop-outputs", "--dry-run").stdout == result.stdout
    actions = document(d0ctl("history", "prod", "--json").stdout)["actions"]
    assert "kill-line" not in {action["verb"] for action in actions}


def test_a_finish_that_cancels_nothing_is_reported(site: Site, d0ctl: Type) -> None:
    site.submit(job(("a", [line(package("x"))])))
    site.launch("prod/1/1/1")

    finished = d0ctl("finish", "prod")

    assert finished.stdout == "finished job `prod`\nno package canceled, 1 still running\n"


@pytest.mark.parametrize("selector", ["prod", "prod/1", "prod/1/1/1"])
def test_kill_line_takes_lines_only(site: Site, d0ctl: Type, selector: str) -> None:
    site.submit(production())

    killed = d0ctl("kill-line", selector)
    dropped = d0ctl("kill-line", selector, "--drop-outputs")

    assert killed.exit_code == dropped.exit_code == 2
    is_one = selector.count("/") == 3
    assert ("d0ctl kill-line prod/1/1 --drop-outputs" in dropped.stderr) == is_one
    assert "--drop-outputs" not in killed.stderr


def test_a_kill_with_partial_output_keeps_the_files_made_so_far(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    attempt = site.launch("prod/1/1/1")

    d0ctl("kill", "prod/1/1/1", "--partial")

    here = registry.named(site.store, "localhost").id
    assert launches.killing(site.store, here) == {attempt: "kill partial"}


@pytest.mark.parametrize(
    "again",
    [["kill", "prod/1/1/1"], ["kill-line", "prod/1/1"], ["finish", "prod", "--hard"],
     ["finish", "prod/1/1/1", "--hard"]],
    ids=" ".join,
)  # fmt: skip
def test_a_second_kill_hastens_one_that_keeps_outputs(
    site: Site, d0ctl: Type, again: list[str]
) -> None:
    site.submit(production())
    attempt = site.launch("prod/1/1/1")
    here = registry.named(site.store, "localhost").id
    d0ctl("kill", "prod/1/1/1", "--partial")

    assert d0ctl(*again, "--yes").exit_code == 0
    assert launches.killing(site.store, here) == {attempt: "kill"}
    d0ctl("kill", "prod/1/1/1")
    assert launches.killing(site.store, here) == {attempt: "kill now"}
    assert d0ctl("kill", "prod/1/1/1").exit_code == 4
    assert d0ctl("kill", "prod/1/1/1", "--partial").exit_code == 4
    assert launches.killing(site.store, here) == {attempt: "kill now"}


def test_a_kill_does_not_shorten_its_own_grace(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    attempt = site.launch("prod/1/1/1")

    d0ctl("kill", "prod")

    here = registry.named(site.store, "localhost").id
    assert launches.killing(site.store, here) == {attempt: "kill"}


def test_a_line_dropped_during_a_kill_stays_dropped(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    attempt = site.launch("prod/1/1/1")
    d0ctl("kill", "prod/1/1/1")
    d0ctl("kill", "prod/1/1/1")

    d0ctl("kill-line", "prod/1/1", "--drop-outputs")

    here = registry.named(site.store, "localhost").id
    assert launches.killing(site.store, here) == {attempt: "drop now"}


def test_status_and_why_say_until_when_a_binary_may_end_by_itself(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.launch("prod/1/1/1")

    plan = d0ctl("kill", "prod/1/1/1", "--partial", "--dry-run").stdout
    d0ctl("kill", "prod/1/1/1", "--partial")

    assert "a running binary has 1 min 00 s to end by itself" in plan
    for answer in (d0ctl("status", "prod/1/1/1").stdout, d0ctl("why", "prod/1/1/1").stdout):
        assert "its binary has until" in answer and "to end by itself" in answer
    assert "d0ctl kill prod/1/1/1" in d0ctl("why", "prod/1/1/1").stdout


@pytest.mark.parametrize(("path", "waits"), [
    ("prod/1/1/2", True), ("prod/1/1/1", True), ("prod/3", False), ("prod", False),
])  # fmt: skip
def test_the_plan_of_a_kill_names_packages_that_wait_only_if_there_are_any(
    site: Site, d0ctl: Type, path: str, waits: bool
) -> None:
    site.submit(production(lines=2))

    killed = d0ctl("kill", path, "--dry-run").stdout
    line = "/".join(f"{path}/1/1".split("/")[:3])
    dropped = d0ctl("kill-line", line, "--dry-run").stdout

    assert ("packages that need their outputs will keep waiting" in killed) == waits
    assert ("--drop-outputs" in dropped) == (not line.startswith("prod/3"))


def test_followers_in_its_line_wait_for_a_package_that_is_killed(site: Site, d0ctl: Type) -> None:
    site.submit(job(("a", [line(package("a"), package("b"))])))

    assert "keep waiting" in d0ctl("kill", "prod/1/1/1", "--dry-run").stdout
    assert "keep waiting" not in d0ctl("kill", "prod/1/1/2", "--dry-run").stdout
    assert "keep waiting" in d0ctl("finish", "prod/1/1/1", "--dry-run").stdout
    assert "keep waiting" not in d0ctl("finish", "prod/1/1/2", "--dry-run").stdout


@pytest.mark.parametrize(("verb", "word"), [("kill", "canceled"), ("kill-line", "dropped")])
def test_why_says_once_who_ended_a_package(site: Site, d0ctl: Type, verb: str, word: str) -> None:
    site.submit(production(lines=2))

    d0ctl(verb, "prod/1/2", *(["--drop-outputs"] if word == "dropped" else []))
    answer = d0ctl("why", "prod/1/2/1").stdout.splitlines()[0]

    assert answer.startswith(f"package `prod/1/2/1` was {word} by ")
    assert answer.count(" by ") == 1


def test_why_of_a_job_says_each_reason_for_which_lines_were_dropped(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production(lines=4))
    for lines, reason in (("1-2", "bad detector"), ("3", "wrong seed")):
        d0ctl("kill-line", f"prod/1/{lines}", "--drop-outputs", "--reason", reason)

    answer = d0ctl("why", "prod").stdout

    assert answer.count("bad detector") == answer.count("wrong seed") == 1
    assert answer.index("bad detector") < answer.index("wrong seed")
