"""Every command that changes something takes the same three options, from one table."""

import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer

from d0ctl.actions import ACTIONS, apply, request
from d0ctl.cli.app import app
from d0ctl.cli.changing import Changing
from d0ctl.cli.epilogs import EPILOGS
from d0ctl.config import Home
from d0ctl.model import Address
from d0ctl.select import parse
from d0ctl.store import open_store
from d0ctl.store.clusters import doubt
from d0ctl.store.nodes import registry
from d0ctl.store.views import browse
from tests.cli.conftest import Type
from tests.support.acting import act
from tests.support.archives import RECO, packed
from tests.support.building import job, line, package, production
from tests.support.rows import change, read, value
from tests.support.site import Site

READS = {
    "validate", "rehearse", "wait", "status", "why", "history", "logs", "peek", "results", "top",
    "report failures",
    "report usage", "report disk", "report metrics", "report timeline",
    "policy show", "policy try", "file list", "node list",
    "cluster list", "researcher list", "throttle list", "store list", "store locate",
    "node check", "cluster check", "node login", "node logout",
    "site check", "site diff", "site show",
    "software list", "software where",
    "software verify", "notify list", "notify show", "notify test", "daemon run", "daemon start",
    "daemon stop", "daemon restart", "daemon install", "daemon uninstall", "daemon status",
    "task list", "task status", "task why", "task history",
    "tui", "doctor", "backup", "export", "import", "init",
    "template list", "template show", "template new", "schema", "plugins",
    "archives", "eta", "token list", "serve", "event key", "event send",
    "completion install", "completion uninstall",
}  # fmt: skip
"""Commands that leave jobs, nodes and the site as they are."""

CALLS = {
    "run": ["FILE"],
    "submit": ["FILE"],
    "acknowledge": ["prod/1/2/1"],
    "hold": ["prod"],
    "release": ["held"],
    "pause": ["prod"],
    "resume": ["paused"],
    "retry": ["prod/1/2/1"],
    "kill": ["prod"],
    "kill-line": ["prod/1/3"],
    "restore-line": ["dropped/1/1"],
    "finish": ["prod"],
    "priority": ["prod", "80"],
    "limit": ["prod", "--max-running", "4"],
    "edit": ["prod/1/1/1", "--cpus", "1"],
    "set-status": ["prod/1/2/1", "unscheduled"],
    "remove": ["held"],
    "node add": ["farm", "emmy@127.0.0.9"],
    "node accept-key": ["drained"],
    "node accept-loss": ["doubted"],
    "node benchmark": ["localhost"],
    "node set": ["localhost", "speed=2"],
    "node drain": ["localhost"],
    "node resume": ["drained"],
    "node remove": ["drained"],
    "cluster set": ["doubted", "capacity=2TB"],
    "researcher set": ["emmy", "mail=emmy@lab.example"],
    "throttle set": ["researcher", "ada", "--max-running", "3"],
    "token add": ["anna", "reader"],
    "site apply": ["SITE"],
    "site rotate-key": [],
    "software add": ["reco/v2", "--script", "true"],
    "software remove": ["reco/v1"],
    "software push": ["reco/v1"],
    "software purge": ["reco/v1"],
    "restore": ["BACKUP"],
}
"""A call of each command that changes something."""


ELSEWHERE = {
    "token remove",
    "task submit",
    "task acknowledge",
    "task avalanche",
    "task finish",
    "task incexec",
    "task kill",
    "task pause",
    "task resume",
    "task reassign",
    "task retry",
    "archive",
    "clone",
    "file purge",
    "file set-disposition",
    "node free",
    "store delete",
    "update",
}
"""Commands whose dry run and reason have tests of their own."""


