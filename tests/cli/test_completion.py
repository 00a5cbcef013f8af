"""TAB without Typer: the same answers as with it, for the usual words."""

import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import typer
from typer._completion_classes import BashComplete, FishComplete, ZshComplete

from d0ctl.actions import ACTIONS
from d0ctl.cli import direct_completion
from d0ctl.cli.app import app
from d0ctl.cli.completion_table import ARGUMENTS, COMMANDS, HEADINGS
from d0ctl.cli.terminal.offers import OFFERS
from tests.support.building import production
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
    beginnings = ("", "prod/", "fail")
    offered = [[item.value for item in parameter.shell_complete(context, beginning)]
               for beginning in beginnings]  # fmt: skip
    if offered == [[], [], []]:
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
    "--home /nowhere status p", "--home /nowhere status ", "status --home /nowhere p", "--h",
    "status 'pr", "status *", "status --node=lo", "status -- p", "file list p", "set-status prod ",
)  # fmt: skip


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize("line", LINES)
@pytest.mark.usefixtures("filled")
def test_completion_offers_the_same_candidates_as_typer(
    line: str, shell: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = f"d0ctl {line}"
    environment = {
        "_D0CTL_COMPLETE": shell,
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - (not words.endswith(" "))),
        "_TYPER_COMPLETE_ARGS": words,
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }
    for name, value in environment.items():
        monkeypatch.setenv(name, value)

    answer = direct_completion.answer(environment)

    typers = SHELLS[shell](ROOT, {}, "d0ctl", "_D0CTL_COMPLETE").complete()
    assert answer in (None, typers)


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
