"""Bars, rates, estimates and groups, as plain values."""

from hypothesis import given
from hypothesis import strategies as st

from d0ctl.model import Phase
from d0ctl.store.look.pulse import Failed
from d0ctl_tui.draw.estimate import Share, remaining
from d0ctl_tui.draw.groups import clusters
from d0ctl_tui.draw.looks import ASCII, LOOKS, UNICODE, bar, short, tally
from d0ctl_tui.draw.rates import Rates, plot
from d0ctl_tui.draw.spans import text, width

COUNTS = st.dictionaries(st.sampled_from(list(map(str, Phase))), st.integers(1, 10**6))


@given(COUNTS, st.integers(4, 60))
def test_a_bar_has_its_width_and_shows_whatever_is_there(
    counts: dict[str, int], columns: int
) -> None:
    drawn = bar(counts, columns, UNICODE)

    assert width(drawn) == columns
    for phase, sign in (("done", "█"), ("running", "▓"), ("failed", "▒"), ("canceled", "░")):
        if counts.get(phase):
            assert sign in text(drawn)


def test_every_phase_has_a_glyph_and_a_look_in_both_alphabets() -> None:
    for phase in Phase:
        assert phase in UNICODE.states
        assert phase in LOOKS
        assert ASCII.states[phase].isascii()


@given(st.integers(0, 10**12))
def test_a_short_number_is_short(number: int) -> None:
    assert len(short(number)) <= 5


def test_the_words_beside_a_bar_begin_with_what_needs_a_person() -> None:
    told = tally({"done": 5, "running": 2, "held": 3, "failed": 1, "waiting": 4}, blocked=True)

    assert [words for words, _ in told] == ["1 failed", "3 held", "2 running", "4 blocked"]


def test_what_is_left_is_the_work_divided_by_the_slots_but_no_less_than_one_package() -> None:
    assert remaining([Share(10, 6.0), Share(0, None)], 4) is not None
    assert remaining([Share(10, 6.0)], 4).seconds == 15.0  # type: ignore[union-attr]
    assert remaining([Share(1, 6.0)], 4).seconds == 6.0  # type: ignore[union-attr]
    assert remaining([Share(4, 1.0), Share(1, None)], 4).at_least  # type: ignore[union-attr]
    assert remaining([Share(1, None)], 4) is None
    assert remaining([Share(1, 1.0)], 0) is None


def test_rates_count_what_ended_before_and_since() -> None:
    rates = Rates()
    rates.recall([100.0, 101.0, 111.0])
    rates.note(115.0, 50)
    rates.note(125.0, 53)

    assert rates.columns(4, 125.0) == [0, 2, 1, 3]
    assert text(plot([0, 1, 2, 8], 1, UNICODE)[0]) == " ▁▂█"


def test_a_clock_that_jumps_breaks_no_rate() -> None:
    rates = Rates()
    for at, total in ((1000.0, 1), (900_000.0, 5), (10.0, 9), (20.0, 4)):
        rates.note(at, total)

    assert len(rates.columns(30, 20.0)) == 30


def test_failures_are_grouped_the_largest_group_first() -> None:
    def failed(id: int, reason: str, node: str) -> Failed:
        return Failed(id, reason, node, None, "tool", None, float(id), f"words {id}")

    found = clusters([failed(1, "signal", "a"), failed(2, "lost", "a"), failed(3, "lost", "b")],
                     "reason")  # fmt: skip

    assert [(one.name, one.ids, one.message) for one in found] == [
        ("lost", [2, 3], "words 3"),
        ("signal", [1], "words 1"),
    ]
