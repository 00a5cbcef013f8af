"""What to type next, after a word of another program or something that needs one more word."""

import shlex

import pytest

from tests.cli.conftest import Type
from tests.support.building import job, line, package, production
from tests.support.site import Site

IN_SITE_FILE = "are in the site file; `d0ctl site apply FILE` changes them"


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ("estimate mc", "d0ctl eta mc"),
        ("suspend mc", "d0ctl pause mc"),
        ("user list", "d0ctl researcher list"),
        ("share set", f"d0ctl site show   # shares {IN_SITE_FILE}"),
        ("policy set", f"d0ctl site show   # policies {IN_SITE_FILE}"),
        ("start", "d0ctl daemon start"),
        ("start mc", "d0ctl run mc"),
        ("stop", "d0ctl daemon stop"),
        ("stop mc", "d0ctl kill mc   # or pause: no new packages; finish: let running ones end"),
        (
            "stop 'a b' -x",
            "d0ctl kill 'a b'   # or pause: no new packages; finish: let running ones end",
        ),
        ("restart", "d0ctl daemon restart"),
        ("restart mc", "d0ctl retry mc   # failed packages; `d0ctl run mc` continues the job"),
        ("get mc", "d0ctl results mc"),
        ("upgrade", "pip install --upgrade d0ctl   # then d0ctl daemon restart"),
        ("node rm farm01", "did you mean `d0ctl node remove`?"),
        ("node undrain farm01", "did you mean `d0ctl node resume`?"),
        ("daemon stat", "did you mean `d0ctl daemon status`?"),
        ("store locate vault/nothing", "write store:vault/nothing"),
        ("store locate nothing", "d0ctl store list"),
    ],
)
def test_what_other_programs_call_it_is_answered_with_our_command(
    d0ctl: Type, words: str, hint: str
) -> None:
    answer = d0ctl(*shlex.split(words))

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
        "no node is known to have `reco/v1`: d0ctl software push reco/v1\n"
    )


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        ("retry prod failed", "d0ctl retry prod:failed"),
        ("retry failed prod/1 prod/1/1:failed", "d0ctl retry prod/1:failed prod/1/1:failed"),
        ("kill 'pr*' ready waiting", "d0ctl kill 'pr*:ready,waiting'"),
        ("status prod failed", "d0ctl status prod:failed"),
        ("history failed prod", "d0ctl history prod:failed"),
    ],
)
def test_a_state_beside_a_job_is_offered_as_part_of_the_selector(
    site: Site, d0ctl: Type, words: str, hint: str
) -> None:
    site.submit(production())
    site.fail("prod/1/1/1")

    answer = d0ctl(*shlex.split(words))

    assert (answer.exit_code, answer.stderr.splitlines()[1:]) == (2, [hint])
    assert d0ctl(*shlex.split(hint)[1:]).exit_code == 0


@pytest.mark.parametrize("verb", ["retry", "status"])
def test_a_job_may_be_named_like_a_state(site: Site, d0ctl: Type, verb: str) -> None:
    site.submit(job(("a", [line(package("x"))]), name="failed"))
    site.fail("failed/1/1/1")

    assert d0ctl(verb, "failed").exit_code == 0


@pytest.mark.parametrize("verb", ["status", "logs", "kill", "wait"])
def test_a_node_in_place_of_a_job_is_recognized(site: Site, d0ctl: Type, verb: str) -> None:
    site.submit(production())

    answer = d0ctl(verb, "localhost")

    assert answer.stderr.splitlines() == [
        "d0ctl: there is no job `localhost`", "`localhost` is a node: d0ctl why localhost",
    ]  # fmt: skip
    assert d0ctl("why", "localhost").exit_code == 0


@pytest.mark.parametrize("words", [["scale", "2"], ["scale", "=", "2"]])
def test_a_parameter_without_its_equals_sign_is_led_to_it(d0ctl: Type, words: list[str]) -> None:
    for verb in ("retry", "update", "clone"):
        answer = d0ctl(verb, "prod", "--set", *words)
        assert answer.stderr == "d0ctl: `--set` takes NAME=VALUE\n--set scale=2\n"


@pytest.mark.parametrize(
    ("words", "hint"),
    [("eta pr*", "d0ctl eta prod"), ("limit pr* --max-running 2", "d0ctl limit prod --max-running"),
     ("report timeline pr*", "d0ctl report timeline prod")],
)  # fmt: skip
def test_where_one_job_is_wanted_a_pattern_is_answered_with_a_job_that_matches(
    site: Site, d0ctl: Type, words: str, hint: str
) -> None:
    site.submit(production())

    assert hint in d0ctl(*words.split()).stderr


@pytest.mark.parametrize(
    "words", ["eta pr*", "eta prot/1", "remove prot/1", "restore-line prot", "kill-line prot:held",
              "report timeline prot/1", "limit pr*"],
)  # fmt: skip
def test_no_command_is_advised_for_a_job_that_is_not_there(
    site: Site, d0ctl: Type, words: str
) -> None:
    assert site.phases() == {}

    answer = d0ctl(*words.split())

    assert (answer.exit_code, answer.stderr.splitlines()[-1]) == (
        3,
        "there are no jobs: d0ctl run FILE",
    )
