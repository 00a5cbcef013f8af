"""TAB without Typer: the same answers as with it, for the usual words."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer._completion_classes import BashComplete, FishComplete, ZshComplete

from d0ctl.actions import ACTIONS
from d0ctl.cli import direct_completion
from d0ctl.cli.app import app
from d0ctl.cli.completion_table import ARGUMENTS, COMMANDS, HEADINGS, REASONED, TEXT_OPTIONS
from d0ctl.cli.terminal import offers
from d0ctl.cli.terminal.offers import OFFERS
from tests.cli.conftest import Type
from tests.support.building import production
from tests.support.rows import insert
from tests.support.site import Site

ROOT: Any = typer.main.get_command(app)
SHELLS: dict[str, Any] = {
    "complete_bash": BashComplete,
    "complete_zsh": ZshComplete,
    "complete_fish": FishComplete,
}


@pytest.fixture
def filled(site: Site, monkeypatch: pytest.MonkeyPatch) -> Site:
    """A home with two jobs, which all completions read."""
    site.submit(production("prod"))
    site.submit(production("other"))
    with site.store.writing():
        insert(site.store, "software", name="reco", version="v1", script="reco")
    monkeypatch.setenv("D0CTL_HOME", str(site.store.home.root))
    monkeypatch.setenv("_TYPER_COMPLETE_FISH_ACTION", "get-args")
    return site


def commands() -> Iterator[tuple[str, Any]]:
    """All commands and groups by their words."""
    context = ROOT.make_context("d0ctl", ["status"], resilient_parsing=True)
    for name in ROOT.list_commands(context):
        command = ROOT.get_command(context, name)
        yield name, command
        if hasattr(command, "list_commands"):
            inner = command.make_context(name, ["x"], parent=context, resilient_parsing=True)
            for part in command.list_commands(inner):
                yield f"{name} {part}", command.get_command(inner, part)


def offer_of(parameter: Any, context: Any) -> str:
    """The name of the offer that completes an argument; `-` is none, `?` another."""
    beginnings = ("", "prod/", "fail", "prod:")
    offered = [[item.value for item in parameter.shell_complete(context, beginning)]
               for beginning in beginnings]  # fmt: skip
    if not any(offered):
        return "-"
    return next((name for name, offer in OFFERS.items()
                 if [offer(beginning) for beginning in beginnings] == offered), "?")  # fmt: skip


def arguments(command: Any) -> tuple[str, ...]:
    """The offers of the arguments of a command, `*` behind one that may be repeated."""
    parent = ROOT.make_context("d0ctl", ["status"], resilient_parsing=True)
    context = command.make_context("d0ctl", [], parent=parent, resilient_parsing=True)
    found = []
    for parameter in command.get_params(context):
        if parameter.param_type_name == "argument":
            found.append(offer_of(parameter, context) + "*" * (parameter.nargs == -1))
    return tuple(found)


@pytest.mark.usefixtures("filled")
def test_the_completion_table_matches_the_commands() -> None:
    single = {words: command for words, command in commands()
              if not hasattr(command, "list_commands")}  # fmt: skip
    found = {words: arguments(command) for words, command in single.items()}

    offered = {words: offers for words, offers in found.items() if "?" not in offers}
    assert {words: offered.get(words) for words in ARGUMENTS} == ARGUMENTS
    assert offered.keys() - ARGUMENTS.keys() <= ACTIONS.keys()


FILES = ("FILE", "DIR", "PATH", None)
"""How values are called that are files; those of the options of all commands have no name."""


@pytest.mark.usefixtures("filled")
def test_the_table_has_all_options_whose_values_are_texts() -> None:
    found = set()
    for words, command in commands():
        if hasattr(command, "list_commands"):
            continue
        parent = ROOT.make_context("d0ctl", ["status"], resilient_parsing=True)
        context = command.make_context("d0ctl", [], parent=parent, resilient_parsing=True)
        for option in command.get_params(context):
            is_text = option.param_type_name == "option" and not option.is_flag
            is_text = is_text and option.metavar not in FILES and "--set" not in option.opts
            if is_text and option._custom_shell_complete is None:
                found |= {*option.opts}
                assert words.split()[0] not in REASONED or "--reason" not in option.opts

    assert found == TEXT_OPTIONS


def test_the_table_has_all_commands() -> None:
    found: dict[str, tuple[str, ...]] = {"": ()}
    for words, _ in commands():
        group, _, name = words.rpartition(" ")
        found[group] = (*found.get(group, ()), name)

    assert found == COMMANDS


def test_the_table_has_all_actions() -> None:
    actions = {name for name in ACTIONS if " " not in name} - {"submit", "clone"}

    assert HEADINGS["Act on jobs"] == ("", tuple(sorted(actions)))


LINES = (
    "", "st", "status", "status ", "status p", "status prod/", "status prod/1", "status nope/",
    "status prod ", "status prod o", "why o", "kill prod other ", "kill prod/", "priority prod 5",
    "node ", "node dr", "node drain ", "node drain lo", "node list ", "run ", "run a", "x ", "x",
    "peek ", "peek prod ", "report ", "report failures p", "schema ", "daemon st", "logs prod/2",
    "software add ", "status --", "status --status fa", "status --json p", "status prod:fa",
    "status prod/1/", "status prod/1/1", "status prod/1/2/", "status prod/7/", "status prod/a/",
    "why prod:pl", "why lo", "why prod/1/", "results prod:", "results p", "software push ",
    "wait prod --until f", "file purge prod:g",
    "--home /nowhere status p", "--home /nowhere status ", "status --home /nowhere p", "--h",
    "status 'pr", "status *", "status --node=lo", "status -- p", "file list p", "set-status prod ",
    "set-status prod un", "init ", "init me", "template show ", "template new s", "status oth",
)  # fmt: skip


@pytest.mark.parametrize("line", LINES)
@pytest.mark.usefixtures("filled")
def test_completion_offers_the_same_candidates_as_typer(
    line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = f"d0ctl {line}"
    environment = {
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - (not words.endswith(" "))),
        "_TYPER_COMPLETE_ARGS": words,
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    for shell, typers in SHELLS.items():
        monkeypatch.setenv("_D0CTL_COMPLETE", shell)
        answer = direct_completion.answer({**environment, "_D0CTL_COMPLETE": shell})
        if answer is not None:
            candidates = typers(ROOT, {}, "d0ctl", "_D0CTL_COMPLETE").complete()
            assert answer == candidates, shell


@pytest.mark.parametrize("line", ["", "st", "status p", "kill prod other ", "node drain l", "run "])
def test_common_words_are_completed_without_typer(line: str, filled: Site) -> None:
    look = "import sys; from d0ctl.cli import run; run(); sys.exit('typer' in sys.modules)"
    words = f"d0ctl {line}"
    environment = {
        "D0CTL_HOME": str(filled.store.home.root),
        "_D0CTL_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - (not words.endswith(" "))),
    }

    done = subprocess.run([sys.executable, "-c", look], capture_output=True, env=environment)

    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("words", ["clone mc", "retry mc:failed", "retry mc/1"])
def test_the_parameters_of_a_job_are_offered(
    words: str, filled: Site, d0ctl: Type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "job: mc\nparameters: {energy: 7}\nstages: [{name: a, lines: [{run: 'true'}]}]\n"
    (tmp_path / "mc.yaml").write_text(text)
    assert d0ctl("submit", str(tmp_path / "mc.yaml")).exit_code == 0
    monkeypatch.setenv("_TYPER_COMPLETE_ARGS", f"d0ctl {words} --set en")

    offered = SHELLS["complete_fish"](ROOT, {}, "d0ctl", "_D0CTL_COMPLETE").complete()

    assert offered == "energy="


def test_lines_packages_states_files_and_software_are_offered(filled: Site) -> None:
    filled.submit(production("many", lines=120))

    assert offers.selectors("prod/1/") == ["prod/1/1", "prod/1/2", "prod/1/3"]
    assert offers.selectors("prod/1/2/") == ["prod/1/2/1", "prod/1/2/2"]
    assert offers.selectors("many/1/12") == ["many/1/12", "many/1/120"]
    assert len(offers.selectors("many/1/")) == offers.MOST
    assert offers.selectors("many/1/0") == offers.selectors("many/9/") == []
    assert offers.selectors("prod:fai") == ["prod:failed"]
    assert offers.subjects("prod:pl") == ["prod:plot.png"]
    assert offers.subjects("loc") == ["localhost"]
    assert offers.parts_or_nodes("loc") == ["localhost"]
    assert offers.selectors("man") == ["many", "many/"]
    assert offers.selectors("prod/1") == ["prod/1", "prod/1/"]
    assert offers.selectors("prod/1/2") == ["prod/1/2", "prod/1/2/"]
    assert offers.selectors("prod/1/2/1") == ["prod/1/2/1"]
    assert offers.job_names("man") == ["many"]
    assert offers.results("prod:") == ["prod:plot.png"]
    assert offers.targets_or_statuses("prod/1/1/1") == ["prod/1/1/1"]
    assert offers.targets_or_statuses("un") == ["unscheduled"]
    assert {"array", "merge"} <= set(offers.templates("")) and offers.templates("mer") == ["merge"]
    assert offers.files("prod:gen") == ["prod:gen-1", "prod:gen-2", "prod:gen-3"]


@pytest.mark.parametrize(
    ("words", "number", "offered"),
    [("d0ctl status prod : fai", 4, "failed"), ("d0ctl results prod : plo", 4, "plot.png"),
     ("d0ctl file list prod :", 4, "all\ngen-1"),
     ("d0ctl results prod :", 3, "plot.png"), ("d0ctl status prod:fai", 2, "prod:failed")],
)  # fmt: skip
@pytest.mark.usefixtures("filled")
def test_words_that_bash_has_split_at_a_colon_are_joined(
    words: str, number: int, offered: str
) -> None:
    environment = {
        "_D0CTL_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(number),
    }  # fmt: skip

    assert (direct_completion.answer(environment) or "").startswith(offered)


@pytest.mark.usefixtures("filled")
def test_words_after_an_option_that_is_given_twice_are_completed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    words = "d0ctl retry --node a --node b --stat"
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(len(words.split()) - 1))

    assert SHELLS["complete_bash"](ROOT, {}, "d0ctl", "_D0CTL_COMPLETE").complete() == "--status"
