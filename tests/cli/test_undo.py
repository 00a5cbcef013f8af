"""What is printed of the command that undoes an action."""

import json
import shlex

import pytest

from tests.cli.conftest import Type
from tests.support.building import production
from tests.support.site import Site


@pytest.mark.parametrize(
    "verb, undoes, state", [("hold", "release", "held"), ("kill", "retry", "canceled")]
)
def test_the_undo_of_many_selectors_is_short_and_history_has_the_whole(
    verb: str, undoes: str, state: str, site: Site, d0ctl: Type
) -> None:
    site.submit(production(lines=60))
    scattered = [f"prod/1/{number}/1" for number in range(1, 60, 2)]

    result = d0ctl(verb, *scattered, "--yes")

    assert result.stderr.splitlines()[0] == (
        f"to undo: d0ctl {undoes} prod/1/1/1:{state} prod/1/3/1:{state} prod/1/5/1:{state} ... "
        "(30 selectors): the whole command is `undo` of the first of `actions` in "
        "`d0ctl history prod --json`"
    )
    whole = shlex.split(json.loads(d0ctl("history", "prod", "--json").stdout)["actions"][0]["undo"])
    assert whole[:2] == ["d0ctl", undoes] and len(whole) == 32
    assert d0ctl(*whole[1:]).exit_code == 0
    assert {site.phase(path) for path in scattered} == {"ready"}


def test_the_undo_of_twenty_selectors_is_printed_whole(site: Site, d0ctl: Type) -> None:
    site.submit(production(lines=60))
    scattered = [f"prod/1/{number}/1" for number in range(1, 40, 2)]

    result = d0ctl("hold", *scattered)

    words = " ".join(f"{path}:held" for path in scattered)
    assert result.stderr.splitlines()[0] == f"to undo: d0ctl release {words}"
