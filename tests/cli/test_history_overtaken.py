"""What `history` says of what was overtaken: holds and pauses that others ended, and failures."""

from pathlib import Path

import pytest

from d0ctl.show.history import spent_values
from tests.cli.conftest import Type
from tests.cli.test_held_alike import hold_for_alike_failures
from tests.cli.test_history_undo import undoes
from tests.support.building import document, job, line, package, production
from tests.support.site import Site


@pytest.mark.parametrize("stop", [("hold",), ("pause",), ("pause", "--running")])
def test_a_finish_ends_the_hold_or_pause_of_a_job(
    site: Site, d0ctl: Type, stop: tuple[str, ...]
) -> None:
    site.submit(production())
    site.launch("prod/1/1/1")
    assert d0ctl(stop[0], "prod", *stop[1:]).exit_code == 0
    d0ctl("kill", "prod/2/1", "--yes")
    before = undoes(d0ctl, "prod")

    d0ctl("finish", "prod", "--yes")

    back = {"hold": "release", "pause": "resume"}[stop[0]]
    assert before[0] == f"d0ctl {back} prod"
    assert not [command for command in undoes(d0ctl, "prod") if f" {back} " in command]


@pytest.mark.parametrize("stop", ["hold", "pause"])
@pytest.mark.parametrize(
    "end", [("kill", "prod/1/1/1"), ("kill", "prod"), ("kill-line", "prod/1/1", "--drop-outputs")]
)
def test_a_kill_ends_the_hold_or_pause_of_packages(
    site: Site, d0ctl: Type, stop: str, end: tuple[str, ...]
) -> None:
    site.submit(production())
    d0ctl(stop, "prod/1/1/1")

    assert d0ctl(*end, "--yes").exit_code == 0

    back = {"hold": "release", "pause": "resume"}[stop]
    assert not [command for command in undoes(d0ctl, "prod") if f" {back} " in command]


