"""A binary that handles a part of its events: its input, its messages, and the rest."""

import os
import signal
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from d0ctl_wrapper.protocol.checks import ranges
from tests.wrapper.client import Client, Frame, binary, launch
from tests.wrapper.test_progress import STAYS
from tests.wrapper.test_resume import former, ran, step

EVENTS = {"first": 1, "last": 10, "part": "new"}

ALL = {"name": "all", "min_size": None}

SCRIPT = """
while read first last; do
  for event in $(seq $first $last); do
    echo $event >> new
    echo $event >> "$D0CTL_DONE"
    . ../../each
  done
done < "$D0CTL_EVENTS"
cat $(cat "$D0CTL_PARTS") new > all
"""


def reco(node: Client, each: str = "true") -> Frame:
    """A binary that runs a line, which may differ from attempt to attempt, at each event."""
    node.wait("pong", id=node.ping())
    (node.base / "attempts" / "each").write_text(each)
    return binary(script="touch new" + SCRIPT, events=EVENTS, outputs=[ALL])


def made(end: Frame) -> list[int]:
    return [int(line) for line in Path(end["outputs"][0]["path"]).read_text().split()]


def test_all_events_are_done_at_once_when_nothing_fails(node: Client) -> None:
    end = node.run(reco(node), keep=["all"])

    assert end["events"] == [{"binary": 1, "done": [(1, 10)]}]
    assert made(end) == list(range(1, 11))


def test_a_retry_takes_only_the_rest(node: Client) -> None:
    first = node.run(reco(node, "test $event != 6"), keep=["all"])
    assert (first["reason"], first["events"]) == ("exit-code", [{"binary": 1, "done": [(1, 6)]}])
    assert [part["done"] for part in first["retained"]["parts"]] == [[(1, 6)]]

    second = node.run(
        reco(node, "test $event != 8"), attempt=2, keep=["all"], previous=[former(first)]
    )
    assert second["events"] == [{"binary": 1, "done": [(7, 8)]}]

    formers = [former(first), former(second)]
    third = node.run(reco(node), attempt=3, keep=["all"], previous=formers)
    assert third["events"] == [{"binary": 1, "done": [(9, 10)]}]
    assert made(third) == list(range(1, 11))
    assert (node.folder(3) / "1.parts").read_text() == "new.part1\nnew.part2\n"


def test_events_done_before_the_wrapper_was_killed_are_not_done_again(node: Client) -> None:
    node.launch(launch(1, reco(node, f"test $event != 4 || {{ {STAYS}; }}"), keep=["all"]))
    wrapper = node.started(1)
    done = node.folder(1) / "1.done"
    while not (done.exists() and done.read_text().endswith("4\n")):
        node.wait("pong", id=node.ping())
    os.kill(wrapper, signal.SIGKILL)
    node.wait("dead")

    end = node.run(reco(node), attempt=2, keep=["all"], previous=[{"attempt": 1}])
    assert end["events"] == [{"binary": 1, "done": [(5, 10)]}]
    assert made(end) == list(range(1, 11))


def test_a_part_that_has_another_name_is_copied_after_the_death_of_its_wrapper(
    node: Client,
) -> None:
    links = f"cp new ../../other; chmod 640 ../../other; ln -f ../../other new; {STAYS}"
    node.launch(launch(1, reco(node, f"test $event != 4 || {{ {links}; }}"), keep=["all"]))
    wrapper = node.started(1)
    work, other = node.folder(1) / "work" / "new", node.base / "attempts" / "other"
    while not (other.exists() and other.samefile(work)):
        node.wait("pong", id=node.ping())
    os.kill(wrapper, signal.SIGKILL)
    node.wait("dead")

    end = node.run(reco(node), attempt=2, keep=["all"], previous=[{"attempt": 1}])

    assert end["events"] == [{"binary": 1, "done": [(5, 10)]}]
    assert made(end) == list(range(1, 11))
    assert other.stat().st_mode & 0o777 == 0o640


