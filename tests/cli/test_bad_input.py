"""The bad input of failure and recovery, as it is typed and as it is refused."""

import re
from pathlib import Path

import pytest

from tests.cli.conftest import Type
from tests.support.building import job, line, package, production
from tests.support.site import Site

POLICY = "policy: {stagein: {tries: 1}, hook: {delay: -5m}, killed: {tries: 1}, signal: 3}\n"

FAULTS = [
    "10: `stagein` is not a failure reason (did you mean `stage-in`?)",
    "45: `delay` takes a time such as `20m`, `1h30m` or `90` seconds, not `-5m`",
    "51: the rule for `killed` can never match: killed packages are canceled, not failed",
    "79: the rule for `signal` takes keys such as `tries`, not `3`",
]
"""What is wrong with it, by column where it stands at the beginning of a line."""


@pytest.mark.parametrize(
    ("command", "before", "after", "line", "column"),
    [("validate", "", "stages: [{lines: [{run: x}]}]\n", 1, 0),
     ("validate", "stages:\n  - lines:\n      - run: x\n        ", "", 4, 8),
     ("site check", "", "", 1, 0),
     ("site check", "software:\n  - name: reco\n    version: v\n    script: r\n    ", "", 5, 4)],
    ids=["job", "package", "site", "software"],
)  # fmt: skip
def test_each_fault_of_a_policy_is_reported_with_its_position(
    d0ctl: Type, tmp_path: Path, command: str, before: str, after: str, line: int, column: int
) -> None:
    file = tmp_path / "file.yaml"
    file.write_text(before + POLICY + after)

    result = d0ctl(*command.split(), str(file))

    answer = [fault.partition(": ") for fault in FAULTS]
    expected = [f"{file}:{line}:{int(at) + column}: {what}" for at, _, what in answer]
    assert result.exit_code == 2
    assert [one for one in expected if one not in result.output] == []


@pytest.mark.parametrize(
    ("path", "expected"),
    [("prod/1/1/1", "package `prod/1/1/1` is successful, so it can't be killed"),
     ("prod/1/2/1", "package `prod/1/2/1` is failed, so it can't be killed"),
     ("prod/1/3/1", "package `prod/1/3/1` is canceled, so it can't be killed; emmy killed")],
    ids=["successful", "failed", "canceled"],
)  # fmt: skip
def test_an_ended_package_is_not_killed(
    site: Site, d0ctl: Type, monkeypatch: pytest.MonkeyPatch, path: str, expected: str
) -> None:
    monkeypatch.setenv("LOGNAME", "emmy")
    site.submit(production())
    site.finish("prod/1/1/1")
    site.fail("prod/1/2/1")
    assert d0ctl("kill", "prod/1/3/1", "--yes").exit_code == 0

    result = d0ctl("kill", path, "--yes")

    assert result.exit_code == 4
    assert expected in result.stderr
    assert f"d0ctl why {path}" in result.stderr


