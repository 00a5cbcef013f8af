"""Commands that a card suggests for several packages, as a shell reads them."""

import shlex

import pytest

from d0ctl.show.drawing.sheet import Sheet
from d0ctl.show.drawing.signs import UNICODE
from d0ctl.show.drawing.spans import text
from d0ctl.show.failures import alike
from tests.support.building import production
from tests.support.site import Site


def test_each_of_several_packages_of_a_group_is_a_word_of_its_own(site: Site) -> None:
    site.submit(production(lines=5))
    paths = ["prod/1/2/1", "prod/1/4/1"]
    for path in paths:
        site.fail(path, reason="wall-time")
    kinds = [alike.Kind("prod", "wall-time", paths)]

    commands = alike.several(site.store, kinds, {"prod": " ".join(paths)}).commands

    retry, acknowledge, _ = map(shlex.split, commands)
    assert retry[:4] == ["d0ctl", "retry", *paths]
    assert acknowledge[:4] == ["d0ctl", "acknowledge", *paths]


@pytest.mark.parametrize("columns", [40, 50, 60])
def test_no_line_of_a_command_ends_in_a_quoted_word(columns: int) -> None:
    words = ["d0ctl", "retry", "prod/1/2/1", "prod/1/4/1", "--reason", "the disk of n1 is new"]
    sheet = Sheet(columns, UNICODE)

    sheet.commands([shlex.join(words)])

    typed = "\n".join(text(line) for line in sheet.lines).removeprefix("  $ ")
    assert len(sheet.lines) > 1
    assert shlex.split(typed.replace("\\\n", "")) == words
