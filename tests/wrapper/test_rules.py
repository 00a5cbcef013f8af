"""What a binary's own log says of it: rules that end it, that count, that wait for a word."""

import re
import resource

import pytest
from hypothesis import given
from hypothesis import strategies as st

from d0ctl_wrapper.attempt.guards.log_rules import Rules
from d0ctl_wrapper.attempt.verdict import Failed
from tests.wrapper.client import Client, Frame, binary, launch
from tests.wrapper.test_progress import STAYS


def rule(match: str, **more: object) -> Frame:
    return {"match": match, **more}


def notes(node: Client) -> list[str]:
    return [one["text"] for one in node.messages(1) if one["kind"] == "note"]


def test_a_matching_line_fails_a_binary_with_exit_code_0(node: Client) -> None:
    end = node.run(binary(script="echo fine; echo FATAL bad beam", log_rules=[rule("FATAL (.*)")]))

    assert (end["outcome"], end["reason"], end["exit_code"]) == ("failed", "log-message", 0)
    assert end["detail"] == "binary 1 (step) wrote to its log: FATAL bad beam"


def test_a_rule_gives_a_reason_of_the_site(node: Client) -> None:
    rules = [rule("no calibration", reason="site:calibration")]
    end = node.run(binary(script="echo 'no calibration' >&2; exit 3", log_rules=rules))

    assert (end["reason"], end["exit_code"]) == ("site:calibration", 3)


def test_a_binary_ends_as_soon_as_its_log_matches(node: Client) -> None:
    script = f"echo FATAL: bad beam; {STAYS}"
    end = node.run(binary(script=script, log_rules=[rule("^FATAL")]))

    assert (end["reason"], end["signal"], end["binary"]) == ("log-message", 15, 1)
    assert [one["signal"] for one in end["binaries"]] == [15]


def test_the_matching_line_is_reported_without_escapes(node: Client) -> None:
    script = r"printf '\033[31mFATAL\033[0m \033]0;evil\007beam\n'"
    end = node.run(binary(script=script, log_rules=[rule("^FATAL beam$")]))

    assert end["detail"] == "binary 1 (step) wrote to its log: FATAL beam"


def test_a_last_line_without_an_end_is_read(node: Client) -> None:
    end = node.run(binary(script="printf FATAL", log_rules=[rule("^FATAL$")]))

    assert end["reason"] == "log-message"


def test_a_passive_rule_only_counts(node: Client) -> None:
    rules = [rule("retry", passive=True), rule("never", passive=True)]
    end = node.run(binary(script="for i in 1 2 3; do echo retry $i; done", log_rules=rules))

    assert end["outcome"] == "successful"
    assert notes(node) == ["its log matched `retry` 3 times, first: retry 1"]


def test_a_required_rule_without_a_match_fails_the_verification(node: Client) -> None:
    rules = [rule("^done", required=True)]

    assert node.run(binary(script="echo done", log_rules=rules))["outcome"] == "successful"
    end = node.run(binary(script="echo almost done", log_rules=rules), attempt=2)
    assert (end["reason"], end["detail"]) == (
        "verification",
        "binary 1 (step) never wrote `^done` to its log",
    )
    end = node.run(binary(script="exit 3", log_rules=rules), attempt=3)
    assert end["reason"] == "exit-code"


HOPELESS = rule("^(a+)+$")
"""Takes years on a line of many a and a b."""

CRUEL = "printf 'a%.0s' $(seq 60); echo b; echo FATAL after it"


def test_an_expression_without_end_fails_the_verification(node: Client) -> None:
    end = node.run(binary(script=CRUEL, log_rules=[HOPELESS]))

    answer = "the log rule `^(a+)+$` backtracks endlessly on a line, and is ignored from now on"
    assert (end["reason"], end["detail"]) == ("verification", f"binary 1 (step): {answer}")


def test_an_endless_passive_rule_is_ignored_and_the_others_continue(node: Client) -> None:
    rules = [rule("^(a+)+$", passive=True), rule("^FATAL")]
    end = node.run(binary(script=CRUEL, log_rules=rules))

    assert end["reason"] == "log-message"
    assert end["detail"].endswith("FATAL after it")
    assert [text[:30] for text in notes(node)] == ["the log rule `^(a+)+$` backtra"]


def test_each_of_a_million_lines_is_read_in_bounded_memory(node: Client) -> None:
    resource.prlimit(node.process.pid, resource.RLIMIT_AS, (400_000_000, 400_000_000))
    rules = [rule("^777777$", passive=True), rule("^1000000$")]
    end = node.run(binary(script="seq 1 1000000", log_rules=rules))

    assert end["detail"].endswith(": 1000000")
    assert notes(node) == ["its log matched `^777777$` once, first: 777777"]


def test_a_line_of_a_gigabyte_needs_no_memory(node: Client) -> None:
    resource.prlimit(node.process.pid, resource.RLIMIT_AS, (400_000_000, 400_000_000))
    script = "truncate -s 1G /dev/stdout; echo; echo FATAL"
    end = node.run(binary(script=script, log_rules=[rule("^FATAL")]))

    assert end["reason"] == "log-message"


def test_a_kill_is_obeyed_while_a_long_log_is_read(node: Client) -> None:
    script = f"seq 1 3000000; touch ../said; {STAYS}"
    node.launch(launch(1, binary(script=script, log_rules=[rule(f"x{n}") for n in range(20)])))
    node.started(1)
    node.send("kill", attempts=[1], grace=0.2)

    assert node.end(1)["outcome"] == "killed"


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        (rule("("), "is not a regular expression"),
        (rule("x", reason="whatever"), "is not a reason for a log rule"),
        (rule("x", reason="exit-code"), "is not a reason for a log rule"),
        (rule("x", passive=1), "is neither true nor false"),
    ],
)
def test_a_launch_with_a_wrong_rule_is_refused(node: Client, wrong: Frame, why: str) -> None:
    node.launch(launch(1, binary("true", log_rules=[wrong])))

    assert why in node.wait("refused")["message"]


lines = st.lists(st.text("ab \t", max_size=5), max_size=40)


@given(lines, st.lists(st.integers(0, 40), max_size=5), st.sampled_from(["a", "^b", "a.*b$"]))
def test_rules_see_what_a_search_line_by_line_sees(
    tmp_path_factory: pytest.TempPathFactory, said: list[str], cuts: list[int], pattern: str
) -> None:
    log = tmp_path_factory.mktemp("log") / "out"
    described = {"match": pattern, "reason": "log-message", "passive": True, "required": False}
    rules = Rules("it", [described], [bytes(log)])
    data = "\n".join(said).encode()
    with log.open("wb", buffering=0) as file:
        at = 0
        for cut in [*sorted(cuts), len(data)]:
            file.write(data[at:cut])
            at = max(at, min(cut, len(data)))
            rules.poll()
    rules.finish(lambda: None)

    whole = said if data and not data.endswith(b"\n") else said[:-1]
    hits = [line for line in whole if re.search(pattern, line)]
    assert bool(rules.remarks()) == bool(hits)
    often = "once" if len(hits) == 1 else f"{len(hits)} times"
    assert not hits or f" {often}, " in rules.remarks()[0]


def test_a_fatal_line_is_seen_at_the_first_check(tmp_path_factory: pytest.TempPathFactory) -> None:
    log = tmp_path_factory.mktemp("log") / "out"
    log.write_text("x\n" * 100 + "bad\n")
    described = {"match": "bad", "reason": "site:x", "passive": False, "required": False}

    with pytest.raises(Failed) as failed:
        Rules("it", [described], [bytes(log)]).poll()
    assert failed.value.reason == "site:x"
