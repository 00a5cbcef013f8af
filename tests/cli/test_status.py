"""What `status` shows and prints as JSON."""

from pathlib import Path

import pytest

from d0ctl.config import Home
from tests.cli.conftest import Type
from tests.support.building import document, job, line, package, production
from tests.support.site import Site

STATUSES = ["unscheduled", "scheduled", "launched", "successful", "failed", "canceled"]


def test_without_a_home_there_are_no_jobs(d0ctl: Type, usual_home: Home) -> None:
    result = d0ctl("status", "--json")

    assert document(result.stdout) == {"jobs": [], "obstacles": []}
    assert result.exit_code == 0
    assert not usual_home.root.exists()


def test_without_a_home_no_job_is_found(d0ctl: Type, usual_home: Home) -> None:
    result = d0ctl("status", "prod")

    assert result.exit_code == 3
    assert result.stderr.startswith("d0ctl: there is no job `prod`")


def test_all_jobs_are_listed_the_newest_first(site: Site, d0ctl: Type) -> None:
    site.submit(production("one"))
    site.submit(production("two"))

    jobs = document(d0ctl("status", "--json").stdout)["jobs"]

    assert [job["job"] for job in jobs] == ["two", "one"]
    assert [job["status"] for job in jobs] == ["submitted", "submitted"]
    assert list(jobs[0]["packages"]) == STATUSES
    assert "two" in d0ctl("status").stdout


def test_a_glob_of_jobs_lists_those(site: Site, d0ctl: Type) -> None:
    site.submit(production("mc1"))
    site.submit(production("mc2"))
    site.submit(production("data"))

    jobs = document(d0ctl("status", "mc*", "--json").stdout)["jobs"]

    assert {job["job"] for job in jobs} == {"mc1", "mc2"}
    assert d0ctl("status", "x*").exit_code == 3


