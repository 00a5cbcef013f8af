"""What follows a failure: each rule of CRAB3, as the document has it, and changes to it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from d0ctl.model import Reason
from d0ctl.policy.decide import Case, Limit, Verdict, judge, note
from d0ctl.policy.remarks import Against
from d0ctl.policy.rules import Policy, Rule, combine
from d0ctl.show.drawing.remark_texts import remark

HOUR, GB = 3600.0, 10**9

DEFAULT = combine([])


def case(reason: str = "stage-in", **more: Any) -> Case:
    """A failure of a short and small attempt."""
    return Case(reason, **{"lasted": 60.0, "all_lasted": 60.0, "rss": GB, **more})


def site(**rules: dict[str, Any]) -> Policy:
    """A policy of the site; `_` stands for `-`."""
    return combine([("site", {name.replace("_", "-"): rule for name, rule in rules.items()})])


NEVER: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "The last attempt at the job lasted more than 24 hours.": (
        {"lasted": 24 * HOUR},
        {"lasted": 24 * HOUR + 1},
    ),
    "The cumulative wall time for all attempts is more than 36 hours.": (
        {"all_lasted": 36 * HOUR},
        {"all_lasted": 36 * HOUR + 1},
    ),
    "The last attempt used more than 2GB of memory.": (
        {"rss": 2 * GB},
        {"rss": 2 * GB + 1},
    ),
    "The job did not produce a usable job report.": (
        {"reported": True},
        {"reported": False},
    ),
    "The job hit its max resubmit limit (currently, 10 resubmits are allowed after any "
    "submit/resubmit).": (
        {"failures": 10},
        {"failures": 11},
    ),
}
"""The rules of CRAB3 in its words: what is just allowed, and what is not any more."""


@pytest.mark.parametrize("rule", NEVER)
def test_never_resubmitted_if_any_of_these_is_true(rule: str) -> None:
    allowed, too_much = NEVER[rule]

    assert judge(DEFAULT, case(**allowed)).verdict is Verdict.RESUBMIT
    refused = judge(DEFAULT, case(**too_much))
    assert refused.verdict is Verdict.FAIL
    assert refused.why


AGAIN = {
    "The job ended with a file open or read error (8021, 8020, 8028)": "missing-input",
    "The job ended with a stageout error (60307)": "stage-out",
    "The job did not find the required CMSSW version on the worker node (10034)": (
        "software-missing"
    ),
    "File stage-in failures.": "stage-in",
}


@pytest.mark.parametrize("rule", AGAIN)
def test_resubmitted_if_one_of_these_is_true(rule: str) -> None:
    found = judge(DEFAULT, case(AGAIN[rule]))

    assert (found.verdict, found.number, found.tries) == (Verdict.RESUBMIT, 1, 10)
    assert judge(DEFAULT, case(AGAIN[rule], tries=11)).verdict is Verdict.FAIL


@pytest.mark.parametrize("reason", ["lost", "platform-failure"])
def test_an_unexpected_and_unrecoverable_disconnect_restarts_whatever_is_never(reason: str) -> None:
    everything = {name: value for _, bad in NEVER.values() for name, value in bad.items()}

    found = judge(DEFAULT, case(reason, **everything))

    assert (found.verdict, found.delay, found.priority) == (Verdict.RESTART, 0.0, 10)


def test_software_that_is_missing_is_looked_for_only_elsewhere() -> None:
    found = judge(DEFAULT, case("software-missing", has_others=False))

    assert (found.verdict, found.why) == (Verdict.FAIL, Limit(Against.NO_OTHER_NODE))


def test_packages_that_are_lost_again_and_again_are_left_to_a_person() -> None:
    assert judge(DEFAULT, case("lost", restarts=9)).verdict is Verdict.RESTART
    assert judge(DEFAULT, case("lost", restarts=10)).verdict is Verdict.FAIL


def test_held_packages_are_released_at_most_once_in_five_minutes() -> None:
    found = judge(DEFAULT, case("launch-failed", tries=4))

    assert (found.verdict, found.delay) == (Verdict.HOLD, 300.0)


@pytest.mark.parametrize(
    "reason",
    ["exit-code", "signal", "seg-fault", "missing-output", "verification", "log-message",
     "looping", "killed", "out-of-memory", "wall-time", "no-inputs", "site:anything"],
)  # fmt: skip
def test_deterministic_failures_are_not_tried_again(reason: str) -> None:
    assert judge(DEFAULT, case(reason)).verdict is Verdict.FAIL


@pytest.mark.parametrize(
    ("reason", "tries", "delay", "elsewhere"),
    [
        ("disk-full", 3, 600.0, True),
        ("hook", 3, 300.0, False),
        ("launch-failed", 3, 30.0, True),
        ("software-missing", 10, 15.0, True),
        ("stage-in", 10, 300.0, False),
    ],
)
def test_the_defaults_are_as_documented(
    reason: str, tries: int, delay: float, elsewhere: bool
) -> None:
    found = judge(DEFAULT, case(reason))

    assert (found.tries, found.delay, found.elsewhere) == (tries, delay, elsewhere)


def test_the_limit_of_the_package_goes_before_that_of_the_site() -> None:
    assert judge(DEFAULT, case(rss=3 * GB, memory=4 * GB)).verdict is Verdict.RESUBMIT
    assert judge(DEFAULT, case(rss=GB + 1, memory=GB)).verdict is Verdict.FAIL


def test_a_list_of_delays_goes_on_with_the_last_and_a_back_off_grows_up_to_the_longest() -> None:
    listed = Rule(tries=9, delay=(1.0, 5.0))
    growing = Rule(tries=9, delay=(1.0, 5.0), factor=2.0, longest=18.0)

    assert [listed.pause(n) for n in range(1, 5)] == [1.0, 5.0, 5.0, 5.0]
    assert [growing.pause(n) for n in range(1, 6)] == [1.0, 5.0, 10.0, 18.0, 18.0]
    assert Rule(tries=9).pause(3) == 0.0


def test_a_delay_without_a_limit_grows_sixty_times_at_most() -> None:
    rule = Rule(tries=10**6, delay=(1.0,), factor=2.0)

    assert rule.pause(60) == 2.0**59
    assert rule.pause(61) == rule.pause(62) == rule.pause(10**6) == 2.0**60


def test_the_stronger_policy_overrides_only_the_keys_it_sets() -> None:
    policy = combine(
        [
            ("site", {"stage-in": {"tries": 5}}),
            ("job", {"stage-in": {"hold": True}}),
            ("package", {"stage-in": {"tries": 2}, "never": {"tries": None}}),
        ]
    )

    assert policy.rule("stage-in") == Rule(2, (300.0,), 2.0, 3600.0, hold=True)
    origins = {key: origin for key, (_, origin) in policy.said["stage-in"].items()}
    assert origins["tries"] == "package"
    assert origins["hold"] == "job"
    assert origins["delay"] == "default"
    assert policy.never.tries is None
    assert policy.never.attempt == 24 * HOUR


def test_a_policy_with_another_delay_says_how_it_grows() -> None:
    policy = site(stage_in={"delay": [4 * HOUR]})

    assert judge(policy, case(tries=5)).delay == 4 * HOUR


def test_escalation_gives_more_memory_up_to_what_a_node_has() -> None:
    policy = site(out_of_memory={"escalate": {"memory": 1.5}})

    def asks(**more: Any) -> int | None:
        return judge(policy, case("out-of-memory", **more)).memory

    assert asks(memory=2 * GB) == 3 * GB
    assert asks(memory=2 * GB, largest=16 * GB) == 3 * GB
    assert asks(memory=12 * GB, largest=16 * GB) == 16 * GB
    last = judge(policy, case("out-of-memory", memory=16 * GB, largest=16 * GB))
    assert (last.verdict, last.why) == (Verdict.FAIL, Limit(Against.NO_LARGER_NODE))


def test_escalation_gives_more_memory_than_the_attempt_used() -> None:
    policy = site(out_of_memory={"escalate": {"memory": 2}})

    def asks(used: float, **more: Any) -> int | None:
        had = {"memory": 60 * GB // 1000, "rss": int(used * GB)}
        return judge(policy, case("out-of-memory", **had, **more)).memory

    assert asks(0.154) == asks(0.199) == 200_000_000
    assert asks(0.2) == 300_000_000
    assert asks(0.119) == 120_000_000
    assert asks(0.154, largest=100_000_000) == 100_000_000


def test_without_a_limit_escalation_goes_by_what_was_used_in_steps() -> None:
    policy = site(out_of_memory={"escalate": {"memory": 1.5}})

    asked = {judge(policy, case("out-of-memory", rss=GB + n)).memory for n in range(1, 50)}

    assert asked == {1_600_000_000}


def test_escalation_gives_more_wall_time_for_three_tries_by_default() -> None:
    policy = site(wall_time={"escalate": {"wall-time": 2}})

    found = judge(policy, case("wall-time", wall_time=600.0))

    assert (found.verdict, found.wall_time, found.tries) == (Verdict.RESUBMIT, 1200.0, 3)


def test_a_passive_rule_says_what_it_would_do_and_does_nothing() -> None:
    policy = site(exit_code={"tries": 3, "passive": True})

    found = judge(policy, case("exit-code"))

    assert found.verdict is Verdict.FAIL
    assert remark(note("exit-code", "code 3", found)) == (
        "exit-code: code 3; the rule is passive: it would be tried again"
    )


def test_failures_that_must_never_be_tried_again_are_held_for_a_person() -> None:
    policy = site(stage_in={"hold": True, "release": 600.0})

    assert judge(policy, case(tries=11)).delay == 600.0
    held = judge(policy, case(tries=11, failures=11))
    assert (held.verdict, held.delay) == (Verdict.HOLD, None)


RULES = st.fixed_dictionaries(
    {},
    optional={
        "tries": st.integers(0, 20), "delay": st.lists(st.floats(0, 1e5), max_size=3),
        "factor": st.floats(1, 10), "hold": st.booleans(), "passive": st.booleans(),
        "escalate": st.fixed_dictionaries({}, optional={"memory": st.floats(1.1, 3)}),
    },
)  # fmt: skip


@given(
    st.sampled_from([str(reason) for reason in Reason] + ["site:x"]),
    RULES,
    st.integers(0, 30),
    st.integers(1, 30),
)
def test_a_package_is_tried_again_a_bounded_number_of_times(
    reason: str, rule: dict[str, Any], restarts: int, tries: int
) -> None:
    policy = combine([("site", {reason: rule})])

    found = judge(policy, case(reason, restarts=restarts, tries=tries, failures=tries))

    if found.is_again:
        assert found.number <= policy.rule(reason).tries
        assert restarts < 20 or reason not in ("lost", "platform-failure")
        assert tries <= 10 or reason in ("lost", "platform-failure")
