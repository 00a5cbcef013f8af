"""What a template says of its parameters, and values that do not fit."""

import pytest

from d0ctl.errors import BadJobFile
from d0ctl.jobfile.reader import read_text

JOB = """\
job: made
template:
  about: a test
  parameters:
    events: {type: integer, help: how many}
    energy: {type: number}
    disk: {type: size}
    limit: {type: time}
    fast: {type: flag}
    kind: {one-of: [data, mc]}
    who: whom to greet
parameters:
  events: 10
  energy: 6.5
  disk: 2GB
  limit: 1h
  fast: yes
  kind: mc
  who:
  other: anything
stages:
  - lines:
      - run: echo {who} {events} {energy} {disk} {limit} {fast} {kind} {other}
"""


def faults(text: str = JOB, **values: str) -> list[str]:
    """What is wrong with a job file and values of its parameters."""
    try:
        read_text(text, "j.yaml", parameters=values)
    except BadJobFile as error:
        return [line.removeprefix("j.yaml:") for line in error.faults]
    return []


def test_valid_values_are_accepted() -> None:
    assert faults(who="Emmy") == []
    more = {"events": "-3", "energy": "1e3", "disk": "5", "limit": "20m", "fast": "no"}
    assert faults(who="Emmy", kind="data", **more) == []


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("events", "many", "13:11: parameter `events` takes a whole number, not `many`"),
        ("energy", "6,5", "14:11: parameter `energy` takes a number, not `6,5`"),
        ("disk", "big", "15:9: parameter `disk` takes a size"),
        ("limit", "soon", "16:10: parameter `limit` takes a time"),
        ("fast", "perhaps", "17:9: parameter `fast` takes `yes` or `no`"),
        ("kind", "mcc", "18:9: parameter `kind` takes one of `data`, `mc`, not `mcc` "
                        "(did you mean `mc`?)"),
        ("who", "", "19:7: parameter `who` takes a text"),
    ],
)  # fmt: skip
def test_an_invalid_value_is_reported_with_its_position(name: str, value: str, said: str) -> None:
    found = faults(**{"who": "Emmy", name: value})

    assert len(found) == 1 and found[0].startswith(said), found


def test_a_parameter_without_a_value_needs_one() -> None:
    assert faults() == ["19:3: parameter `who` needs a value: --set who=VALUE"]


def test_a_declaration_that_is_wrong_is_a_fault() -> None:
    text = JOB.replace("type: size", "type: sise").replace("    who: whom", "    whom: whom")
    text = text.replace("one-of: [data, mc]", "one-of: mc, hlep: x")

    assert faults(text, who="Emmy") == [
        "7:18: `type` takes one of `text`, `integer`, `number`, `size`, `time`, `flag`, not "
        "`sise` (did you mean `size`?)",
        "10:20: `one-of` takes a list of texts, not `mc`",
        "10:24: a parameter has no key `hlep` (did you mean `help`?)",
        "11:5: `template` declares parameter `whom`, which `parameters` lacks "
        "(did you mean `who`?)",
    ]


@pytest.mark.parametrize(
    ("default", "value", "warns"),
    [
        ("10", "ten", True), ("1.5", "1,5", True), ("10", "10k", True), ("10", "", True),
        ("10", "1e3", False), ("10", "-2.5", False), ("'10'", "ten", False), ("2GB", "x", False),
        ("ten", "10", False),
    ],
)  # fmt: skip
def test_a_text_instead_of_a_number_is_a_warning_that_names_both(
    default: str, value: str, warns: bool
) -> None:
    text = f"parameters: {{n: {default}}}\nstages: [{{lines: [{{run: 'echo {{n}}'}}]}}]\n"

    spec = read_text(text, "j.yaml", parameters={"n": value})

    said = f"parameter `n` is the number {default}, and --set makes it `{value}`"
    assert list(spec.warnings) == [f"j.yaml:1:17: warning: {said}"] * warns
