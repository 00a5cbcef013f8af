"""Reading commands without Typer: the same as with it, and only in their usual form."""

from pathlib import Path

import pytest
import typer

from d0ctl.cli import fast_path
from d0ctl.cli.app import app
from d0ctl.cli.fast_path import Call

USUAL = (
    "status", "status reco001", "status reco001/1/2/1", "status reco001:failed",
    "status reco001 --json", "status --json reco001", "status --json",
    "--home /tmp/x status", "--home /tmp/x status reco001 --json",
    "status --home /tmp/x", "status reco001 --home /tmp/x", "status --json --home /tmp/x",
    "why reco001", "why reco001/1", "why all.root", "why --json reco001:all.root",
    "--home /tmp/x why node1", "why node1 --json --home /tmp/x",
)  # fmt: skip

OTHERS = (
    "", "why", "status -h", "status --help", "status a b", "why a b", "status --watch",
    "status reco*", "status -- reco001", "status --json --json", "statu", "--home /tmp/x",
    "status --home", "--home status", "--home= status", "--debug status", "status --node a",
    "why --file a", "kill reco001", "status --home /tmp/x --debug",
)  # fmt: skip


@pytest.mark.parametrize("line", USUAL)
def test_the_usual_forms_are_read_as_typer_reads_them(line: str) -> None:
    words = line.split()
    call = fast_path.parse(words)
    assert call is not None

    root = typer.main.get_command(app)
    context = root.make_context("d0ctl", list(words))
    name, command, rest = root.resolve_command(context, context._protected_args + context.args)  # type: ignore[attr-defined]
    with context:
        inner = command.make_context(name, rest, parent=context)

    given = {key: value for key, value in inner.params.items() if value}
    assert name == call.command
    assert given.pop("selector", None) == call.what
    assert given.pop("json", False) == call.json
    assert not given


@pytest.mark.parametrize("line", OTHERS)
def test_other_forms_go_to_typer(line: str) -> None:
    assert fast_path.parse(line.split(" ") if line else []) is None


def test_the_home_option_works_before_and_after_the_command() -> None:
    home = Path("/tmp/x")

    assert fast_path.parse(["--home", "/tmp/x", "status"]) == Call("status", home=home)
    assert fast_path.parse(["status", "a", "--home", "/tmp/x"]) == Call("status", "a", home=home)
