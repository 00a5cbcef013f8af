"""The table of actions, and what all of them share."""

import shlex

import pytest

from d0ctl.actions import ACTIONS
from d0ctl.actions.option import fields_of
from tests.cli.conftest import Type
from tests.support.site import Site


def test_the_help_of_every_action_has_an_example_that_is_accepted(site: Site, d0ctl: Type) -> None:
    for name, action in ACTIONS.items():
        reply = d0ctl(*name.split(), "--help").stdout

        example = reply.partition("Example: d0ctl ")[2].partition("\n\n")[0]
        words = shlex.split(" ".join(example.split()))
        assert " ".join(words).startswith(f"{name} ")
        code = {
            "node add": 0,
            "submit": 2,
            "throttle set": 0,
            "researcher set": 2,
            "token add": 0,
            "archive": 0,
        }.get(name, 3)
        assert d0ctl(*words, "--dry-run").exit_code == code, name
        assert "Exit status: 0 done" in reply
        first = reply.splitlines()[2].strip()
        assert (first, first[-1]) == (action.help, ".")


def test_no_two_actions_have_the_same_key_or_title() -> None:
    found = list(ACTIONS.values())
    keys = [(next((one for one in ("node", "task") if one in action.level), None), action.key)
            for action in found if action.key]  # fmt: skip

    assert len(set(keys)) == len(keys)
    assert len({action.title for action in found}) == len(found)


@pytest.mark.parametrize("name", ACTIONS)
def test_each_way_of_an_action_sets_its_flags(name: str) -> None:
    action = ACTIONS[name]
    flags = {each.option.name for each in fields_of(action.options) if each.option.kind == "flag"}

    assert all(way.flags <= flags for way in action.ways)
    assert len({way.flags for way in action.ways}) == len(action.ways)
    assert set(action.part_ways or ()) <= set(action.ways)


def test_the_default_way_of_an_action_sets_no_flag(d0ctl: Type) -> None:
    for name, action in ACTIONS.items():
        if not action.ways:
            continue
        flags = {f.option.name for f in fields_of(action.options) if f.option.kind == "flag"}
        offered = frozenset[str]().union(*(way.flags for way in action.ways))
        for left in flags - offered:
            answer = " ".join(d0ctl(*name.split(), "--help").stdout.split())
            assert "(default)" in answer.partition(left)[2].partition("--")[0]


def test_the_file_of_an_action_has_its_name() -> None:
    assert [action.name for action in ACTIONS.values()] == list(ACTIONS)
    assert {"submit", "node add", "file set-disposition", "kill-line"} <= set(ACTIONS)
