"""Shares of the CPUs: pure arithmetic."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from d0ctl.schedule.shares import NOBODY, Share, Tree, corrected, divide

TREE = Tree((
    Share("physics", 70), Share("physics/higgs", 2, ("emmy", "ole")),
    Share("physics/top", 1, jobs=("top-*",)), Share("test", 0, jobs=("test*",)),
    Share("others", 30),
))  # fmt: skip
LEAVES = ("physics/higgs", "physics/top", "test", "others")

CPUS = st.floats(0, 1000)


def test_a_job_belongs_to_the_first_share_without_shares_below_that_takes_it() -> None:
    assert TREE.path_of(["emmy"], "top-1") == "physics/higgs"
    assert TREE.path_of(["ada"], "top-1") == "physics/top"
    assert TREE.path_of(["ada"], "test7") == "test"
    assert TREE.path_of(["ada"], "mc") == "others"
    assert Tree(TREE.shares[:-1]).path_of(["ada"], "mc") == NOBODY


def test_cpus_are_divided_by_shares_at_each_level() -> None:
    wanted = dict.fromkeys(LEAVES, 1000.0)

    assert TREE.targets(wanted, {}, 300) == {
        "physics/higgs": pytest.approx(140), "physics/top": pytest.approx(70), "test": 0.0,
        "others": pytest.approx(90),
    }  # fmt: skip
    alone = TREE.targets({"physics/top": 1000.0, "others": 10.0}, {}, 300)
    assert alone == {"physics/top": pytest.approx(290), "others": pytest.approx(10)}


@given(st.dictionaries(st.sampled_from([*LEAVES, NOBODY]), CPUS, min_size=1),
       st.dictionaries(st.sampled_from(LEAVES), CPUS), st.floats(0, 2000))  # fmt: skip
def test_no_group_gets_more_than_it_wants_and_no_cpu_stays_free_that_a_share_wants(
    wanted: dict[str, float], used: dict[str, float], capacity: float
) -> None:
    found = TREE.targets(wanted, used, capacity)

    assert all(-1e-6 <= found[path] <= wanted[path] + 1e-6 for path in wanted)
    claimed = sum(value for path, value in wanted.items() if path != "test")
    assert sum(found.values()) == pytest.approx(min(capacity, claimed), abs=1e-3)


@given(CPUS, CPUS)
def test_a_group_that_used_more_than_others_of_an_equal_share_gets_less(
    share: float, other: float
) -> None:
    weights = corrected({"a": 1.0, "b": 1.0}, {"a": share, "b": other})

    assert (weights["a"] >= weights["b"]) is (share <= other) or share == pytest.approx(other)
    assert 0 < min(weights.values()) <= max(weights.values()) <= 2


def test_the_part_beyond_a_claim_goes_to_the_others() -> None:
    assert divide(10, {"a": 1, "b": 100, "c": 100}, {"a": 5, "b": 2, "c": 1}) == {
        "a": 1, "b": pytest.approx(6), "c": pytest.approx(3)
    }  # fmt: skip


def test_a_share_takes_the_jobs_under_any_name_of_a_researcher() -> None:
    tree = Tree((Share("mine", 1, ("emmy",)), Share("tests", 1, (), ("test-*",)), Share("all", 1)))

    assert tree.path_of(["emmy@lab01", "emmy"], "mc") == "mine"
    assert tree.path_of(["ole@lab01"], "mc") == "all"
    assert tree.paths_for(["emmy@lab01", "emmy"]) == ["mine"]
    assert tree.paths_for(["ole@lab01"]) == ["tests", "all"]
