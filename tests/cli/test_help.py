"""Ways to the help, which a newcomer tries first."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Type

PROGRAM = Path(sys.executable).with_name("d0ctl")


def test_help_before_a_command_prints_its_help(d0ctl: Type) -> None:
    assert d0ctl("help").stdout == d0ctl("--help").stdout
    assert d0ctl("help", "node", "add").stdout == d0ctl("node", "add", "--help").stdout
    assert d0ctl("help", "statsu").exit_code == 2


def test_the_first_help_says_where_to_begin_and_has_exit_codes(d0ctl: Type) -> None:
    page = d0ctl("--help").stdout

    assert "Example: d0ctl run mc.yaml" in page
    assert "d0ctl init" in page and "Exit status: 0 done" in page
    assert "--show-completion" not in page


@pytest.mark.parametrize("words", [[], ["top"], ["node", "add"], ["run"]], ids=" ".join)
def test_help_fits_on_a_narrow_terminal(words: list[str]) -> None:
    done = subprocess.run(
        [PROGRAM, *words, "--help"], capture_output=True, text=True, check=True,
        env=os.environ | {"COLUMNS": "40"},
    )  # fmt: skip

    assert max(map(len, done.stdout.splitlines())) <= 40


@pytest.mark.parametrize(
    ("word", "meant"),
    [("purge", "`d0ctl file purge` or `d0ctl software purge`"),
     ("add", "`d0ctl node add`, `d0ctl software add` or `d0ctl token add`")],
)  # fmt: skip
def test_a_word_of_several_groups_names_the_commands_of_all(
    d0ctl: Type, word: str, meant: str
) -> None:
    answer = d0ctl(word, "mc")

    expected = f"d0ctl: no such command `{word}`\ndid you mean {meant}?\n"
    assert (answer.exit_code, answer.stderr) == (2, expected)


@pytest.mark.parametrize("word", ["diff", "compare"])
def test_a_comparison_is_answered_with_what_compares_attempts(d0ctl: Type, word: str) -> None:
    answer = d0ctl(word, "mc/1/1/1", "mc/1/2/1").stderr

    assert answer.startswith(f"d0ctl: no such command `{word}`\n`=` in `d0ctl tui` compares two")
    assert d0ctl("open", "mc").stderr.endswith("\nd0ctl results JOB --open\n")
    assert d0ctl("version").stderr == "d0ctl: no such command `version`\nd0ctl --version\n"
