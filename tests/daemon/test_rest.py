"""How long the loop rests between two turns."""

import math
import threading

from d0ctl.daemon.desk import Desk
from d0ctl.daemon.loop import AVERAGED, LONG_REST_S, MOST_REST_S, REST_S, Loop, rest_s


def test_the_pause_is_half_as_long_as_the_turn_within_limits() -> None:
    assert rest_s(0.0, lead_s=0.0) == REST_S
    assert rest_s(0.02, lead_s=0.0) == 0.01
    assert rest_s(5.0, lead_s=0.0) == MOST_REST_S


def test_work_in_advance_lengthens_the_pause_but_never_runs_out() -> None:
    assert rest_s(0.02, lead_s=0.0301) == 0.0301 / 2
    assert rest_s(0.02, lead_s=0.003) == 0.01
    assert rest_s(0.01, lead_s=60.0) == LONG_REST_S


def test_a_turn_comes_when_inputs_have_to_leave_although_nothing_has_happened(desk: Desk) -> None:
    loop, stop = Loop(desk), threading.Event()
    loop.turn(stop)
    desk.wake.clear()
    desk.set_pass_due(0.0)

    loop.turn(stop)

    assert desk.pass_due == math.inf


def test_the_average_time_of_turns_follows_the_last_ones(desk: Desk) -> None:
    loop, stop = Loop(desk), threading.Event()
    desk.turn_s = 1000.0

    for turns in range(1, 3):
        desk.wake.set()
        loop.turn(stop)
        assert 1000.0 * (1 - 1 / AVERAGED) ** turns < desk.turn_s < 1000.0
