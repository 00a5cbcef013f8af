"""The words for the notes that the store keeps as codes."""

import re
from typing import get_args

import pytest

from d0ctl.policy.remarks import (
    Against,
    FailedAlike,
    GivenUp,
    InputsLate,
    NodeAtFault,
    NodeFailing,
    NodeMoved,
    NodeRemoved,
    RemadeFor,
    Remark,
    RuleHolds,
    TooManyFailed,
    TrialFailed,
    TrialSucceeded,
    TriedAgain,
    Valued,
    Verdict,
    noted,
    read,
)
from d0ctl.show.drawing.remark_texts import AGAINST, REMARKS, against, remark, verdict
from d0ctl_sql import queries


def test_every_code_has_words() -> None:
    assert set(REMARKS) == set(Remark)
    assert set(AGAINST) == set(Against)


def test_a_code_is_shown_as_its_words_and_the_note_of_a_person_as_it_is() -> None:
    assert remark("repackaged") == "its files go into other packages"
    assert remark("wrong calibration") == "wrong calibration"
    assert remark(None) is None


VALUED = (
    (NodeRemoved("farm02"), "node farm02 was removed"),
    (NodeMoved("farm02"), "node farm02 was moved"),
    (NodeAtFault("farm02"), "`farm02` may be the cause, so it runs elsewhere"),
    (
        NodeFailing("sim/1", 3, 2.0, {"exit-code": 2, "hook": 1}, {"successful": 9, "failed": 1}),
        "3 attempts of `sim/1` failed here in a row, the longest after 2.0 s (exit-code 2 times,"
        " hook 1 time), while 9 of 10 succeeded on other nodes",
    ),
    (
        InputsLate("farm02", 600.0, "farm03"),
        "it waited 10 min 00 s for its inputs on farm02, and would end earlier on farm03",
    ),
    (TriedAgain("exit-code", 1, 2, "code 3"), "try 1 of 2, after exit-code: code 3"),
    (TriedAgain("lost", 1, 10), "try 1 of 10, after lost"),
    (GivenUp("hook"), "hook"),
    (
        GivenUp("hook", "no grid", Against.TRIES, 3),
        "hook: no grid; it was tried again 3 times",
    ),
    (
        FailedAlike("sim/1", "exit-code", 20),
        "20 packages of `sim/1` failed alike (exit-code), and none had succeeded by then",
    ),
    (RuleHolds("sim/1/1/1", "hook"), "`sim/1/1/1` failed (hook), and its rule says `hold: job`"),
    (TooManyFailed("sim", 4, 4), "4 packages of `sim` failed, and its `max-failures` is 4"),
    (TrialFailed(3600.0), "a trial package failed, too; the next trial is in 1 h 00 min"),
    (TrialSucceeded(2), "a trial package succeeded after 2 rests"),
    (RemadeFor(["sim"]), "no good copy was left of files that `sim` reads"),
    (
        RemadeFor(["a", "b", "c", "d", "e"]),
        "no good copy was left of files that `a`, `b`, `c` and 2 more read",
    ),
)


@pytest.mark.parametrize(("value", "words"), VALUED)
def test_a_note_keeps_the_values_of_its_code(value: Valued, words: str) -> None:
    assert read(noted(value)) == value
    assert remark(noted(value)) == words


def test_the_log_says_what_d0ctl_did_with_a_job_or_node_and_why() -> None:
    assert verdict(Verdict("job-held", "sim", noted(TooManyFailed("sim", 4, 4)))) == (
        "job `sim` is held: 4 packages of `sim` failed, and its `max-failures` is 4"
    )
    assert verdict(Verdict("node-back", "farm02", Remark.SUCCEEDED_SINCE)) == (
        "node `farm02` is fine again: a package that began there after the failures succeeded"
    )


def test_every_code_with_values_was_tried_above() -> None:
    assert {type(value) for value, _ in VALUED} == set(get_args(Valued))


@pytest.mark.parametrize("why", Against)
def test_each_thing_against_another_try_has_words(why: Against) -> None:
    words = against(GivenUp("lost", why=why, limit=2))

    assert words not in ("", why)
    assert remark(noted(GivenUp("lost", why=why, limit=2))) == f"lost; {words}"


@pytest.mark.parametrize(
    "words",
    ["node-moved", '{"remark":"node-moved"}', '{"remark":"node-moved","node":7}', '{"remark"'],
)
def test_words_of_a_person_that_only_resemble_a_remark_stay_as_they_are(words: str) -> None:
    assert remark(words) == words


def test_notes_that_queries_write_are_codes() -> None:
    written = {
        note for text in queries().values() for note in re.findall(r"\bnote = '(.*?)'", text)
    }

    assert written and written <= set(Remark)
