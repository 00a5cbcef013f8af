"""Failures in figures: by reason, node, software and input."""

import pytest

from d0ctl.config import Home
from tests.cli.building import Site, document, production
from tests.cli.conftest import Type


def several(site: Site) -> None:
    """Two packages that failed alike, one that failed otherwise, one lost."""
    site.submit(production())
    for number in (1, 2):
        site.fail(f"prod/1/{number}/1", cpu=1800.0)
    site.finish("prod/1/3/1")
    site.fail("prod/1/3/2", reason="seg-fault", detail="ended by SIGSEGV", cpu=3600.0)


def test_failures_are_grouped_with_counts_a_sample_and_what_they_cost(
    d0ctl: Type, site: Site
) -> None:
    several(site)

    told = document(d0ctl("report", "failures", "prod", "--json").stdout)

    assert (told["failures"], told["packages"], told["failed"]) == (3, 3, 3)
    assert told["cpu_hours"] == 2.0
    first, second = told["by_reason"]
    assert (first["reason"], first["count"], first["cpu_hours"]) == ("exit-code", 2, 1.0)
    assert first["sample"]["message"] == "binary 1 (tool) ended with exit code 3"
    assert second["sample"]["path"] == "prod/1/3/2"
    assert [(one["node"], one["count"]) for one in told["by_node"]] == [("localhost", 3)]
    assert [(one["software"], one["count"]) for one in told["by_software"]] == [("tool", 3)]
    assert [(one["input"], one["count"]) for one in told["by_input"]] == [("gen-3", 1)]


@pytest.mark.parametrize(
    ("words", "count"),
    [((), 3), (("prod/1/1",), 1), (("prod/1/1-2/1",), 2), (("--reason", "seg-fault"), 1)],
)
def test_any_selector_narrows_it(
    d0ctl: Type, site: Site, words: tuple[str, ...], count: int
) -> None:
    several(site)

    assert document(d0ctl("report", "failures", *words, "--json").stdout)["failures"] == count


def test_people_read_a_table(d0ctl: Type, site: Site) -> None:
    several(site)

    told = d0ctl("report", "failures").stdout

    assert told.startswith("3 failures of 3 packages, 0 tried again by the policy, 2.00 CPU hours")
    assert "by reason" in told
    assert "exit-code" in told


def test_where_nothing_failed_it_says_so_and_what_is_not_there_is_no_such_thing(
    d0ctl: Type, site: Site, home: Home
) -> None:
    site.submit(production())

    assert d0ctl("report", "failures").stdout == "nothing has failed\n"
    assert d0ctl("report", "failures", "pord").exit_code == 3
