"""The commands that undo actions, as `history` lists them."""

from pathlib import Path

import pytest

from d0ctl.model import Address
from d0ctl.store.nodes import registry
from tests.cli.conftest import Type
from tests.support.building import job, line, package, production
from tests.support.site import Site


def undoes(d0ctl: Type, *words: str) -> list[str]:
    """The commands that the history lists, the earliest action first."""
    lines = d0ctl("history", *words).stdout.splitlines()
    return [line.partition("to undo: ")[2] for line in lines if "to undo: " in line]


def test_the_history_has_the_undo_of_what_stops_packages_until_it_was_typed(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production())
    site.submit(production("other"))
    for words in (("kill", "other"), ("kill-line", "prod/1/1"), ("pause", "prod"),
                  ("node", "drain", "localhost")):  # fmt: skip
        assert d0ctl(*words, "--yes").exit_code == 0

    before = undoes(d0ctl)
    of_job = undoes(d0ctl, "prod")
    for words in (("retry", "other:canceled"), ("resume", "prod"), ("node", "resume", "localhost")):
        assert d0ctl(*words).exit_code == 0

    assert before == ["d0ctl retry other:canceled", "d0ctl retry prod/1/1:canceled,failed",
                      "d0ctl resume prod", "d0ctl node resume localhost"]  # fmt: skip
    assert of_job == before[1:3]
    assert undoes(d0ctl) == before[1:2]


def test_killed_packages_that_had_run_out_of_time_are_retried_by_the_undo_and_the_advice(
    site: Site, d0ctl: Type
) -> None:
    site.submit(job(("a", [line(package("x", wall_time=2.0))])))
    site.fail("prod/1/1/1", reason="wall-time")
    d0ctl("kill-line", "prod/1/1")
    (undo,) = undoes(d0ctl)

    advice = d0ctl("why", "prod").stdout
    results = [
        d0ctl(*command, "--dry-run") for command in (undo.split()[1:], ("retry", "prod:canceled"))
    ]

    assert "  $ d0ctl retry 'prod:canceled'\n" in advice
    assert [(result.exit_code, result.stderr) for result in results] == [(0, "")] * 2


def test_the_history_has_the_undo_only_of_the_last_change_of_a_value(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production())
    d0ctl("priority", "prod", "80")
    d0ctl("priority", "prod", "60")

    assert undoes(d0ctl) == undoes(d0ctl, "prod") == ["d0ctl priority prod 80"]


@pytest.mark.parametrize("change", ["priority prod:ready 80", "edit prod:ready --memory 1GB"])
def test_the_history_has_no_undo_of_values_of_filtered_packages_once_it_is_typed(
    change: str, site: Site, d0ctl: Type
) -> None:
    site.submit(production())
    d0ctl(*change.split())
    (undo,) = undoes(d0ctl)

    d0ctl(*undo.split()[1:])

    assert "prod/1/1-3/1" in undo and undo not in undoes(d0ctl)


