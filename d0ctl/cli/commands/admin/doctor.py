"""`d0ctl doctor`: checks of database, home and nodes."""

import os
import time
from typing import TYPE_CHECKING, Annotated

import typer

from d0ctl.cli import options, session
from d0ctl.cli.terminal.fast_typer import single
from d0ctl.cli.terminal.output import emit_json, sheet, show
from d0ctl.errors import ExitCode
from d0ctl.schedule.standstill import is_alarming
from d0ctl.show import findings
from d0ctl.show.cards import daemon
from d0ctl.store.connection import Store
from d0ctl.store.nodes.standstill import production

if TYPE_CHECKING:
    from d0ctl.cli.schemas import reports
    from d0ctl.daemon.systemd_service import Service
    from d0ctl.doctor.examine import CheckResult
    from d0ctl.show.why.production import Obstacle

app = single()


@app.command()
def doctor(
    nodes: Annotated[bool, typer.Option("--nodes", help="Check remote nodes, too.")] = False,
    checksums: Annotated[
        bool, typer.Option("--checksums", help="Read all copies, which may take hours.")
    ] = False,
    json: options.Json = False,
) -> None:
    """Check database, home and nodes; exit 5 if there is a problem."""
    from d0ctl.daemon.systemd_service import installed
    from d0ctl.doctor.examine import examine
    from d0ctl.doctor.leases import has_daemon

    session.refuse_archive("doctor")
    with session.reader() as store:
        result = examine(store, far=nodes, checksums=checksums)
        stop = _standstill(store)
        is_driven = has_daemon(store)
    service = installed(session.home())
    if json:
        emit_json(_document(result, stop, service.name if service else None, is_far=nodes))
    else:
        page = sheet()
        findings.draw(
            page, result.findings, result.nodes, result.unseen, stop, session.home().database,
            is_asked=nodes,
        )  # fmt: skip
        if is_driven:
            page.say(_after_reboot(service), "faint")
        show(page)
    is_seen = not (nodes and result.unseen)
    if findings.need_a_person(result.findings):
        raise typer.Exit(ExitCode.DATABASE)
    raise typer.Exit(ExitCode.DONE if is_seen else ExitCode.NODE)


def _after_reboot(service: "Service | None") -> str:
    from d0ctl.daemon.systemd_service import ends_at_logout, runs_here

    at_login = service is not None and ends_at_logout(service)
    name = None if service is None else service.name
    if name is None and not runs_here():
        return daemon.without_systemd(session.home().root)
    return daemon.after_reboot(name, at_login=at_login, is_root=os.geteuid() == 0)


def _document(
    result: "CheckResult", stop: "Obstacle | None", service: str | None, *, is_far: bool
) -> "reports.Doctor":
    from d0ctl.cli.schemas import reports
    from d0ctl.cli.schemas.fill import fill

    return fill(
        reports.Doctor,
        result,
        ok=not findings.need_a_person(result.findings) and not (is_far and result.unseen),
        findings=[
            fill(reports.Finding, finding, advice=finding.advice or None)
            for finding in result.findings
        ],
        standstill=stop.text if stop else None,
        service=service,
    )


def _standstill(store: Store) -> "Obstacle | None":
    """Return the reason why production stands still; None if it does not."""
    from d0ctl.show.why.production import standstill

    found = production(store, now=time.time())
    return standstill(found, time.time()) if is_alarming(found.cause) else None
