"""Selectors whose numbers the store finds: from the end, or of lines by values of their loops."""

import pytest

from d0ctl.actions import apply, request
from d0ctl.errors import NotFound
from d0ctl.select import parse_all
from d0ctl.store import Store
from d0ctl.store.views import selection
from d0ctl.store.views.selection import located
from tests.support.building import job as made
from tests.support.building import line as named
from tests.support.building import package
from tests.support.jobs import NOW, job, line, simple, stage, submitted
from tests.support.rows import value
from tests.support.site import Site


@pytest.fixture
def chains(store: Store) -> Store:
    """Two jobs, with one package in the lines of the first stage and one to three in others."""
    first = stage(*[simple() for _ in range(4)], name="first")
    rest = stage(*[line(*[simple()] * number) for number in (1, 3, 3, 2)])
    submitted(store, job("a", first, rest))
    submitted(store, job("b", first))
    return store


@pytest.mark.parametrize(
    ("text", "paths"),
    [
        ("a/1/last", "a/1/4/1"),
        ("a/last/[1:3]/last", "a/2/2/3 a/2/3/3"),
        ("a/2/*/[2]", "a/2/2/3 a/2/3/3"),
        ("a/2/*/last", "a/2/1/1 a/2/2/3 a/2/3/3 a/2/4/2"),
        ("*/last/[-2:]/1", "a/2/3/1 a/2/4/1 b/1/3/1 b/1/4/1"),
        ("a/first/[0] b/1/last", "a/1/1/1 b/1/4/1"),
    ],
)
def test_last_means_the_last_one_of_each_level(chains: Store, text: str, paths: str) -> None:
    selected = selection.choose(chains, parse_all(text.split()), now=NOW)

    assert [row.path for row in selection.packages(selected)] == paths.split()


def test_a_slice_of_nothing_is_not_found(chains: Store) -> None:
    with pytest.raises(NotFound, match=r"no package matches `a/1/\[7:-1\]`"):
        located(chains, parse_all(["a/1/[7:-1]"]))


@pytest.fixture
def scan(site: Site) -> Site:
    """A job with a stage that loops over masses and seeds."""
    names = [f"mass={mass} seed={seed}" for mass in (120, 125, 130) for seed in (1, 2, 11)]
    site.submit(made(("sim", [named(package(), name=name) for name in names]), name="scan"))
    return site


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("scan/1/mass=125", "4-6"),
        ("scan/sim/seed=1", "1 4 7"),
        ("scan/sim/mass=12* seed=?1/1", "3/1 6/1"),
        ("*/*/seed=2 mass=130:waiting,ready", "8:waiting,ready"),
    ],
)
def test_lines_are_found_by_values_of_their_loops(scan: Site, text: str, lines: str) -> None:
    found = located(scan.store, parse_all([text]))

    assert str(found).split() == [f"scan/1/{line}" for line in lines.split()]
    assert len(selection.packages(selection.choose(scan.store, found, now=NOW))) in (1, 2, 3)


def test_values_of_no_line_lead_to_the_lines_of_the_stage(scan: Site) -> None:
    with pytest.raises(NotFound) as error:
        located(scan.store, parse_all(["scan/sim/mass=999"]))

    assert str(error.value) == "no package matches `scan/sim/mass=999`"
    assert error.value.hint == "d0ctl status scan/sim"


def test_an_action_records_the_numbers_of_lines_that_were_selected_by_values(scan: Site) -> None:
    wanted = request("hold", parse_all(["scan/sim/mass=120"]))
    apply(scan.store, wanted, actor="emmy", note=None, now=NOW)

    assert value(scan.store, "action", "target", verb="hold") == "scan/1/1-3"
