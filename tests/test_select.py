"""Selectors: what they mean, and what is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from d0ctl.errors import BadUsage
from d0ctl.model import Phase
from d0ctl.select import Selector, parse, parse_all
from d0ctl.select.selector import ALL, LAST, Span


def test_a_path_names_one_package() -> None:
    wanted = parse("reco001/2/3/1")

    assert (wanted.job, wanted.stage, wanted.line, wanted.package) == (
        "reco001", Span(2, 2), Span(3, 3), Span(1, 1),
    )  # fmt: skip
    assert wanted.is_one
    assert wanted.level == "package"


def test_the_zero_padded_form_means_the_same() -> None:
    assert parse("reco001/002/003/001") == parse("reco001/2/3/1")


def test_a_trailing_slash_as_tab_leaves_it_is_accepted() -> None:
    assert parse("reco001/2/") == parse("reco001/2")


@pytest.mark.parametrize("text", ["reco001/2/1-10", "reco001/*", "reco*", "*", "reco001/2/3/1-2"])
def test_a_verb_for_one_package_refuses_several(text: str) -> None:
    assert not parse(text).is_one


def test_a_stage_may_be_named() -> None:
    wanted = parse("reco001/merge/1")

    assert wanted.stage_name == "merge"
    assert wanted.is_one
    assert str(wanted) == "reco001/merge/1"


def test_a_status_means_all_its_phases() -> None:
    assert parse("x:canceled").phases == (Phase.CANCELED, Phase.DROPPED)
    assert parse("x:dropped").phases == (Phase.DROPPED,)
    assert parse("x:failed,held").phases == (Phase.HELD, Phase.FAILED)


def test_filters_make_a_selector_mean_packages() -> None:
    wanted = parse("x", status=["failed"], reason="lost", node="n1", older_than="2h")

    assert wanted.is_filtered
    assert not wanted.is_one
    assert (wanted.reason, wanted.node, wanted.older_than) == ("lost", "n1", 7200)


@pytest.mark.parametrize(
    "text",
    ["", "/1", "1x", "a b", "a/1/x", "a/1/0", "a/1/3-2", "a/1/1/1/1", "a//1", "a:", "-x",
     "a/\x1b[2J", "a/1/١"],
)  # fmt: skip
def test_an_invalid_selector_is_bad_usage(text: str) -> None:
    with pytest.raises(BadUsage):
        parse(text)


def test_a_near_miss_of_a_state_is_named() -> None:
    with pytest.raises(BadUsage, match="`faild`") as caught:
        parse("a:faild")

    assert caught.value.hint == "did you mean `failed`?"


def test_an_invalid_age_is_bad_usage() -> None:
    with pytest.raises(BadUsage, match="--older-than"):
        parse("a", older_than="soon")


spans = st.one_of(
    st.just(ALL),
    st.integers(1, 10**6).map(lambda n: Span(n, n)),
    st.tuples(st.integers(1, 1000), st.integers(1, 1000)).map(lambda t: Span(min(t), sum(t))),
    st.integers(1, 9).map(lambda n: Span(-n, LAST)),
    st.tuples(st.integers(1, 9), st.integers(2, 9)).map(lambda t: Span(t[0], -t[1])),
    st.just(Span(-1, -1)),
)
names = st.from_regex(r"[A-Za-z][A-Za-z0-9_-]{0,20}", fullmatch=True)


@given(
    job=st.one_of(names, st.just("*"), names.map(lambda name: name + "*")),
    levels=st.lists(spans, max_size=3),
    binary=st.integers(0, 9),
    states=st.lists(st.sampled_from([phase.value for phase in Phase]), max_size=3),
)
def test_a_selector_reads_back_what_it_writes(
    job: str, levels: list[Span], binary: int, states: list[str]
) -> None:
    if binary and len(levels) == 3:
        levels = [*levels, Span(binary, binary)]
    stage, line, package, one_binary = [*levels, ALL, ALL, ALL, ALL][:4]
    wanted = Selector(
        job, stage, line, package, one_binary, depth=1 + len(levels), states=tuple(states)
    )

    assert parse(str(wanted), with_binary=True) == wanted


@pytest.mark.parametrize(
    ("text", "with_binary"),
    [("a/1/1/1/1", False), ("a/1/1/1/1-2", True), ("a/1/1/1/*", True), ("a/1/1/1/1/1", True)],
)
def test_a_binary_is_named_alone_and_only_to_verbs_that_read(text: str, with_binary: bool) -> None:
    with pytest.raises(BadUsage):
        parse(text, with_binary=with_binary)


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        wanted = parse(text)
    except BadUsage:
        return
    assert parse(str(wanted)) == wanted


@pytest.mark.parametrize(
    ("part", "first", "last"),
    [("5-", 5, LAST), ("-5", 1, 5), ("3-7", 3, 7), ("4", 4, 4), ("*", 1, LAST)],
)
def test_a_range_may_be_open_at_either_end(part: str, first: int, last: int) -> None:
    selector = parse(f"reco001/2/{part}")

    assert (selector.line.first, selector.line.last) == (first, last)
    assert parse(str(selector)) == selector


def test_a_list_of_numbers_and_ranges_is_one_selection() -> None:
    selector = parse_all(["reco001/1,2/3,5-7,9-:failed", "other"])

    assert str(selector).split() == [
        "reco001/1/3:failed", "reco001/1/5-7:failed", "reco001/1/9-:failed",
        "reco001/2/3:failed", "reco001/2/5-7:failed", "reco001/2/9-:failed", "other",
    ]  # fmt: skip


def test_a_name_with_a_comma_is_no_list() -> None:
    assert parse_all(["reco001/a,b"]).stage_name == "a,b"


@pytest.mark.parametrize(
    "text", ["reco001/2/1,", "reco001/2/,1", "reco001/2/-", "reco001/2/1,x", "reco001/2/[]"]
)
def test_an_incomplete_list_is_bad_usage(text: str) -> None:
    with pytest.raises(BadUsage):
        parse_all([text])


@pytest.mark.parametrize(
    ("dotted", "with_slashes"),
    [("reco001.2.3", "reco001/2/3"), ("reco001.2.last:failed", "reco001/2/last:failed"),
     ("reco001.1,2.5-", "reco001/1,2/5-"), ("reco001.2:failed", "reco001/2:failed")],
)  # fmt: skip
def test_dots_may_stand_for_slashes(dotted: str, with_slashes: str) -> None:
    assert parse_all([dotted]) == parse_all([with_slashes])


@pytest.mark.parametrize("text", ["all.root", "n1.example.org", "reco.1x", "reco.1/2"])
def test_a_name_with_dots_is_no_path(text: str) -> None:
    with pytest.raises(BadUsage):
        parse(text)


@pytest.mark.parametrize(
    ("part", "of_ten"),
    [("[0:3]", [1, 2, 3]), ("[7:]", [8, 9, 10]), ("[-2:]", [9, 10]), ("[:-8]", [1, 2]),
     ("[4]", [5]), ("[-1]", [10]), ("last", [10]), ("[-12:2]", [1, 2]), ("[8:-3]", [])],
)  # fmt: skip
def test_a_slice_counts_from_0_and_back_from_the_end(part: str, of_ten: list[int]) -> None:
    span = parse(f"reco001/2/{part}:failed").line.within(10)

    assert [n for n in range(1, 11) if span.first <= n <= span.last] == of_ten


@pytest.mark.parametrize("part", ["[5:2]", "[1:2:3]", "[x]", "[:0]"])
def test_an_incomplete_slice_is_bad_usage(part: str) -> None:
    with pytest.raises(BadUsage):
        parse(f"reco001/2/{part}")


@pytest.mark.parametrize(
    ("part", "why"),
    [
        ("0", "numbers begin at 1"), ("0-2", "numbers begin at 1"),
        ("5-3", "it ends before it begins"), ("[3:1]", "it ends before it begins"),
    ],
)  # fmt: skip
def test_an_empty_range_is_bad_usage_with_the_reason(part: str, why: str) -> None:
    with pytest.raises(BadUsage, match=why):
        parse(f"reco001/2/{part}")


def test_lines_are_selected_by_values_of_their_loops() -> None:
    selector = parse("reco001/sim/mass=12* seed=7/1:failed")

    assert (selector.values, selector.line, selector.states) == (
        "mass=12* seed=7",
        ALL,
        ("failed",),
    )
    assert (selector.needs_numbers, selector.is_one, selector.is_plain) == (True, False, False)
    assert str(selector) == "reco001/sim/mass=12* seed=7/1:failed"
