"""`d0ctl report metrics`: the state of production for Prometheus."""

import os
import time
from pathlib import Path
from typing import Annotated

import typer

from d0ctl.cli import session
from d0ctl.cli.terminal.output import emit_text
from d0ctl.errors import Refused
from d0ctl.store.connection import Store

Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", metavar="FILE", help="File to write, e.g. for node_exporter.",
                 show_default=False),
]  # fmt: skip


def metrics(output: Output = None) -> None:
    """Print jobs, failures and nodes for Prometheus."""
    with session.reader() as store, store.reading():
        page = text(store, time.time())
    if output is None:
        emit_text(page.rstrip("\n"))
        return
    try:
        _write(output, page)
    except OSError as error:
        raise Refused(f"can't write `{output}`: {error.strerror}") from error


def _write(output: Path, page: str) -> None:
    """Replace a file, or the file behind a link, as a whole; a reader never sees half of one.

    A pipe or device stays what it is: as root this would replace `/dev/stdout` for all programs.
    """
    if output.exists() and not output.is_file():
        output.write_text(page)
        return
    target = output.resolve()
    draft = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        draft.write_text(page)
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)


def text(store: Store, now: float) -> str:
    """Return the metrics of a home."""
    from d0ctl.show.usage import prometheus as page
    from d0ctl.show.usage.site_check import check
    from d0ctl.store.nodes import registry, standstill
    from d0ctl.store.views import activity, browse

    state = standstill.production(store, now=now)
    uses = activity.node_use(store)
    slots = {row.name: (float(row.cpus), uses.get(row.id, activity.NodeUse()).used)
             for row in registry.nodes(store)}  # fmt: skip
    return page.text(state, check(state, now).code, browse.jobs(store), slots)