def test_the_history_has_no_undo_of_values_that_an_update_has_replaced(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    text = "job: mc\nstages: [{lines: [{run: a}, {run: b}]}]\n"
    (file := tmp_path / "mc.yaml").write_text(text)
    d0ctl("submit", str(file))
    d0ctl("priority", "mc/1/2/1", "80")
    before = undoes(d0ctl)
    file.write_text(text.replace("b}", "c, priority: 50}"))

    d0ctl("update", "mc")

    assert before == ["d0ctl priority mc/1/2/1 50"]
    assert undoes(d0ctl) == undoes(d0ctl, "mc") == ["d0ctl update mc --previous"]
    assert "already" in d0ctl("priority", "mc/1/2/1", "50").stderr


@pytest.mark.parametrize("priority", ["", "priority: 30\n"])
def test_the_history_has_the_undo_of_a_priority_until_an_update_has_replaced_it(
    site: Site, d0ctl: Type, tmp_path: Path, priority: str
) -> None:
    file = tmp_path / "mc.yaml"
    text = "job: mc\nstages: [{lines: [{run: 'true', outputs: o}]}]\n"
    file.write_text(text)
    assert d0ctl("submit", str(file)).exit_code == 0
    assert d0ctl("priority", "mc", "80", "--reason", "a; b").exit_code == 0
    file.write_text(priority + text.replace("'true'", "'touch o'"))

    assert d0ctl("update", "mc").exit_code == 0

    values = [] if priority else ["d0ctl priority mc 50"]
    assert undoes(d0ctl) == undoes(d0ctl, "mc") == [*values, "d0ctl update mc --previous"]


def test_the_history_has_the_undo_of_the_last_update_that_changed_the_job(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    text = "job: mc\nstages: [{lines: [{run: a}, {run: b}]}]\n"
    (file := tmp_path / "mc.yaml").write_text(text)
    d0ctl("submit", str(file))
    site.fail("mc/1/1/1")
    site.finish("mc/1/2/1")
    file.write_text(text.replace("a}", "c}"))
    d0ctl("update", "mc:failed", "--again")
    first = undoes(d0ctl, "mc")
    file.write_text(text.replace("b}", "d}"))
    d0ctl("update", "mc")

    d0ctl("update", "mc", "--again")

    rows = [row.split() for row in d0ctl("history", "mc").stdout.splitlines() if "update" in row]
    assert first == ["d0ctl update mc --previous"]
    assert ["--previous" in row for row in rows] == [False, True, False]


def test_the_history_has_no_undo_of_acknowledged_failures_that_run_again(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production())
    for path in ("prod/1/1/1", "prod/1/2/1"):
        site.fail(path)
    d0ctl("acknowledge", "prod")

    d0ctl("retry", "prod/1/1/1")
    after_one = undoes(d0ctl, "prod")
    d0ctl("retry", "prod")

    assert after_one == ["d0ctl acknowledge prod/1/1-2/1 --withdraw"]
    assert undoes(d0ctl, "prod") == []


@pytest.mark.parametrize(
    "words",
    [
        ("kill-line", "prod/1/1", "--drop-outputs"), ("kill-line", "prod/1/1"),
        ("set-status", "prod/1/1/1", "unscheduled"),
    ],
)  # fmt: skip
def test_the_history_has_no_undo_of_acknowledged_failures_that_are_dropped_or_canceled(
    site: Site, d0ctl: Type, words: tuple[str, ...]
) -> None:
    site.submit(production())
    site.fail("prod/1/1/1")
    d0ctl("acknowledge", "prod/1/1/1")
    (undo,) = undoes(d0ctl, "prod")

    assert d0ctl(*words, "--yes").exit_code == 0

    assert undo == "d0ctl acknowledge prod/1/1/1 --withdraw"
    assert undo not in undoes(d0ctl, "prod")


def test_an_acknowledgement_that_a_restored_line_has_again_can_be_undone(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production())
    site.fail("prod/1/1/1")
    d0ctl("acknowledge", "prod/1/1/1")
    d0ctl("kill-line", "prod/1/1", "--drop-outputs", "--yes")
    d0ctl("restore-line", "prod/1/1")

    undo = undoes(d0ctl, "prod")[0]

    assert undo == "d0ctl acknowledge prod/1/1/1 --withdraw"
    assert d0ctl(*undo.split()[1:]).exit_code == 0


def test_the_history_has_the_undo_of_each_acknowledgement_until_it_is_withdrawn(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production())
    for path in ("prod/1/1/1", "prod/1/2/1"):
        site.fail(path)
        d0ctl("acknowledge", "prod:failed")

    assert undoes(d0ctl, "prod") == [f"d0ctl acknowledge prod/1/{number}/1 --withdraw"
                                     for number in (1, 2)]  # fmt: skip
    d0ctl("acknowledge", "prod", "--withdraw")
    assert not any("--withdraw" in command for command in undoes(d0ctl, "prod"))


def test_the_history_has_no_undo_of_an_acknowledgement_by_reason_that_was_withdrawn(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production())
    site.fail("prod/1/1/1")
    d0ctl("acknowledge", "prod:failed", "--failed-for", "exit-code")
    (undo,) = undoes(d0ctl, "prod")

    d0ctl(*undo.split()[1:])

    assert undo == "d0ctl acknowledge prod/1/1/1 --withdraw"
    assert undo not in undoes(d0ctl, "prod")


def test_the_history_has_all_that_was_selected(site: Site, d0ctl: Type) -> None:
    site.submit(production(lines=5))
    site.fail("prod/1/2/1")
    lines = [f"prod/1/{number}" for number in (1, 3, 4, 5)]
    d0ctl("kill-line", *lines, "--yes")
    d0ctl("retry", "prod:failed", "--failed-for", "exit-code", "--memory", "2GB")

    for words in ([], ["prod"]):
        said = " ".join(d0ctl("history", *words).stdout.split())
        assert " ".join(lines) in said
        assert "--failed-for exit-code --memory 2GB" in said


def test_the_history_has_no_undo_of_drops_whose_lines_are_back(site: Site, d0ctl: Type) -> None:
    site.submit(production(lines=4))
    d0ctl("kill-line", "prod/1/1-2", "--drop-outputs", "--yes")
    d0ctl("kill-line", "prod/1/3", "prod/1/4", "--drop-outputs", "--yes")
    d0ctl("restore-line", "prod/1/3")
    half = undoes(d0ctl, "prod")

    d0ctl("restore-line", "prod/1/*")

    assert half[:2] == [
        "d0ctl restore-line prod/1/1-2 --again",
        "d0ctl restore-line prod/1/3-4",
    ]
    assert not any("restore-line" in undo for undo in undoes(d0ctl, "prod"))


def test_the_history_has_no_resume_of_a_node_that_another_command_resumed_or_removed(
    site: Site, d0ctl: Type
) -> None:
    for node in ("n1", "n2", "n3"):
        with site.store.writing():
            registry.add(site.store, Address(node, "ssh", node), cpus=2)
    d0ctl("node", "drain", "n1", "n2")
    d0ctl("node", "drain", "n3")
    d0ctl("node", "resume", "n1")
    d0ctl("node", "remove", "n3", "--yes")
    half = undoes(d0ctl)

    d0ctl("node", "resume", "n2")

    assert half == ["d0ctl node resume n1 n2"]
    assert undoes(d0ctl) == []


def test_the_history_keeps_the_undo_of_a_hold_of_packages_when_their_job_is_released(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production())
    d0ctl("hold", "prod/1/1/*")
    d0ctl("hold", "prod")

    d0ctl("release", "prod")

    assert undoes(d0ctl, "prod")[:1] == ["d0ctl release 'prod/1/1/*:held'"]


@pytest.mark.parametrize("words", ["kill prod/1/1", "kill-line prod/1/1 --drop-outputs"])
def test_the_history_has_the_undo_of_a_kill_once_no_package_is_being_killed(
    words: str, site: Site, d0ctl: Type
) -> None:
    site.submit(production())
    site.launch("prod/1/1/1")
    d0ctl(*words.split(), "--yes")

    at_once = undoes(d0ctl), undoes(d0ctl, "prod")
    site.end("prod/1/1/1", "killed", reason="killed")

    assert at_once == ([], [])
    (undo,) = undoes(d0ctl)
    assert undoes(d0ctl, "prod") == [undo]
    assert d0ctl(*undo.split()[1:], "--dry-run").exit_code == 0
