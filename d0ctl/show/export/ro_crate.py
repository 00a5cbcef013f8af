"""How the files of a job were made, as the metadata of an RO-Crate (profile Process Run Crate)."""

import json
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from d0ctl.store.views.job_files.definition import JobRows
from d0ctl.store.views.job_files.provenance import FileFacts, Run

CONTEXT = ["https://w3id.org/ro/crate/1.1/context",
           {"sha256": "https://w3id.org/ro/terms/workflow-run#sha256"}]  # fmt: skip
"""The context, with a term that only later versions have."""

PROFILE = "https://w3id.org/ro/wfrun/process/0.5"

CRATE = "https://w3id.org/ro/crate/1.1"

FILE = "ro-crate-metadata.json"
"""The name that a crate gives to this document."""

Record = dict[str, Any]


class _Crate:
    """The entities of a crate; those with the same id are one."""

    def __init__(self) -> None:
        self.records: dict[str, Record] = {}

    def add(self, entity: str, kind: str, **attributes: Any) -> Record:
        """Add a thing and return a reference to it."""
        known = {key: value for key, value in attributes.items() if value not in (None, [])}
        self.records.setdefault(entity, {"@id": entity, "@type": kind, **known})
        return {"@id": entity}


def text(job: JobRows, runs: list[Run], now: float) -> str:
    """Return the runs of a job with their files, software, nodes and the person behind them."""
    crate, name = _Crate(), job.row["name"]
    person = crate.add(_id("user", job.row["originator"]), "Person", name=job.row["originator"])
    actions = [_action(crate, run, person) for run in runs]
    parts = [{"@id": id} for id, record in crate.records.items() if record["@type"] == "File"]
    crate.add(
        "./", "Dataset", name=job.row["title"] or name, author=person,
        description=f"The files of job {name} and the runs that made them.",
        datePublished=_time(now), license="Not specified; ask the author.",
        conformsTo={"@id": PROFILE}, hasPart=parts, mentions=actions,
    )  # fmt: skip
    crate.add(PROFILE, "CreativeWork", name="Process Run Crate", version="0.5")
    crate.add(FILE, "CreativeWork", conformsTo={"@id": CRATE}, about={"@id": "./"})
    document = {"@context": CONTEXT, "@graph": list(crate.records.values())}
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _action(crate: _Crate, run: Run, person: Record) -> Record:
    """Add the run of a binary."""
    name = run.software or run.name
    kind = "software" if run.software else "binary"
    instrument = crate.add(
        _id(kind, name if run.software else f"{run.path}/{run.seq}"), "SoftwareApplication",
        name=name, version=name.rpartition("/")[2] if run.software else "unknown",
        url=_id(kind, name), softwareRequirements=run.image, sha256=_sha256(run.software_checksum),
    )  # fmt: skip
    return crate.add(
        _id("run", f"{run.path}/{run.seq}"), "CreateAction", name=f"{run.name} of {run.path}",
        description=run.taken or run.command or f"Runs {name}.", agent=person,
        instrument=instrument, object=_single([_file(crate, file) for file in run.read]),
        result=_single([_file(crate, file) for file in run.made]), startTime=_time(run.started),
        endTime=_time(run.ended), location=crate.add(
            _id("node", run.node), "Place", name=run.node, description=run.platform),
        actionStatus="http://schema.org/CompletedActionStatus",
    )  # fmt: skip


def _file(crate: _Crate, file: FileFacts) -> Record:
    urls = [locator for locator in file.locators if "://" in locator]
    return crate.add(
        _id("file", file.version), "File", name=file.title, sha256=_sha256(file.checksum),
        contentSize=None if file.size is None else str(file.size), contentUrl=urls,
    )  # fmt: skip


def _single(records: list[Record]) -> Record | list[Record]:
    """Return a single record without its list, as RO-Crate recommends."""
    return records[0] if len(records) == 1 else records


def _id(kind: str, name: str) -> str:
    return f"urn:d0ctl:{kind}:{quote(name, safe='/-_.~:')}"


def _time(at: float | None) -> str | None:
    return None if at is None else datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds")


def _sha256(checksum: str | None) -> str | None:
    return checksum.removeprefix("sha256:") if checksum else None
