"""Ways to the help, which a newcomer tries first."""

from tests.cli.conftest import Type


def test_help_before_a_command_prints_its_help(d0ctl: Type) -> None:
    assert d0ctl("help").stdout == d0ctl("--help").stdout
    assert d0ctl("help", "node", "add").stdout == d0ctl("node", "add", "--help").stdout
    assert d0ctl("help", "statsu").exit_code == 2


def test_the_first_help_says_where_to_begin_and_has_exit_codes(d0ctl: Type) -> None:
    page = d0ctl("--help").stdout

    assert "Example: d0ctl run mc.yaml" in page
    assert "d0ctl init" in page and "Exit status: 0 done" in page
    assert "--show-completion" not in page
