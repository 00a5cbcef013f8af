"""Throttles as people set them."""

import shlex
from pathlib import Path
from shlex import quote

import pytest

from tests.cli.conftest import Type
from tests.support.building import document
from tests.support.jobs import job, simple
from tests.support.rows import read
from tests.support.site import Site


def test_a_throttle_is_set_and_listed_with_what_is_in_use(site: Site, d0ctl: Type) -> None:
    site.submit(job("prod", [simple() for _ in range(3)], originator="ada@lab"))
    site.up(cpus=8)
    site.launch("prod/1/1/1")

    done = d0ctl("throttle", "set", "researcher", "ada*", "--max-running", "2")

    assert done.stdout == "limits of `researcher ada*`: max-running none -> 2\n"
    (entry,) = document(d0ctl("throttle", "list", "--json").stdout)["throttles"]
    assert entry["in_use"] == [{"name": "ada@lab", "running": 1, "launched": 0}]
    listed = d0ctl("throttle", "list").stdout
    assert "2 at once" in listed
    assert "ada@lab (1 on nodes)" in listed


def test_throttles_that_apply_to_the_same_name_are_named_as_the_smallest_holds(
    site: Site, d0ctl: Type
) -> None:
    d0ctl("throttle", "set", "researcher", "*", "--max-running", "4")
    holds = "throttle `researcher *` applies as well and allows 4: the smallest limit holds"

    assert holds in d0ctl("throttle", "set", "researcher", "carl", "--max-running", "8").stdout
    assert d0ctl("throttle", "list").stdout.splitlines()[-1] == (
        "several throttles apply to some of these: the smallest limit holds"
    )
    tighter = d0ctl("throttle", "set", "researcher", "carl", "--max-running", "2")
    assert "smallest" not in tighter.stdout


def test_the_list_of_nodes_names_the_throttle_that_leaves_slots_free(
    site: Site, d0ctl: Type
) -> None:
    site.submit(job("prod", [simple() for _ in range(3)]))
    site.up(cpus=8)
    site.launch("prod/1/1/1")
    d0ctl("throttle", "set", "node", "localhost", "--max-running", "2")
    assert "throttle" not in d0ctl("node", "list").stdout

    d0ctl("throttle", "set", "node", "localhost", "--max-running", "1")

    held = "1 package is on nodes, and throttle `node localhost` allows 1"
    assert f"takes no more packages now: {held}" in d0ctl("node", "list").stdout


def test_the_undo_of_a_throttle_restores_the_limits_before(site: Site, d0ctl: Type) -> None:
    d0ctl("throttle", "set", "job", "big*", "--max-running", "4")

    done = d0ctl("throttle", "set", "job", "big*", "--max-running", "none",
                 "--max-launches", "9/1m")  # fmt: skip
    undo = "d0ctl throttle set job 'big*' --max-running 4 --max-launches none"
    assert f"to undo: {undo}" in done.stderr
    d0ctl(*shlex.split(undo)[1:], "--reason", "too slow")

    assert "4 at once" in d0ctl("throttle", "list").stdout
    assert read(site.store, "action", "verb", "target", "note")[-1] == (
        "throttle set", "job big*", "too slow; --max-running 4 --max-launches none",
    )  # fmt: skip
    again = d0ctl("throttle", "set", "job", "big*", "--max-running", "4")
    assert again.stdout == "`job big*` has these limits already\n"


def test_the_site_file_puts_the_throttles_back(site: Site, d0ctl: Type, tmp_path: Path) -> None:
    file = tmp_path / "site.yaml"
    file.write_text("throttles:\n  job test-*: {max-launches: 10/60s}\n")
    assert d0ctl("site", "apply", str(file), "--yes").exit_code == 0
    d0ctl("throttle", "set", "job", "test-*", "--max-launches", "none", "--max-running", "4")

    changed = "~ setting throttles: job test-*.max-running 4 -> none"
    assert changed in d0ctl("site", "diff", str(file)).stdout
    assert d0ctl("site", "apply", str(file), "--yes").exit_code == 0
    (entry,) = document(d0ctl("throttle", "list", "--json").stdout)["throttles"]
    assert (entry["max_launches"], entry["per"], entry["max_running"]) == (10, 60.0, None)


@pytest.mark.parametrize(
    ("words", "said"),
    [(["group", "x", "--max-running", "2"], "`group x` is not a throttle: write node, "),
     (["job", "x"], "no limit is given"),
     (["job"], "`job` is not a throttle: write node, researcher or job, then its name"),
     (["job", "x", "--max-running", "0"], "`--max-running`: it takes a whole number, 1 or more"),
     (["job", "x", "--max-launches", "9"], "`--max-launches`: it takes a number and a time")],
)  # fmt: skip
def test_an_invalid_throttle_is_bad_usage(d0ctl: Type, words: list[str], said: str) -> None:
    done = d0ctl("throttle", "set", *words)

    assert (done.exit_code, said in done.stderr) == (2, True), done.stderr