def leaves(command: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Every command that does something, with its full name."""
    if not hasattr(command, "list_commands"):
        yield name, command
        return
    for word in command.list_commands(None):
        yield from leaves(command.get_command(None, word), f"{name} {word}".strip())


@cache
def commands() -> dict[str, Any]:
    """All commands by their names, made once they are needed."""
    return dict(leaves(typer.main.get_command(app)))


def test_every_command_either_only_reads_or_is_declared_as_one_that_changes_something() -> None:
    changing = {name for name, command in commands().items() if isinstance(command, Changing)}

    assert set(commands()) - changing == READS
    assert changing == set(CALLS) | ELSEWHERE
    assert set(commands()) == {*ACTIONS, *EPILOGS}


@pytest.mark.parametrize("name", sorted({*CALLS, *ELSEWHERE}))
def test_changing_commands_take_yes_dry_run_and_reason(name: str) -> None:
    options = [option for parameter in commands()[name].params for option in parameter.opts]

    assert [o for o in ("--yes", "--dry-run", "--reason") if options.count(o) != 1] == []


@pytest.fixture
def calls(site: Site, d0ctl: Type, home: Home, tmp_path: Path) -> dict[str, list[str]]:
    """The calls, with files, jobs and nodes in the state that each needs."""
    for name in ("prod", "held", "paused", "dropped"):
        site.submit(production(name))
    site.fail("prod/1/2/1")
    for asked in (
        request("hold", parse("held")),
        request("pause", parse("paused")),
        request("kill-line", parse("dropped/1/1"), drop_outputs=True),
    ):
        apply(site.store, asked, actor="me", note=None, now=time.time())
    registry.add(site.store, Address("drained", "ssh", "drained"), cpus=1)
    act(site.store, "node drain", "drained", actor="me", note=None, now=time.time())
    registry.add(site.store, Address("doubted", "ssh", "doubted"), cpus=1)
    with site.store.writing():
        row = registry.named(site.store, "doubted")
        doubt.begin(site.store, row, 30, 30, since=time.time(), now=time.time())
    archive = packed(tmp_path / "reco.tar.gz", RECO)
    assert d0ctl("software", "add", "reco/v1", "--archive", str(archive)).exit_code == 0
    files = {"FILE": tmp_path / "job.yaml", "SITE": tmp_path / "site.yaml",
             "BACKUP": tmp_path / "backup.db"}  # fmt: skip
    files["FILE"].write_text("job: new\nstages: [{lines: [{run: 'true'}]}]\n")
    files["SITE"].write_text("nodes:\n  localhost: {cpus: 3}\n")
    assert d0ctl("backup", str(files["BACKUP"])).exit_code == 0
    return {name: [str(files.get(word, word)) for word in words] for name, words in CALLS.items()}


def _content(site: Site, home: Home) -> list[str]:
    """All rows of the database, and the files beside it."""
    rows = [line for line in site.store.connection.iterdump() if "sqlite_stat" not in line]
    return rows + sorted(str(path) for path in home.root.rglob("*") if "d0ctl." not in path.name)


@pytest.mark.parametrize("name", sorted(CALLS))
def test_a_dry_run_describes_the_changes_and_makes_none(
    site: Site, d0ctl: Type, home: Home, calls: dict[str, list[str]], name: str
) -> None:
    before = _content(site, home)

    result = d0ctl(*name.split(), *calls[name], "--dry-run", "--yes", "--reason", "a look")

    assert (result.exit_code, "would" in result.stdout) == (0, True), result.output
    assert _content(site, home) == before


@pytest.mark.parametrize("name", ["node add", "node drain", "software add", "submit"])
def test_a_dry_run_in_a_new_home_creates_nothing(
    d0ctl: Type, home: Home, tmp_path: Path, name: str
) -> None:
    file = tmp_path / "job.yaml"
    file.write_text("job: new\nstages: [{lines: [{run: 'true'}]}]\n")
    words = [str(file) if word == "FILE" else word for word in CALLS[name]]

    assert d0ctl(*name.split(), *words, "--dry-run").exit_code == 0
    assert not home.root.exists()


BY_ROW = {"run", "node add", "node accept-key", "node benchmark", "software push", "software purge"}
"""Commands that need a node that answers: their own tests look at the reason."""


@pytest.mark.parametrize("name", sorted(set(CALLS) - BY_ROW))
def test_the_reason_of_a_change_is_kept_with_it(
    site: Site, d0ctl: Type, home: Home, calls: dict[str, list[str]], name: str
) -> None:
    result = d0ctl(*name.split(), *calls[name], "--yes", "--reason", "told so")

    assert result.exit_code == 0, result.output
    with open_store(home, read_only=True) as store:
        done = read(store, "action", "verb", "note")
    verb, note = done[-1]
    assert (verb, note.partition(";")[0]) == (name, "told so")


def test_several_selectors_are_planned_as_one_change(site: Site, d0ctl: Type) -> None:
    site.submit(production(lines=9))

    result = d0ctl("kill", "prod/1/1-3/1", "prod/1/5/1", "prod/1/7-9", "--reason", "all bad")

    assert result.stdout.startswith("killed 10 packages of `prod/1/1-3/1 prod/1/5/1 prod/1/7-9`")
    assert [action.packages for action in browse.actions(site.store, "prod", 9)][:1] == [10]
    assert (site.phase("prod/1/4/1"), site.phase("prod/1/5/1")) == ("ready", "canceled")


def test_the_undo_of_a_change_names_all_its_selectors(site: Site, d0ctl: Type) -> None:
    site.submit(production(lines=9))

    answer = d0ctl("hold", "prod/1/1/1", "prod/1/4-5").stderr

    command = answer.rpartition("d0ctl ")[2].split()
    assert command == ["release", "prod/1/1/1:held", "prod/1/4-5:held"]
    assert d0ctl(*command).exit_code == 0
    assert site.phase("prod/1/4/1") == "ready"


def test_failed_packages_can_be_acknowledged_but_not_held(site: Site, d0ctl: Type) -> None:
    site.submit(production(lines=2))
    site.fail("prod/1/1/1")

    refused = d0ctl("hold", "prod:failed")

    assert refused.stderr.splitlines() == [
        "d0ctl: no packages of `prod:failed` can be held: 1 failed",
        "d0ctl acknowledge prod:failed",
    ]


def test_a_selector_of_several_that_matches_nothing_is_an_error_and_changes_nothing(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production(lines=9))

    result = d0ctl("hold", "prod/1/1/1", "prod/1/50-60")

    assert (result.exit_code, site.phase("prod/1/1/1")) == (3, "ready")
    assert "no package matches `prod/1/50-60`" in result.stderr


def test_selectors_may_overlap(site: Site, d0ctl: Type) -> None:
    site.submit(production(lines=9))

    assert d0ctl("hold", "prod/1/1-4", "prod/1/2/1").stdout.startswith("held 8 packages")


def test_whole_jobs_and_parts_of_jobs_are_not_held_by_one_command(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.submit(production("other"))

    result = d0ctl("hold", "prod", "other/1/1")

    assert result.exit_code == 2
    assert "names whole jobs and parts of jobs" in result.stderr
    assert d0ctl("hold", "prod", "other").stdout.startswith("held jobs `prod`, `other`")


@pytest.mark.parametrize("verb", ["kill", "hold", "release"])
def test_a_job_that_had_ended_keeps_its_end_if_nothing_of_it_changes(
    verb: str, site: Site, d0ctl: Type
) -> None:
    site.submit(job(("a", [line(package("x"))]), name="done"))
    site.finish("done/1/1/1")
    site.submit(job(("a", [line(package("y"))]), name="open"))
    if verb == "release":
        d0ctl("hold", "open/1")
    change(site.store, "job", {"name": "done"}, ended=time.time())

    assert d0ctl(verb, "done/*", "open/*").exit_code == 0

    assert value(site.store, "job", "ended", name="done") is not None
