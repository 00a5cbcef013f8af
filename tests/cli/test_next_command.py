"""What to type next, after a word of another program or something that needs one more word."""

import pytest

from tests.cli.conftest import Type

IN_SITE_FILE = "are in the site file; `d0ctl site apply FILE` changes them"


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ("user list", "d0ctl researcher list"),
        ("share set", f"d0ctl site show   # shares {IN_SITE_FILE}"),
        ("policy set", f"d0ctl site show   # policies {IN_SITE_FILE}"),
        ("upgrade", "pip install --upgrade d0ctl   # then d0ctl daemon restart"),
        ("node rm farm01", "did you mean `d0ctl node remove`?"),
        ("store locate vault/nothing", "write store:vault/nothing"),
        ("store locate nothing", "d0ctl store list"),
    ],
)
def test_what_other_programs_call_it_is_answered_with_our_command(
    d0ctl: Type, words: str, hint: str
) -> None:
    answer = d0ctl(*words.split())

    assert answer.exit_code == 2
    assert answer.stderr.splitlines()[1:] == [hint]


def test_a_secret_is_shown_with_a_word_for_people_only(d0ctl: Type) -> None:
    d0ctl("node", "add", "farm01", "--local", "--same-machine")
    answer = d0ctl("token", "add", "anna", "operator")

    assert len(answer.stdout.split()) == 1
    assert answer.stderr.startswith("the secret is shown only once: ")


def test_software_that_is_on_no_node_is_named(d0ctl: Type) -> None:
    d0ctl("software", "add", "reco/v1", "--script", "true")

    assert d0ctl("software", "where", "reco/v1").stdout == (
        "`reco/v1` is on no node yet: d0ctl software push reco/v1\n"
    )
