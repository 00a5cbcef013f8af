"""What is imported by a daemon, and by what people wait for most: TAB, `status` and `why`."""

import os
import subprocess
import sys
from collections.abc import Mapping

import pytest

from tests.support.building import production
from tests.support.site import Site

COMPLETION = {
    "access", "cli", "cli.completion_table", "cli.direct_completion", "cli.session",
    "cli.terminal", "cli.terminal.offers", "config", "errors", "store", "store.connection",
    "store.locks", "store.opening", "store.sqlite_errors", "store.views", "store.views.names",
}  # fmt: skip
"""The modules of d0ctl that a TAB may import."""

NEVER_TO_READ = {
    "typer", "textual", "fabric", "paramiko", "watchdog", "yaml", "asyncio", "subprocess",
    "zipfile", "tempfile", "logging", "inspect", "dataclasses", "hashlib", "hmac",
    "importlib.resources",
    "d0ctl.actions", "d0ctl.daemon", "d0ctl.dropbox", "d0ctl.jobfile", "d0ctl.nodes",
    "d0ctl.site_key", "d0ctl_wrapper.attempt", "d0ctl_wrapper.relay",
    "d0ctl_wrapper.protocol.message",
}  # fmt: skip
"""Modules and packages that no reading command needs."""

MOST = {
    "status": 75, "status prod": 92, "status prod/1/1/1": 118, "why prod": 72,
    "why prod/1/1/1": 103, "why localhost": 85,
}  # fmt: skip
"""How many modules of d0ctl a command imports; each takes 0.3 ms, and `python -c pass` 15 ms."""

LOOK = """
import sys
from d0ctl.cli import run
try:
    run()
finally:
    print(*sys.modules, sep="\\n", file=sys.stderr)
"""


@pytest.fixture
def filled(site: Site) -> Site:
    """A site with a job."""
    site.submit(production())
    return site


def imported(site: Site, words: str, environment: Mapping[str, str] | None = None) -> set[str]:
    """What a command has imported when it ends, which it does with an answer."""
    home = {"D0CTL_HOME": str(site.store.home.root)}
    done = subprocess.run(
        [sys.executable, "-c", LOOK, *words.split()],
        env=os.environ | home | dict(environment or {}),
        capture_output=True,
        text=True,
    )
    assert done.stdout
    return set(done.stderr.splitlines())


def test_a_completion_imports_few_modules_and_no_records(filled: Site) -> None:
    environment = {
        "_D0CTL_COMPLETE": "complete_bash", "COMP_WORDS": "d0ctl status pr", "COMP_CWORD": "2",
    }  # fmt: skip

    names = imported(filled, "", environment)

    ours = {name.removeprefix("d0ctl.") for name in names if name.startswith("d0ctl.")}
    assert ours - COMPLETION == set()
    assert names & {"msgspec", *NEVER_TO_READ} == set()


@pytest.mark.parametrize("words", MOST)
def test_reading_commands_import_few_modules_and_nothing_that_writes_or_checks_what_nodes_send(
    filled: Site, words: str
) -> None:
    names = imported(filled, words)

    assert {name for name in names if "." not in name or "d0ctl" in name} & NEVER_TO_READ == set()
    assert len([name for name in names if name.startswith("d0ctl")]) <= MOST[words]


def test_the_dashboard_does_not_wait_for_the_import_of_pydantic(filled: Site) -> None:
    names = imported(filled, "tui --interval 2 --keys")

    assert "d0ctl_tui.read.user_settings" in names
    assert {name.partition(".")[0] for name in names} & {"pydantic", "pydantic_core"} == set()


def test_status_imports_nothing_that_decides_where_packages_run(filled: Site) -> None:
    names = imported(filled, "status")

    assert names & {"d0ctl.schedule.place", "d0ctl.schedule.choice"} == set()


def test_a_daemon_starts_without_the_parser_of_job_files() -> None:
    look = "import sys, d0ctl.daemon.loop; print(*sys.modules)"

    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=True)

    assert set(done.stdout.split()) & {"yaml", "typer", "fabric", "paramiko"} == set()