def test_a_job_that_was_removed_is_said_to_have_been(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    d0ctl("remove", "prod", "--yes")

    for words in (["status", "prod"], ["history", "prod"], ["kill", "prod"]):
        said = d0ctl(*words).stderr
        assert re.search(r"there is no job `prod` \(\S+ removed it at \d\d:\d\d", said), said


def test_a_node_that_was_removed_is_said_to_have_been(d0ctl: Type) -> None:
    d0ctl("node", "add", "farm01", "--local", "--same-machine")
    d0ctl("node", "remove", "farm01", "--yes")

    said = d0ctl("why", "farm01").stderr

    assert re.search(r"`farm01` \(\S+ removed the node of this name at \d\d:\d\d", said), said


def test_the_name_without_its_number_suggests_the_newest_job_of_the_same_file(
    site: Site, d0ctl: Type
) -> None:
    for name in ("mc-001", "mc-002", "md", "mc-x"):
        site.submit(production(name))

    for verb in ("status", "why", "kill", "logs"):
        assert d0ctl(verb, "mc").stderr.endswith("did you mean `mc-002`?\n")


@pytest.mark.parametrize(
    ("words", "expected", "nearest"),
    [(["prodd"], "there is no job `prodd`", "did you mean `prod`?"),
     (["prod/mak"], "job `prod` has no stage `mak`", "did you mean `make`?"),
     (["prod/9"], "there is no stage 9", "stages 1 to 3"),
     (["prod/1/9"], "there is no line 9", "lines 1 to 3"),
     (["prod/1/1/9"], "there is no package 9", "packages 1 to 2"),
     (["prod/1/5-9"], "no package matches `prod/1/5-9`", "lines 1 to 3"),
     (["prod:failed"], "no package matches `prod:failed`", "`prod` has"),
     (["prod:faild"], "neither a status nor a phase", "did you mean `failed`?"),
     (["prod:*.txt"], "neither a status nor a phase", "for files: d0ctl file list 'prod:*.txt'"),
     (["prod/1:out.txt"], "neither a status nor a", "for files: d0ctl why prod:out.txt"),
     (["prod:soon"], "neither a status nor a phase", "one of unscheduled, scheduled, launched,"),
     (["prod", "--failed-for", "exit-cod"], "`exit-cod`", "did you mean `exit-code`?"),
     (["prod", "--failed-for", "exit-code"], "no package matches", "none of its packages"),
     (["prod", "--node", "localhos"], "there is no node `localhos`", "did you mean `localhost`?"),
     (["prod", "--older-than", "2d"], "no package matches", "d0ctl status prod")],
    ids=lambda words: " ".join(words) if isinstance(words, list) else "",
)  # fmt: skip
@pytest.mark.parametrize("verb", ["kill", "hold", "retry"])
def test_an_invalid_selector_is_refused_with_a_suggestion(
    site: Site, d0ctl: Type, verb: str, words: list[str], expected: str, nearest: str
) -> None:
    site.submit(production())

    result = d0ctl(verb, *words, *(["--yes"] if verb == "kill" else []))

    assert result.exit_code == (2 if "neither" in expected or "exit-cod" in words else 3)
    assert expected in result.stderr
    assert nearest in result.stderr


@pytest.mark.parametrize(
    ("word", "reason"),
    [("oom", "out-of-memory"), ("OUT_OF_MEMORY", "out-of-memory"), ("TIMEOUT", "wall-time")],
)
def test_the_word_of_a_batch_system_for_a_reason_leads_to_it(
    d0ctl: Type, word: str, reason: str
) -> None:
    result = d0ctl("retry", "prod", "--failed-for", word)

    assert result.stderr == (f"d0ctl: `{word}` is not a failure reason\ndid you mean `{reason}`?\n")


@pytest.mark.parametrize(
    ("typed", "numbers"),
    [("prod/make/two", "prod/make/2"), ("prod/1/three/sim", "prod/1/3/2"),
     ("prod/make/2/sim", "prod/make/2/2"), ("prod/make/two:failed", "prod/make/2:failed")],
)  # fmt: skip
@pytest.mark.parametrize("words", [("status",), ("why",), ("kill", "--dry-run"), ("logs",)])
def test_a_line_or_package_by_its_name_is_answered_with_its_number(
    d0ctl: Type, site: Site, typed: str, numbers: str, words: tuple[str, ...]
) -> None:
    make = [line(package(f"g-{n}", name="gen"), package(f"s-{n}", needs=[f"g-{n}"], name="sim"),
                 name=name) for n, name in enumerate(("one", "two", "three"), 1)]  # fmt: skip
    site.submit(job(("make", make)))

    result = d0ctl(*words, typed)

    assert result.exit_code == 2
    assert result.stderr.splitlines()[1] == f"its number is in `{numbers}`"


def test_the_name_of_no_line_is_refused_also_without_a_home(d0ctl: Type, site: Site) -> None:
    site.submit(production())

    assert "`nine` in `prod/1/nine` is neither a number" in d0ctl("status", "prod/1/nine").stderr
    assert d0ctl("status", "none/1/nine").exit_code == 2


@pytest.mark.parametrize(
    ("words", "option", "command"),
    [("submit job.yaml --as", "--as", "d0ctl submit"),
     ("report usage --html", "--html", "d0ctl report usage"),
     ("--home", "--home", "d0ctl")],
    ids=["command", "part-of-a-command", "before-the-command"],
)  # fmt: skip
def test_an_option_without_its_value_is_refused_with_the_help_of_its_command(
    d0ctl: Type, words: str, option: str, command: str
) -> None:
    result = d0ctl(*words.split())

    assert result.exit_code == 2
    assert result.stderr.splitlines() == [f"d0ctl: option `{option}` requires an argument",
                                          f"{command} --help"]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "hint"),
    [("limit prod 5", "d0ctl limit prod --max-running 5"),
     ("limit prod/1 none", "d0ctl limit prod/1 --max-running none"),
     ("submit a.yaml --set events 500", "--set events=500"),
     ("update none.yaml", "d0ctl update JOB"),
     ("retry prod --mem 4GB", "d0ctl retry --help")],
)  # fmt: skip
def test_words_in_the_wrong_form_are_answered_with_the_right_one(
    site: Site, d0ctl: Type, words: str, hint: str
) -> None:
    site.submit(production())

    result = d0ctl(*words.split())

    assert (result.exit_code, result.stderr.splitlines()[-1]) == (2, hint)


