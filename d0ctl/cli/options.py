"""The arguments and options that several commands share."""

from typing import Annotated, Any

import typer

from d0ctl.cli.terminal import completion
from d0ctl.errors import BadUsage
from d0ctl.units import parse_time

Target = Annotated[
    str,
    typer.Argument(
        metavar="SELECTOR",
        autocompletion=completion.selectors,
        help="JOB/STAGE/LINE/PACKAGE, with `*`, ranges and states: reco001/2/1-10, "
        "'reco001/2/*:failed'.",
    ),
]
"""The target of a command."""

Targets = Annotated[
    list[str],
    typer.Argument(
        metavar="SELECTOR",
        autocompletion=completion.selectors,
        help="Jobs or parts of them: reco001, reco001/2/1-10, 'reco*'.",
    ),
]
"""The targets of a command that takes several."""

MaybeTarget = Annotated[
    str | None,
    typer.Argument(
        metavar="SELECTOR",
        autocompletion=completion.selectors,
        help="A job, stage, line or package, as in `reco001/2/3/1` (default: all jobs).",
    ),
]

NodeName = Annotated[
    str,
    typer.Argument(metavar="NAME", autocompletion=completion.node_names, help="A node's name."),
]

NodeNames = Annotated[
    list[str],
    typer.Argument(
        metavar="NODE", autocompletion=completion.node_names,
        help="Nodes, by names or patterns: farm02, 'lab*'.",
    ),
]  # fmt: skip

MaybeNodes = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="NODE", autocompletion=completion.node_names,
        help="Nodes, by names or patterns: farm02, 'lab*' (default: all nodes).",
    ),
]  # fmt: skip

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]

Status = Annotated[
    list[str] | None,
    typer.Option(
        "--status", metavar="STATE", autocompletion=completion.states,
        help="Only packages in this status or phase; may be repeated.",
    ),
]  # fmt: skip


def _failed_for(name: str) -> Any:
    return typer.Option(
        name, metavar="REASON", autocompletion=completion.reasons,
        help="Only packages whose last attempt failed for this reason.",
    )  # fmt: skip


Reason = Annotated[str | None, _failed_for("--reason")]

FailedFor = Annotated[str | None, _failed_for("--failed-for")]
"""The same for actions, where `--reason` says why they are done."""

Node = Annotated[
    str | None,
    typer.Option("--node", metavar="NODE", autocompletion=completion.node_names,
                 help="Only packages on this node."),
]  # fmt: skip

OlderThan = Annotated[
    str | None,
    typer.Option("--older-than", metavar="TIME",
                 help="Only packages unchanged for at least this time, e.g. `2h`."),
]  # fmt: skip

Because = Annotated[
    str | None,
    typer.Option(
        "--reason", metavar="TEXT", help="Reason; it is recorded with your name and the time."
    ),
]
"""The reason a person gives for what they do."""

DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would change, and stop.")]

KeepGoing = Annotated[
    bool,
    typer.Option("--keep-going",
                 help="Continue with the next job or selector after one that is refused."),
]  # fmt: skip

Yes = Annotated[bool, typer.Option("--yes", "-y", help="Don't ask.")]

Parameters = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        autocompletion=completion.parameters,
        help="Parameter of the job; may be repeated.",
    ),
]

As = Annotated[
    str | None,
    typer.Option(
        "--as", metavar="NAME", help="Name of the job (default: by its file).", show_default=False
    ),
]

Force = Annotated[bool, typer.Option("--force", help="Accept packages that no node can take yet.")]

JobFile = Annotated[
    str, typer.Argument(metavar="FILE", help="A job file; `-` reads it from stdin.")
]

JobFileOrCommand = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="A job file; `-` reads it from stdin. In its place, `-- COMMAND` makes a job of a "
        "command: --array 1-200 -- ./sim.sh {n}",
    ),
]

Array = Annotated[
    str | None,
    typer.Option("--array", metavar="NUMBERS",
                 help="Numbers to run the command for, each as `{n}`: 1-200, 0-100:5 or 1,5,9."),
]  # fmt: skip

EachLine = Annotated[
    str | None,
    typer.Option("--each-line", metavar="FILE",
                 help="File with a line for each run of the command, as `{line}`."),
]  # fmt: skip

Stdin = Annotated[
    bool,
    typer.Option("--stdin", help="Run the command for each line of stdin.", show_default=False),
]

CommandInputs = Annotated[
    list[str] | None,
    typer.Option("--input", metavar="FILE",
                 help="File that the command reads without naming it; may be repeated."),
]  # fmt: skip

CommandOutputs = Annotated[
    list[str] | None,
    typer.Option("--output", metavar="FILE",
                 help="File that the command makes, as `hist-{n}.root` or `{n}-*.root`; may be "
                 "repeated."),
]  # fmt: skip

CommandCpus = Annotated[
    str | None, typer.Option("--cpus", metavar="N", help="Number of CPUs (default: 1).")
]

CommandGpus = Annotated[
    str | None, typer.Option("--gpus", metavar="N", help="Number of GPUs (default: 0).")
]

CommandMemory = Annotated[
    str | None,
    typer.Option("--memory", metavar="SIZE", help="Largest memory (default: not limited)."),
]

CommandTime = Annotated[
    str | None,
    typer.Option("--wall-time", metavar="TIME", help="Longest run time (default: not limited)."),
]

ListedFiles = Annotated[
    str,
    typer.Argument(
        metavar="SELECTOR",
        autocompletion=completion.files,
        help="JOB:NAME, both with wildcards, as 'reco001:*.root'; all files of a job, as reco001; "
        "or those that a stage, line or package makes, as reco001/2.",
    ),
]

Files = Annotated[
    str,
    typer.Argument(
        metavar="SELECTOR",
        autocompletion=completion.files,
        help="JOB:NAME, both with wildcards, as 'reco001:*.root'; all files of a job, as reco001.",
    ),
]

OnNode = Annotated[
    str | None,
    typer.Option("--node", metavar="NODE", autocompletion=completion.node_names,
                 help="Only files with a copy in the cache of this node."),
]  # fmt: skip

OfDisposition = Annotated[
    str | None,
    typer.Option("--disposition", metavar="WORD",
                 help="Only files that are retain-indef, retain-temp or deletable."),
]  # fmt: skip


def seconds(option: str, text: str) -> float:
    """Read the time of an option. Raises BadUsage."""
    try:
        return parse_time(text)
    except ValueError as error:
        raise BadUsage(f"{option} takes a time such as 30s or 2h, not `{text}`") from error
