"""The commands that undo actions, as `history` lists them."""

from tests.cli.conftest import Type
from tests.support.building import production
from tests.support.site import Site


def undoes(d0ctl: Type, *words: str) -> list[str]:
    """The commands that the history lists, the earliest action first."""
    lines = d0ctl("history", *words).stdout.splitlines()
    return [line.partition("to undo: ")[2] for line in lines if "to undo: " in line]


def test_the_history_has_the_undo_of_what_stops_packages_until_it_was_typed(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production())
    site.submit(production("other"))
    for words in (("kill", "other"), ("kill-line", "prod/1/1"), ("pause", "prod"),
                  ("node", "drain", "localhost")):  # fmt: skip
        assert d0ctl(*words, "--yes").exit_code == 0

    before = undoes(d0ctl)
    of_job = undoes(d0ctl, "prod")
    for words in (("retry", "other:canceled"), ("resume", "prod"), ("node", "resume", "localhost")):
        assert d0ctl(*words).exit_code == 0

    assert before == ["d0ctl retry other:canceled", "d0ctl retry prod/1/1:canceled,failed",
                      "d0ctl resume prod", "d0ctl node resume localhost"]  # fmt: skip
    assert of_job == before[1:3]
    assert undoes(d0ctl) == before[1:2]


def test_the_history_has_the_undo_only_of_the_last_change_of_a_value(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production())
    d0ctl("priority", "prod", "80")
    d0ctl("priority", "prod", "60")

    assert undoes(d0ctl) == undoes(d0ctl, "prod") == ["d0ctl priority prod 80"]