def test_faults_of_throttles_are_found_by_site_check(d0ctl: Type, tmp_path: Path) -> None:
    file = tmp_path / "site.yaml"
    file.write_text("throttles:\n  farm1: {max-running: 2}\n  node a: {}\n  job b: 3\n"
                    "  job c: {max-launches: 5/0s}\n")  # fmt: skip

    said = d0ctl("site", "check", str(file)).stderr

    assert "`farm1` is not a throttle" in said
    assert "a throttle needs `max-running` or `max-launches`" in said
    assert "`job b` takes keys of a throttle" in said
    assert "`max-launches` takes a number and a time from 1s to 31d" in said


@pytest.mark.parametrize(
    ("name", "hint"),
    [("ada", ": add it, or write `researcher ada@*`"), ("emy", " (did you mean `emmy`?)"),
     ("emmy", None), ("ada@*", None), ("ada@lab", None)],
)  # fmt: skip
def test_site_check_warns_of_a_throttle_of_a_login_that_is_no_researcher(
    d0ctl: Type, tmp_path: Path, name: str, hint: str | None
) -> None:
    file = tmp_path / "site.yaml"
    file.write_text("researchers:\n  emmy: {mail: emmy@lab}\n"
                    f"throttles:\n  researcher {name}: {{max-running: 2}}\n")  # fmt: skip

    said = d0ctl("site", "check", str(file)).output

    assert (f"jobs of `{name}@HOST` are not limited" in said) is (hint is not None)
    assert hint is None or hint in said


def test_a_limit_of_a_node_that_is_not_there_says_so(site: Site, d0ctl: Type) -> None:
    unknown = d0ctl("throttle", "set", "node", "localhst", "--max-running", "1").stdout
    known = d0ctl("throttle", "set", "node", "local*", "--max-running", "1").stdout

    assert unknown.endswith("there is no node `localhst` yet\n")
    assert "there is no" not in known


def test_a_limit_of_a_researcher_without_jobs_who_is_not_declared_says_so(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    site.submit(job("prod", [simple()], originator="ada@lab"))
    file = tmp_path / "site.yaml"
    file.write_text("researchers:\n  emmy: {mail: emmy@lab}\n")
    d0ctl("site", "apply", str(file), "--yes")

    said = {name: d0ctl("throttle", "set", "researcher", name, "--max-running", "1").stdout
            for name in ("emy", "ada", "emmy", "ada@*")}  # fmt: skip

    assert said["emy"].endswith("there is no researcher `emy` yet\n")
    assert said["ada"].endswith("there is no researcher `ada` yet\n")
    assert "there is no" not in said["emmy"] + said["ada@*"]


def test_a_name_without_its_kind_is_completed(site: Site, d0ctl: Type) -> None:
    for name in ("localhost", "local*"):
        answer = d0ctl("throttle", "set", name, "--max-running", "1").stderr
        assert answer.endswith(f"d0ctl throttle set node {quote(name)} --max-running 1\n")


def test_a_name_without_its_kind_and_without_limits_is_completed_with_an_example(
    d0ctl: Type,
) -> None:
    answer = d0ctl("throttle", "set", "localhost").stderr

    assert answer.endswith("d0ctl throttle set node localhost --max-running 50\n")


def test_a_kind_and_a_name_may_be_one_word(site: Site, d0ctl: Type) -> None:
    said = d0ctl("throttle", "set", "node localhost", "--max-running", "1").stdout

    assert "`node localhost`" in said


@pytest.mark.parametrize(
    ("words", "meant"),
    [(["emmy"], "researcher emmy --max-running 1"),
     (["user", "emmy"], "researcher emmy --max-running 50"),
     (["prod", "--max-launches", "9/1m"], "job prod --max-running 1 --max-launches 9/1m"),
     (["machine", "farm"], "node farm --max-running 50"),
     (["researcher"], "researcher emmy --max-running 50"),
     (["job"], "job 'test-*' --max-running 50")],
)  # fmt: skip
def test_the_kind_of_a_throttle_is_suggested_by_the_name_or_the_word(
    site: Site, d0ctl: Type, words: list[str], meant: str
) -> None:
    site.submit(job("prod", [simple()], originator="ada@lab"))

    done = d0ctl("throttle", "set", *words, "--max-running", "1")

    assert done.exit_code == 2
    assert done.stderr.splitlines() == [
        f"d0ctl: `{' '.join(words).partition(' --')[0]}` is not a throttle: "
        "write node, researcher or job, then its name",
        f"d0ctl throttle set {meant}",
    ]


@pytest.mark.parametrize(
    ("words", "what", "selector"),
    [(["prod"], "a job", "prod"), (["prod/1"], "part of a job", "prod/1"),
     (["job", "prod/1"], "part of a job", "prod/1")],
)  # fmt: skip
def test_the_limits_of_a_job_are_set_by_limit(
    site: Site, d0ctl: Type, words: list[str], what: str, selector: str
) -> None:
    site.submit(job("prod", [simple()], originator="ada@lab"))

    done = d0ctl("throttle", "set", *words, "--max-running", "1")

    assert done.exit_code == 2
    assert done.stderr.splitlines() == [
        f"d0ctl: `{selector}` is {what}: `limit` sets its limits",
        f"d0ctl limit {selector} --max-running 50",
    ]
