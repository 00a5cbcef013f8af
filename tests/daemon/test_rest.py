"""How long the loop rests between two turns."""

from d0ctl.daemon.loop import LONG_REST_S, MOST_REST_S, REST_S, rest_s


def test_the_rest_is_half_as_long_as_the_turn_within_bounds() -> None:
    assert rest_s(0.0, lead_s=0.0) == REST_S
    assert rest_s(0.02, lead_s=0.0) == 0.01
    assert rest_s(5.0, lead_s=0.0) == MOST_REST_S


def test_nodes_with_work_in_advance_make_the_rest_longer_and_never_use_it_up() -> None:
    assert rest_s(0.02, lead_s=0.0301) == 0.0301 / 2
    assert rest_s(0.02, lead_s=0.003) == 0.01
    assert rest_s(0.01, lead_s=60.0) == LONG_REST_S
