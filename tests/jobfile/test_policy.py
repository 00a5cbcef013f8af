"""The faults of a policy that its author reads, at each level of a job file."""

import re
from pathlib import Path

from d0ctl.jobfile.sections.policy import NEVER_KEYS, RULE_KEYS
from d0ctl.model import Reason
from d0ctl.policy.rules import DEFAULTS

from .conftest import Faults, Read

REFERENCE = (Path(__file__).parents[2] / "docs" / "policy.md").read_text()

WRONG = """\
policy:
  stage-out: {tries: -1, delay: [-5m, 5m], factor: 0.5}
  stagein: {tries: 1}
  killed: {tries: 1}
  hook: {trys: 1, escalate: {memory: 1, disk: 2}}
  disk-full: 3
  exit-code: {tries: 0, delay: 5m}
  signal: {tries: 1, delay: [1m, 2m]}
  seg-fault: {hold: yes, release: 1m}
  verification: {hold: no, release: 10m}
  looping: {tries: 2, delay: 10m, longest: 5m}
  site:Bad: {tries: 1}
  never: {attempt: -24h, most: 3}
stages:
  - lines:
      - {run: x, policy: [x]}
      - {run: y, policy: {lots: {tries: 1}}}
"""

TOLD = """\
2:22: `tries` takes a whole number, 0 or more, not `-1`
2:34: `delay` takes a time such as `20m`, `1h30m` or `90` seconds, not `-5m`
2:52: `factor` takes a number from 1 on, such as `2` or `1.5`, not `0.5`
3:3: `stagein` is not a failure reason (did you mean `stage-in`?)
4:3: the rule for `killed` can never match: killed packages are canceled, not failed
5:10: the rule for `hook` has no key `trys` (did you mean `tries`?)
5:38: `memory` takes a number greater than 1, such as `1.5`, not `1`
5:41: `escalate` has no key `disk`; it has `memory` and `wall-time`
6:14: the rule for `disk-full` takes keys such as `tries`, not `3`
7:25: `delay` has no effect: with `tries: 0` there is no retry
8:22: 2 delays for `tries: 1`: the last is never used
9:26: `release` must be `5m` or longer
10:28: `release` has no effect: with `hold: no` nothing is held
11:35: `longest` is shorter than `delay`
12:3: `site:Bad` is not a failure reason: see docs/policy.md for the list
13:20: `attempt` takes a time such as `20m`, `1h30m` or `90` seconds, or `no`, not `-24h`
13:26: `never` has no key `most`; it has `attempt`, `all-attempts`, `memory` and `tries`
16:26: `policy` takes a mapping, not a list
17:27: `lots` is not a failure reason (did you mean `lost`?)
"""


def test_the_usual_word_for_a_reason_leads_to_it(faults: Faults) -> None:
    assert faults("policy: {oom: {tries: 2}}\nstages: [{lines: [{run: x}]}]") == [
        "1:10: `oom` is not a failure reason (did you mean `out-of-memory`?)"
    ]


def test_every_fault_of_a_policy_has_its_place(faults: Faults) -> None:
    assert faults(WRONG) == TOLD.splitlines()


def test_a_policy_is_kept_as_numbers(job: Read) -> None:
    spec = job(
        """\
policy:
  stage-in: {tries: 5, delay: [1m, 5m], factor: 2, longest: 1h, elsewhere: yes}
  out-of-memory: {escalate: {memory: 1.5}}
  never: {tries: no, memory: 4GB}
stages: [{lines: [{run: x}]}]
"""
    )

    assert spec.policy == {
        "stage-in": {"tries": 5, "factor": 2.0, "longest": 3600.0, "elsewhere": True,
                     "delay": [60.0, 300.0]},
        "out-of-memory": {"escalate": {"memory": 1.5}},
        "never": {"tries": None, "memory": 4_000_000_000},
    }  # fmt: skip


def test_the_reference_has_each_key_and_each_reason() -> None:
    rule = REFERENCE.split("## Rule\n")[1].split("\n##")[0]
    never = REFERENCE.split("## Never\n")[1].split("\n##")[0]

    assert re.findall(r"^\| `([a-z-]+)` \|", rule, re.MULTILINE) == list(RULE_KEYS)
    assert re.findall(r"^\| `([a-z-]+)` \|", never, re.MULTILINE) == list(NEVER_KEYS)
    reasons = {str(reason) for reason in Reason if reason is not Reason.KILLED}
    assert [name for name in reasons if f"`{name}`" not in REFERENCE] == []


def test_the_policy_of_the_reference_is_read_and_the_defaults_would_be(job: Read) -> None:
    (block,) = re.findall(r"^    policy:\n(?:      .*\n)+", REFERENCE, re.MULTILINE)

    spec = job(block.replace("\n    ", "\n")[4:] + "stages: [{lines: [{run: x}]}]")

    assert list(spec.policy) == re.findall(r"^      ([a-z:-]+): ", block, re.MULTILINE)
    assert {key for rule in DEFAULTS.values() for key in rule} <= {*RULE_KEYS, *NEVER_KEYS}
