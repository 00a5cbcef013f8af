"""Which other homes of a site are driven on this machine."""

from pathlib import Path

import pytest

from d0ctl.config import Home
from d0ctl.errors import Refused
from d0ctl.store.clusters.other_homes import driven_elsewhere, marked_as_driver


@pytest.fixture
def two_homes(tmp_path: Path) -> tuple[Home, Home]:
    """Two empty homes."""
    homes = Home(tmp_path / "one"), Home(tmp_path / "two")
    for home in homes:
        home.root.mkdir()
    return homes


def test_a_second_home_of_a_site_is_refused_while_the_first_is_driven(
    two_homes: tuple[Home, Home],
) -> None:
    first, second = two_homes
    with marked_as_driver(first, "d0-a"):
        with pytest.raises(Refused, match=f"another home: `{first.root}`"):
            marked_as_driver(second, "d0-a").__enter__()
        with marked_as_driver(first, "d0-a"), marked_as_driver(second, "d0-b"):
            driver = driven_elsewhere(second, "d0-a")
            assert driver and driver.root == first.root

    assert driven_elsewhere(second, "d0-a") is None


def test_a_look_opens_no_database_of_another_home(two_homes: tuple[Home, Home]) -> None:
    first, second = two_homes
    with marked_as_driver(first, "d0-c"), first.database.open("w") as database:
        database.write("this would be refused as a database")

        driven_elsewhere(second, "d0-c")

        assert {path.name for path in first.root.iterdir()} == {"d0ctl.db", "d0ctl.driver"}
