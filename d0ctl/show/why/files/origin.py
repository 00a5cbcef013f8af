"""Which run made a file, and whether it is out of date."""

from shlex import quote

from d0ctl.select import parse
from d0ctl.show.why.common import MOST, Explanation
from d0ctl.show.why.phases.successful import add_outdated
from d0ctl.store.connection import Store
from d0ctl.store.views import browse
from d0ctl.store.views.file_locations import FileView
from d0ctl.store.views.job_files import provenance
from d0ctl.store.views.job_files.provenance import FileFacts
from d0ctl.units import count, listed, moment

LONGEST = 200
"""How many characters of a command or of parameters a fact shows."""

MOST_INPUTS = 1_000
"""How many inputs a document lists."""


def add_origin(store: Store, explanation: Explanation, file: FileView, now: float) -> None:
    """Add the run that made a file: when and where, with which software, parameters and inputs."""
    assert file.maker is not None
    add_outdated(store, explanation, browse.package(store, parse(file.maker)), f"`{file.maker}`")
    run = provenance.run_of_file(store, file.id, file.maker, now=now)
    if run is None:
        return
    facts = explanation.facts
    where = f"attempt {run.attempt} on `{run.node}`"
    if run.taken:
        facts.append(f"{where} reused it without running binary `{run.name}`: {run.taken}")
    else:
        ended = f", {moment(run.ended, now)}" if run.ended else ""
        facts.append(f"binary `{run.name}` made it in {where}{ended}")
    if run.accepted is not None:
        accepted = f"was accepted {moment(run.accepted, now)}"
        facts.append(f"it {accepted}, although the job file had another recipe for it")
    if file.checksum:
        facts.append(f"its checksum is {file.checksum}")
    if run.software:
        facts.append(f"its software is {run.software}{_checksum(run.software_checksum)}")
    if run.command:
        facts.append(f"its command was {_brief(run.command)}")
    if run.parameters:
        parameters = listed(f"{key}={value}" for key, value in run.parameters.items())
        facts.append(f"its parameters were {_brief(parameters)}")
    facts += [f"it was made from {_as_read(each, now)}" for each in run.read[:MOST]]
    if len(run.read) > MOST:
        facts.append(f"and from {count(len(run.read) - MOST, 'more file')}")
    if run.read:
        chain = f"d0ctl export {quote(file.path)} --format text"
        facts.append(f"all runs that led to it, with their commands: `{chain}`")
    explanation.details["origin"] = {
        "binary": run.name, "package": run.path, "attempt": run.attempt, "node": run.node,
        "platform": run.platform, "started": run.started, "ended": run.ended,
        "software": run.software, "software_checksum": run.software_checksum,
        "image": run.image, "accepted": run.accepted, "command": run.command,
        "parameters": run.parameters,
        "inputs": [{"file": each.path, "size": each.size, "checksum": each.checksum,
                    "is_earlier": each.earlier_of is not None}
                   for each in run.read[:MOST_INPUTS]],
    }  # fmt: skip


def _as_read(file: FileFacts, now: float) -> str:
    if file.earlier_of is None:
        return f"`{file.path}`{_checksum(file.checksum)}"
    version = f"an earlier version of `{file.path}`{_checksum(file.checksum)}"
    return f"{version}, which was replaced {moment(file.replaced, now)}"


def _checksum(text: str | None) -> str:
    return f", {text}" if text else ""


def _brief(text: str) -> str:
    first, _, more = text.strip().partition("\n")
    return f"{first[:LONGEST]}..." if more or len(first) > LONGEST else first