def test_update_of_a_job_file_names_the_job_that_was_submitted_from_it(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    file = tmp_path / "scan.yaml"
    file.write_text("job: scan-b\nstages: [{lines: [{run: 'true'}]}]\n")
    assert d0ctl("submit", str(file)).exit_code == 0

    assert d0ctl("update", str(file)).stderr.endswith("\nd0ctl update scan-b\n")


def test_a_misspelt_option_is_guessed_only_if_it_is_near(d0ctl: Type) -> None:
    assert d0ctl("retry", "mc", "--mem").stderr.startswith(
        "d0ctl: no such option `--mem`: did you mean `--memory`?\n"
    )
    assert d0ctl("status", "--jsno").stderr == (
        "d0ctl: no such option `--jsno`: did you mean `--json`?\nd0ctl status --help\n"
    )
    for words in (("retry", "mc", "--all"), ("logs", "mc", "--head")):
        assert d0ctl(*words).stderr == (
            f"d0ctl: no such option `{words[-1]}`\nd0ctl {words[0]} --help\n"
        )


def test_reading_a_file_of_a_job_is_led_to_where_it_is(d0ctl: Type) -> None:
    for word in ("cat", "less", "head"):
        said = d0ctl(word, "mc:all.txt").stderr
        assert said.endswith("d0ctl why mc:all.txt   # says where it is\n")


def test_a_word_for_results_of_a_part_names_the_command_for_its_job(d0ctl: Type) -> None:
    assert d0ctl("output", "mc/1/2/1").stderr.splitlines()[1] == "d0ctl results mc"


@pytest.mark.parametrize("option", [["--failed-for", "exit-code"], ["--node", "localhost"]])
def test_an_option_of_one_value_is_not_given_twice(
    site: Site, d0ctl: Type, option: list[str]
) -> None:
    site.submit(production())
    site.fail("prod/1/1/1")

    refused = d0ctl("retry", "prod:failed", *option, option[0], "other")

    assert refused.exit_code == 2
    assert refused.stderr.startswith(f"d0ctl: `{option[0]}` takes one value, and is given twice")
    assert site.phase("prod/1/1/1") == "failed"
    assert d0ctl("retry", "prod:failed", *option).exit_code == 0