def test_a_kill_of_packages_does_not_end_the_hold_of_their_job(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    d0ctl("hold", "prod")

    d0ctl("kill", "prod", "--yes")

    assert undoes(d0ctl, "prod")[0] == "d0ctl release prod"


def test_no_undo_is_listed_for_files_of_a_job_that_was_archived(site: Site, d0ctl: Type) -> None:
    site.submit(job(("a", [line(package("x.txt"))])))
    site.finish("prod/1/1/1")
    d0ctl("file", "set-disposition", "prod:x.txt", "retain-indef")
    before = undoes(d0ctl)

    assert d0ctl("archive", "prod", "--yes").exit_code == 0

    assert before == ["d0ctl file set-disposition prod:x.txt as-written"]
    assert undoes(d0ctl) == []


def test_a_restored_line_is_still_held(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    d0ctl("hold", "prod/1/1/1")
    d0ctl("kill-line", "prod/1/1", "--drop-outputs", "--yes")

    d0ctl("restore-line", "prod/1/1")

    assert site.phase("prod/1/1/1") == "held"
    assert undoes(d0ctl, "prod") == ["d0ctl release prod/1/1/1"]


def test_a_drop_ends_the_kill_of_packages_until_their_line_is_back(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    d0ctl("kill", "prod/1/1/1", "--yes")

    d0ctl("kill-line", "prod/1/1", "--yes")
    killed = undoes(d0ctl, "prod")
    d0ctl("kill-line", "prod/1/1", "--drop-outputs", "--yes")
    dropped = undoes(d0ctl, "prod")
    d0ctl("restore-line", "prod/1/1")

    retry = "d0ctl retry prod/1/1/1"
    assert killed[0] == retry
    assert dropped == ["d0ctl restore-line prod/1/1 --again"]
    assert undoes(d0ctl, "prod")[0] == retry


def test_values_of_packages_that_have_ended_are_not_to_be_changed_back(
    site: Site, d0ctl: Type
) -> None:
    site.submit(job(("a", [line(package("x")), line(package("y"))])))
    for words in (("edit", "prod/1/1", "--memory", "1GB"), ("priority", "prod/1/1", "60"),
                  ("priority", "prod", "70")):  # fmt: skip
        assert d0ctl(*words).exit_code == 0
    before = undoes(d0ctl, "prod"), undoes(d0ctl)

    site.finish("prod/1/1/1")

    all_three = ["d0ctl edit prod/1/1 --memory none", "d0ctl priority prod/1/1 50",
                 "d0ctl priority prod 50"]  # fmt: skip
    assert before == (all_three, all_three)
    assert undoes(d0ctl, "prod") == undoes(d0ctl) == all_three[2:]


def test_a_retry_ends_the_hold_of_a_job_by_d0ctl(site: Site, d0ctl: Type) -> None:
    hold_for_alike_failures(site)
    before = undoes(d0ctl, "prod"), undoes(d0ctl)

    d0ctl("retry", "prod:failed")

    assert before == (["d0ctl release prod"], ["d0ctl release prod"])
    assert undoes(d0ctl, "prod") == undoes(d0ctl) == []
    assert d0ctl("release", "prod").exit_code == 4


@pytest.mark.parametrize("running", [[], ["--running"]])
@pytest.mark.parametrize("released", ["prod/1/1", "prod:held", "prod"])
def test_the_history_has_no_undo_of_a_pause_of_packages_that_were_released(
    released: str, running: list[str], site: Site, d0ctl: Type
) -> None:
    site.submit(production())
    d0ctl("pause", "prod/1/1/1", *running)
    before = undoes(d0ctl), undoes(d0ctl, "prod")

    is_released = d0ctl("release", released).exit_code == 0

    assert before == (["d0ctl resume prod/1/1/1"], ["d0ctl resume prod/1/1/1"])
    assert bool(undoes(d0ctl)) == bool(undoes(d0ctl, "prod")) == (not is_released)


def test_the_history_has_no_undo_of_an_acknowledgement_of_nothing_that_is_failed(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production())
    site.fail("prod/1/1/1")
    d0ctl("acknowledge", "prod/1/1/1")
    d0ctl("kill-line", "prod/1/1", "--drop-outputs", "--yes")
    d0ctl("restore-line", "prod/1/1", "--again")
    back = undoes(d0ctl, "prod")
    is_back = d0ctl("acknowledge", "prod/1/1/1", "--withdraw", "--dry-run").exit_code == 0
    d0ctl("retry", "prod:failed")

    at_once = undoes(d0ctl), undoes(d0ctl, "prod")
    site.fail("prod/1/1/1")

    assert back == ["d0ctl acknowledge prod/1/1/1 --withdraw"] and is_back
    assert at_once == ([], [])
    assert (undoes(d0ctl), undoes(d0ctl, "prod")) == ([], [])


@pytest.mark.parametrize(
    ("first", "ending"),
    [
        ("prod", "acknowledge prod:failed --withdraw"), ("prod", "retry prod:failed"),
        ("*:failed", "acknowledge *:failed --withdraw"), ("prod", "kill-line prod/1/1-2"),
        ("prod/make", "acknowledge prod/make --withdraw"), ("prod", "retry prod/1/1-2"),
    ],
)  # fmt: skip
def test_the_history_has_no_undo_of_many_acknowledgements_that_have_ended(
    site: Site, d0ctl: Type, monkeypatch: pytest.MonkeyPatch, first: str, ending: str
) -> None:
    monkeypatch.setattr(spent_values, "MOST_READ", 0)
    site.submit(production())
    for path in ("prod/1/1/1", "prod/1/2/1"):
        site.fail(path)
    d0ctl("acknowledge", first, "--yes")
    undo = "d0ctl acknowledge prod/1/1-2/1 --withdraw"
    before = undoes(d0ctl)

    assert d0ctl(*ending.split(), "--yes").exit_code == 0

    assert before == [undo]
    assert undo not in undoes(d0ctl)


def test_the_undo_of_an_update_that_held_its_job_releases_it_only_as_long_as_it_is_held(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    text = "job: mc\nstages: [{lines: [{run: a}, {run: b}]}]\n"
    (file := tmp_path / "mc.yaml").write_text(text)
    d0ctl("submit", str(file))
    file.write_text(text.replace("a}", "c}"))
    d0ctl("update", "mc", "--hold")
    held = undoes(d0ctl, "mc")

    d0ctl("release", "mc")
    released = undoes(d0ctl), undoes(d0ctl, "mc")
    file.write_text(text.replace("a}", "d}"))
    d0ctl("update", "mc", "--hold")

    both = "d0ctl update mc --previous && d0ctl release mc"
    assert held == [both]
    assert released == (["d0ctl update mc --previous"], ["d0ctl update mc --previous"])
    assert undoes(d0ctl) == undoes(d0ctl, "mc") == [both]


def test_a_drop_is_not_said_to_be_undone_while_a_package_goes_on_without_its_files(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production(lines=2))
    site.finish("prod/1/1/1")
    site.finish("prod/1/1/2")
    d0ctl("kill-line", "prod/1/2", "--drop-outputs", "--yes")
    before = undoes(d0ctl, "prod")
    site.launch("prod/2/1/1")
    meanwhile = undoes(d0ctl, "prod")
    restore = "d0ctl restore-line prod/1/2 --again"
    assert d0ctl(*restore.split()[1:]).exit_code == 4
    site.end("prod/2/1/1")

    assert before == undoes(d0ctl, "prod") == [restore] and meanwhile == []
    assert d0ctl(*restore.split()[1:]).exit_code == 0


def test_the_history_has_no_undo_of_an_update_whose_lines_another_job_needs(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    text = "job: mc\nstages: [{{lines: [{{for: {{n: {}}}, run: a, outputs: 'f{{n}}'}}]}}]\n"
    (file := tmp_path / "mc.yaml").write_text(text.format([1]))
    (reads := tmp_path / "reads.yaml").write_text(
        "job: reads\nstages: [{lines: [{run: b, inputs: {from: mc/1}, outputs: all}]}]\n"
    )
    d0ctl("submit", str(file))
    d0ctl("submit", str(reads))
    file.write_text(text.format([1, 2]))
    d0ctl("update", "mc")
    before = undoes(d0ctl, "mc")

    d0ctl("update", "reads")

    back = "d0ctl update mc --previous"
    assert before == [back] and undoes(d0ctl, "mc") == []
    assert back not in undoes(d0ctl)
    assert d0ctl(*back.split()[1:], "--dry-run").exit_code == 4
    site.finish("mc/1/2/1")
    assert undoes(d0ctl, "mc") == [back]
    assert d0ctl(*back.split()[1:], "--dry-run").exit_code == 0


def test_packages_that_failed_again_for_another_reason_are_not_called_fine(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production())
    site.fail("prod/1/1/1", reason="wall-time", detail="it took too long")
    d0ctl("retry", "prod/1/1/1")
    site.fail("prod/1/1/1")

    page = " ".join(d0ctl("history").stdout.split())

    failures = document(d0ctl("history", "--json").stdout)["failures"]
    assert {one["reason"]: (one["failed"], one["failed_again"]) for one in failures} == {
        "wall-time": (0, 1), "exit-code": (1, 0)}  # fmt: skip
    assert "1 package, 1 failed now last" in page
    assert "1 package, 1 failed again since last" in page
