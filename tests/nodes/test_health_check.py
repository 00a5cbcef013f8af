"""How often a node is asked: seldom while it answers, often when it does not."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from d0ctl.nodes import link
from d0ctl.nodes.health_check import LONGEST_S, SHORTEST_S, SILENCE_S, HealthCheck


def questions(answers: list[bool], delay: float = 0.1) -> list[float]:
    """When a link is asked that answers so, after a delay."""
    oversight, heard, asked = HealthCheck(0.0), 0.0, []
    for answered in answers:
        now = oversight.due(heard)
        oversight.ask(now, heard)
        asked.append(now)
        if answered:
            heard = now + delay
    return asked


def gaps(times: list[float]) -> list[float]:
    """From each question to the next."""
    return [after - before for before, after in itertools.pairwise(times)]


@pytest.mark.parametrize("delay", [0.0, 0.1])
def test_a_node_that_answers_is_asked_less_and_less(delay: float) -> None:
    assert gaps(questions([True] * 6, delay)) == [10.0, 20.0, 40.0, 40.0, 40.0]


def test_an_answer_that_is_overdue_makes_the_next_question_come_soon() -> None:
    assert gaps(questions([True] * 4 + [False] * 4)) == [10.0, 20.0, 40.0, 40.0, 5.0, 5.0, 5.0]
    assert gaps(questions([False, False, True, True, True])) == [5.0, 5.0, 5.0, 10.0]


@given(st.lists(st.booleans(), min_size=2, max_size=40))
def test_a_question_comes_neither_too_often_nor_too_late_for_the_relay(answers: list[bool]) -> None:
    found = gaps(questions(answers))

    assert all(SHORTEST_S <= gap <= LONGEST_S for gap in found)
    assert 2 * LONGEST_S < link.SILENCE_S


@given(st.integers(0, 10))
def test_a_node_that_falls_silent_is_given_up_soon_after_its_time(answered: int) -> None:
    oversight, heard, now = HealthCheck(0.0), 0.0, 0.0
    for number in range(answered + 100):
        now = oversight.due(heard)
        if oversight.is_silent(now, heard):
            break
        oversight.ask(now, heard)
        if number < answered:
            heard = now + 0.1

    assert SILENCE_S < now - heard <= SILENCE_S + SHORTEST_S + 0.1


def test_a_link_that_was_never_asked_is_not_silent() -> None:
    assert not HealthCheck(10.0).is_silent(now=1000.0, last_heard=10.0)