def test_a_restart_copies_an_output_that_is_also_another_file(node: Client) -> None:
    linked = "cp 1.out ../../other; chmod 740 ../../other; ln -f ../../other 1.out"
    first = step(1, linked)
    node.launch(launch(1, first, step(2, STAYS), keep=["1.out"]))
    wrapper = node.started(1)
    while ran(node) != "12":
        node.wait("pong", id=node.ping())
    os.kill(wrapper, signal.SIGKILL)
    node.wait("dead")

    end = node.run(first, step(2), attempt=2, keep=["1.out"], previous=[{"attempt": 1}])

    other = node.base / "attempts" / "other"
    assert (end["outcome"], end["began"]) == ("successful", 2)
    assert other.stat().st_mode & 0o777 == 0o740
    assert not other.samefile(end["outputs"][0]["path"])


def test_a_part_that_is_gone_is_done_again(node: Client) -> None:
    first = node.run(reco(node, "test $event != 6"), keep=["all"])
    Path(first["retained"]["parts"][0]["path"]).write_text("1\n")

    end = node.run(reco(node), attempt=2, keep=["all"], previous=[former(first)])
    assert end["events"] == [{"binary": 1, "done": [(1, 10)]}]


def test_no_event_is_in_two_parts(node: Client) -> None:
    first = node.run(reco(node, "test $event != 6"), keep=["all"])
    again = node.run(reco(node, "test $event != 8"), attempt=2, keep=["all"])
    formers = [former(first), former(again)]
    end = node.run(reco(node), attempt=3, keep=["all"], previous=formers)

    assert end["events"] == [{"binary": 1, "done": [(7, 10)]}]
    assert made(end) == list(range(1, 11))


def test_a_binary_that_leaves_events_out_has_failed(node: Client) -> None:
    script = 'echo 1 4 >> "$D0CTL_DONE"; echo 9 >> "$D0CTL_DONE"; touch new all'
    end = node.run(binary(script=script, events=EVENTS, outputs=[ALL]), keep=["all"])

    assert end["reason"] == "verification"
    assert end["detail"] == "binary 1 (step) succeeded without doing events 5-8, 10"


def test_a_binary_that_succeeds_without_reporting_events_has_done_all(node: Client) -> None:
    end = node.run(binary(script="touch all", events=EVENTS, outputs=[ALL]), keep=["all"])

    assert (end["outcome"], end["events"]) == ("successful", [{"binary": 1, "done": []}])


def test_invalid_lines_in_the_list_of_finished_events_are_ignored(node: Client) -> None:
    script = r"""printf 'x\n-3\n5 2\n0 3\n99\n%0500d\n\n4' 7 >> "$D0CTL_DONE"; false"""
    end = node.run(binary(script=script, events=EVENTS))

    assert end["events"] == [{"binary": 1, "done": [(1, 3)]}]


pieces = st.lists(st.tuples(st.integers(0, 60), st.integers(0, 8)), max_size=30).map(
    lambda pairs: [(first, first + more) for first, more in pairs]
)


def members(found: ranges.Ranges) -> set[int]:
    return {event for first, last in found for event in range(first, last + 1)}


@given(pieces, pieces)
def test_ranges_count_like_sets(some: ranges.Ranges, others: ranges.Ranges) -> None:
    here, there = ranges.join(some), ranges.join(others)

    assert members(here) == members(some)
    assert all(one[1] + 1 < two[0] for one, two in pairwise(here))
    assert members(ranges.common(here, there)) == members(some) & members(others)
    assert members(ranges.without(here, there)) == members(some) - members(others)
    assert ranges.count(here) == len(members(some))
    assert ranges.check([list(one) for one in here]) == here


@given(pieces)
def test_ranges_are_read_as_they_are_written(some: ranges.Ranges) -> None:
    joined = ranges.join(some)

    assert list(ranges.read(ranges.text(joined).encode().split(b"\n"))) == joined


@given(st.binary(max_size=200))
def test_any_list_of_finished_events_is_read_without_an_error(data: bytes) -> None:
    found = list(ranges.read(data.split(b"\n")))

    assert all(0 <= first <= last for first, last in found)


@pytest.mark.parametrize("wrong", [[[2, 1]], [[1, 2], [3, 4]], [[3, 4], [1, 1]], [[1]], "1 2"])
def test_invalid_ranges_are_refused(wrong: Any) -> None:
    with pytest.raises(ValueError, match=r"range|pair"):
        ranges.check(wrong)
