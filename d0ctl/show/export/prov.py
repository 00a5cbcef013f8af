"""Where the files of a job come from, in PROV-JSON of the W3C."""

import json
from collections import defaultdict
from typing import Any
from urllib.parse import quote

from d0ctl.store.views.job_files.definition import JobRows
from d0ctl.store.views.job_files.provenance import FileFacts, Run
from d0ctl.units import iso

NAMESPACE = "urn:d0ctl:"

KINDS = ("file", "run", "node", "software", "job", "user", "term")
"""Kinds of things with names: each has a namespace of its own, which is also its prefix."""

Record = dict[str, Any]


class _Document:
    """The records of a document by their kind; things with the same name are one."""

    def __init__(self) -> None:
        self.records: defaultdict[str, dict[str, Record]] = defaultdict(dict)

    def add(self, kind: str, name: str, **attributes: Any) -> str:
        """Add a thing and return its name."""
        self.records[kind].setdefault(name, _written(attributes))
        return name

    def relate(self, relation: str, **ends: str | None) -> None:
        """Add a relation between things."""
        known = {f"prov:{key}": end for key, end in ends.items() if end is not None}
        self.records[relation][f"_:{relation}{len(self.records[relation]) + 1}"] = known


def text(job: JobRows, runs: list[Run]) -> str:
    """Return the runs of a job with their files, software, nodes and the person behind them."""
    provenance = _Document()
    plan = provenance.add(
        "entity", _name("job", job.row["name"]), **{"prov:type": _term("prov:Plan")},
        label=job.row["title"] or job.row["name"], value=job.row["parameters"],
    )  # fmt: skip
    person = provenance.add(
        "agent", _name("user", job.row["originator"]), **{"prov:type": _term("prov:Person")},
        label=job.row["originator"],
    )  # fmt: skip
    provenance.relate("wasAttributedTo", entity=plan, agent=person)
    for run in runs:
        _add_run(provenance, run, plan, person)
    document = {
        "prefix": {kind: f"{NAMESPACE}{kind}:" for kind in KINDS},
        **provenance.records,
    }
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _add_run(document: _Document, run: Run, plan: str, person: str) -> None:
    times = {"prov:startTime": iso(run.started), "prov:endTime": iso(run.ended)}
    activity = document.add(
        "activity", _name("run", f"{run.path}/{run.seq}"), **times, label=run.name,
        package=run.path, attempt=run.attempt, command=run.command, image=run.image,
        parameters=json.dumps(run.parameters) if run.parameters else None, exitCode=run.exit_code,
        taken=run.taken,
    )  # fmt: skip
    node = document.add("agent", _name("node", run.node),
                     **{"prov:type": _term("prov:SoftwareAgent")}, label=run.node,
                     platform=run.platform)  # fmt: skip
    document.relate("wasAssociatedWith", activity=activity, agent=node, plan=plan)
    document.relate("wasAssociatedWith", activity=activity, agent=person)
    if run.software:
        software = document.add(
            "entity", _name("software", run.software), **{"prov:type": _term("term:Software")},
            label=run.software, checksum=run.software_checksum,
        )  # fmt: skip
        document.relate("used", activity=activity, entity=software)
    for source in run.read:
        document.relate("used", activity=activity, entity=_add_file(document, source))
    for output in run.made:
        file = _add_file(document, output)
        document.relate("wasGeneratedBy", entity=file, activity=activity, time=iso(run.ended))
        for source in run.read:
            document.relate("wasDerivedFrom", generatedEntity=file, activity=activity,
                         usedEntity=_add_file(document, source))  # fmt: skip


def _add_file(document: _Document, file: FileFacts) -> str:
    return document.add(
        "entity", _name("file", file.version), **{"prov:type": _term("term:File")},
        label=file.title, size=file.size,
        checksum=file.checksum, locator=list(file.locators) or None,
    )  # fmt: skip


def _name(kind: str, name: str) -> str:
    return f"{kind}:{quote(name, safe='/-_.~')}"


def _term(name: str) -> Record:
    return {"$": name, "type": "prov:QUALIFIED_NAME"}


def _written(attributes: Record) -> Record:
    """Return known attributes; names without a prefix are d0ctl's own, except two of PROV."""
    own = {"label": "prov:label", "value": "prov:value"}
    return {
        key if ":" in key else own.get(key, f"term:{key}"): value
        for key, value in attributes.items()
        if value is not None
    }
