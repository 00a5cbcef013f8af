"""`d0ctl rehearse`: run a job on a virtual clock, with the real scheduler."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from d0ctl.cli import changing, options
from d0ctl.cli.commands.running import intake
from d0ctl.cli.terminal.fast_typer import single
from d0ctl.cli.terminal.output import draw, emit_json

if TYPE_CHECKING:
    from d0ctl.cli.schemas import estimates
    from d0ctl.store.jobs.rehearsal.rehearse import Rehearsed

app = single()

SiteFile = Annotated[
    Path | None,
    typer.Option("--site", metavar="FILE", show_default=False,
                 help="Site file with the nodes to use (default: this site's)."),
]  # fmt: skip


@app.command()
def rehearse(
    file: options.JobFile,
    parameter: options.Parameters = None,
    site: SiteFile = None,
    json: options.Json = False,
) -> None:
    """Run a job on a virtual clock, to see how long it takes."""
    from d0ctl.show.forecast import rehearsal as card
    from d0ctl.sitefile import reader
    from d0ctl.store.jobs.rehearsal.rehearse import rehearse_job

    spec = intake.read(intake.request_of(file, parameter))[1]
    nodes = reader.read(site) if site is not None else None
    with changing.rehearsal() as store:
        rehearsed = rehearse_job(store, spec, nodes, now=time.time())
    if json:
        emit_json(_document(rehearsed))
    else:
        draw(card.draw, rehearsed)


def _document(rehearsed: "Rehearsed") -> "estimates.Rehearsal":
    outcome, names = rehearsed.outcome, {node.id: node.name for node in rehearsed.nodes}
    return {
        "job": rehearsed.job,
        "packages": rehearsed.packages,
        "makespan": outcome.makespan_s,
        "longest_chain": rehearsed.chain_s,
        "work": rehearsed.work_s,
        "with_one_more": {"like": rehearsed.model, "makespan": rehearsed.with_one_more_s},
        "no_room": outcome.left,
        "failures": {
            "earlier_attempts": rehearsed.attempts,
            "tried_again": dict(outcome.retried),
            "failed_for_good": dict(outcome.failed),
            "never_run": outcome.stuck,
            "drained": {names[node]: times for node, times in outcome.drained.items()},
            "excluded": sorted(names[node] for node in outcome.excluded),
            "cpu_lost": outcome.wasted_s,
            "makespan_without": rehearsed.smooth_s,
        },
        "bytes_carried": outcome.carried,
        "nodes": [{"node": name, "use": use} for name, use in rehearsed.use.items()],
        "caches": [{"cluster": name, "peak": outcome.peaks.get(number, 0)}
                   for number, name in rehearsed.clusters.items()],
        "stages": [{"stage": stage.name, "packages": stage.packages, "begins": stage.begins_s,
                    "ends": stage.ends_s} for stage in rehearsed.stages],
    }  # fmt: skip