def test_the_document_of_a_job_has_what_scripts_rely_on(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.finish("prod/1/1/1")

    answer = document(d0ctl("status", "prod", "--json").stdout)

    assert (answer["job"], answer["status"], answer["dropped"]) == ("prod", "submitted", 0)
    assert answer["packages"] == dict.fromkeys(STATUSES, 0) | {"unscheduled": 7, "successful": 1}
    assert [stage["stage"] for stage in answer["stages"]] == [1, 2, 3]
    first = answer["stages"][0]
    assert (first["name"], first["lines"], first["status"]) == ("make", 3, "submitted")
    assert first["packages"]["successful"] == 1


def test_the_document_of_a_package_has_what_scripts_rely_on(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.fail("prod/1/1/1", stderr="boom\n")

    answer = document(d0ctl("status", "prod/1/1/1", "--json").stdout)

    assert (answer["path"], answer["status"], answer["phase"]) == ("prod/1/1/1", "failed", "failed")
    assert (answer["node"], answer["request"]) == ("localhost", None)
    (attempt,) = answer["attempts"]
    assert attempt["attempt"] == 1
    assert (attempt["node"], attempt["outcome"], attempt["binary"]) == ("localhost", "failed", 1)
    assert (attempt["reason"], attempt["exit_code"], attempt["signal"]) == ("exit-code", 3, None)
    assert attempt["message"] == "binary 1 (tool) ended with exit code 3"
    assert attempt["started"].endswith("Z")
    assert attempt["ended"].endswith("Z")
    (failure,) = answer["failures"]
    assert (failure["reason"], failure["count"]) == ("exit-code", 1)
    assert {"done", "total", "percent", "eta"} <= set(answer["progress"])
    assert set(answer["progress"].values()) == {None}


def test_a_wildcard_or_a_filter_gives_packages(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.fail("prod/1/2/1")

    def paths(*words: str) -> list[str]:
        answer = document(d0ctl("status", *words, "--json").stdout)
        return [one["path"] for one in answer["packages"]]

    assert paths("prod/1/*:failed") == ["prod/1/2/1"]
    assert paths("prod", "--status", "failed") == ["prod/1/2/1"]
    assert paths("prod/make/1-2/1") == ["prod/1/1/1", "prod/1/2/1"]
    assert paths("prod/1/2/*") == ["prod/1/2/1", "prod/1/2/2"]
    assert paths("prod", "--reason", "exit-code") == ["prod/1/2/1"]
    assert paths("prod", "--node", "localhost") == ["prod/1/2/1"]
    assert paths("prod:done") == []
    assert paths("--older-than", "1h") == []
    assert len(paths("--older-than", "0s")) == 8


def test_stages_and_lines_have_documents(site: Site, d0ctl: Type) -> None:
    site.submit(production())

    stage = document(d0ctl("status", "prod/make", "--json").stdout)
    line = document(d0ctl("status", "prod/1/2", "--json").stdout)

    assert (stage["path"], stage["lines"], len(stage["line_list"])) == ("prod/1", 3, 3)
    assert (line["path"], line["status"]) == ("prod/1/2", "submitted")
    assert [one["path"] for one in line["package_list"]] == ["prod/1/2/1", "prod/1/2/2"]


@pytest.mark.parametrize(
    ("selector", "expected", "hint"),
    [
        ("prot", "there is no job `prot`", "did you mean `prod`?"),
        ("prod/9", "job `prod` has stages 1 to 3, so there is no stage 9", "d0ctl status prod"),
        ("prod/mrge", "job `prod` has no stage `mrge`", "did you mean `merge`?"),
        ("prod/1/9", "stage `prod/1` has lines 1 to 3, so there is no line 9",
         "d0ctl status prod/1"),
        ("prod/1/1/9", "line `prod/1/1` has packages 1 to 2, so there is no package 9",
         "d0ctl status prod/1/1"),
        ("prod/2/1/9", "line `prod/2/1` has just one package, so there is no package 9",
         "d0ctl status prod/2/1"),
        ("prod/9/*", "job `prod` has stages 1 to 3, so there is no stage 9", "d0ctl status prod"),
    ],
)  # fmt: skip
def test_a_missing_path_is_reported_with_existing_ones(
    site: Site, d0ctl: Type, selector: str, expected: str, hint: str
) -> None:
    site.submit(production())

    result = d0ctl("status", selector)

    assert result.exit_code == 3
    assert result.stderr == f"d0ctl: {expected}\n{hint}\n"
    assert result.stdout == ""


def test_an_unknown_node_is_no_empty_answer(site: Site, d0ctl: Type) -> None:
    site.submit(production())

    assert d0ctl("status", "prod", "--node", "local").exit_code == 3


def test_the_screen_of_a_job_shows_the_last_failure_and_what_to_type(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production())
    site.launch("prod/1/1/1")
    site.fail("prod/1/2/1", stderr="one\ntwo\nthree\nfour\nfive\nsix\n")

    screen = d0ctl("status", "prod").stdout

    assert "A production" in screen
    assert "1 on localhost" in screen
    assert "prod/1/2/1 gen on localhost" in screen
    assert "exit-code: binary 1 (tool) ended with exit code 3" in screen
    assert "│ six" in screen
    assert "│ one" not in screen
    assert "d0ctl kill-line prod/1/2 --drop-outputs" in screen


def test_a_blocked_job_has_failed_and_says_so(site: Site, d0ctl: Type) -> None:
    site.submit(production(lines=1))
    site.fail("prod/1/1/1")

    screen = d0ctl("status", "prod").stdout

    assert "✘ failed" in screen
    assert "3 packages are blocked" in screen
    assert document(d0ctl("status", "prod", "--json").stdout)["blocked"] == 3


def test_every_screen_can_be_drawn_in_every_phase(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.launch("prod/1/1/1")
    site.fail("prod/1/2/1")
    site.finish("prod/1/3/1")

    for selector in ("prod", "prod/1", "prod/1/1", "prod/1/2/1", "prod/1/3/1", "prod/*", "prod/2"):
        result = d0ctl("status", selector)
        assert result.exit_code == 0, selector
        assert "prod" in result.stdout


def test_watching_and_json_exclude_each_other(d0ctl: Type) -> None:
    assert d0ctl("status", "--watch", "--json").exit_code == 2


def test_escapes_printed_by_a_package_do_not_reach_the_terminal(site: Site, d0ctl: Type) -> None:
    evil = "\x1b[2J\x1b]0;owned\x07\x9b31m\u202e\x7fred"
    site.submit(production(title=evil))
    site.fail("prod/1/1/1", stderr=evil, detail=evil)

    for words in (["status"], ["status", "prod"], ["status", "prod/1/1/1"], ["why", "prod/1/1/1"],
                  ["history", "prod"], ["status", "prod", "--json"], ["status", "prod:failed"],
                  ["why", "prod", "--json"], ["history", "prod/1/1/1", "--json"]):  # fmt: skip
        output = d0ctl(*words).stdout
        for character in "\x1b\x07\x9b\u202e\x7f":
            assert character not in output, words


def test_output_to_a_pipe_has_no_colours(site: Site, d0ctl: Type) -> None:
    site.submit(production())

    assert "\x1b" not in d0ctl("status", "prod").stdout


def test_a_binary_has_a_screen_and_an_answer_of_its_own(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    path = "prod/1/1/1/1"

    waiting = d0ctl("why", path).stdout
    site.finish("prod/1/1/1")
    screen = d0ctl("status", path).stdout

    assert "has not run yet" in waiting
    assert screen.splitlines()[0].startswith(path)
    assert "command" in screen
    assert f"d0ctl why {path}" in screen
    assert "has no record of a run" in d0ctl("why", path).stdout


@pytest.mark.parametrize("run", ["'cat {inputs} > all'", "[cat, '{inputs}']"])
def test_the_command_of_a_binary_is_shown_as_it_was_written(
    d0ctl: Type, tmp_path: Path, run: str
) -> None:
    file = tmp_path / "merge.yaml"
    file.write_text(f"job: m\nstages: [{{lines: [{{run: {run}, inputs: /etc/hostname}}]}}]\n")
    assert d0ctl("submit", str(file)).exit_code == 0

    assert "cat {inputs}" in d0ctl("status", "m/1/1/1/1").stdout
    assert "{inputs}" in d0ctl("status", "m/1/1/1/1", "--json").stdout
    assert "u0001" not in d0ctl("status", "m/1/1/1/1", "--json").stdout


@pytest.mark.parametrize(("also_fails", "code"), [(False, 0), (True, 1)])
def test_waiting_for_several_jobs_ends_well_only_if_all_do(
    site: Site, d0ctl: Type, also_fails: bool, code: int
) -> None:
    for name in ("a1", "a2"):
        site.submit(job(("gen", [line(package(f"{name}.raw"))]), name=name))
    site.finish("a1/1/1/1")
    if also_fails:
        site.fail("a2/1/1/1")
    else:
        site.finish("a2/1/1/1")

    waited = d0ctl("wait", "a*")

    assert waited.exit_code == code, waited.stdout
    assert "`a1` is successful" in waited.stdout


def test_acknowledged_failures_are_counted_and_say_who_did_it(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.fail("prod/1/1/1")
    site.fail("prod/1/2/1")
    assert d0ctl("acknowledge", "prod/1/2/1", "--reason", "known").exit_code == 0

    whole = document(d0ctl("status", "prod", "--json").stdout)
    line = document(d0ctl("status", "prod/1/2", "--json").stdout)

    assert (whole["acknowledged"], whole["stages"][0]["acknowledged"]) == (1, 1)
    assert whole["phases"]["failed"] == 2
    first, second = line["package_list"]
    seen = first["acknowledged"]
    assert (seen["reason"], sorted(seen), second["acknowledged"]) == (
        "known",
        ["at", "by", "reason"],
        None,
    )
    assert line["acknowledged"] == 1
    assert document(d0ctl("status", "prod/1/2/1", "--json").stdout)["acknowledged"] == seen
    assert document(d0ctl("status", "prod/1/1/1", "--json").stdout)["acknowledged"] is None
    failed = {one["path"]: one["acknowledged"] for one in whole["failed"]}
    assert failed == {"prod/1/1/1": None, "prod/1/2/1": seen}


def test_the_report_of_failures_says_which_are_acknowledged(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.fail("prod/1/1/1")
    site.fail("prod/1/2/1")
    assert d0ctl("acknowledge", "prod/1/2/1", "--reason", "known").exit_code == 0

    report = document(d0ctl("report", "failures", "--json").stdout)
    seen = document(d0ctl("status", "prod/1/2/1", "--json").stdout)["acknowledged"]
    (group,) = report["by_reason"]

    assert (report["acknowledged"], group["acknowledged"], group["packages"]) == (1, 1, 2)
    samples = [one["sample"] for one in (*report["by_node"], *report["by_reason"])]
    known = {"prod/1/1/1": None, "prod/1/2/1": seen}
    assert [one["acknowledged"] for one in samples] == [known[one["path"]] for one in samples]
    assert "2 packages  1 acknowledged" in d0ctl("report", "failures").stdout
