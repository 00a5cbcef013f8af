"""A job as an instance of WfCommons (WfFormat 1.5)."""

import json
from collections import defaultdict
from typing import Any

from d0ctl.jobfile.language.file_names import local_name
from d0ctl.jobfile.language.quoting import arguments_with_inputs, with_inputs
from d0ctl.show.export import graph
from d0ctl.store.views.job_files.definition import JobRows, PackageRows, parsed
from d0ctl.units import iso


def text(job: JobRows, now: float) -> str:
    """Return the instance: tasks with their files, and known run times."""
    job_graph = graph.read(job)
    parents: defaultdict[int, list[int]] = defaultdict(list)
    children: defaultdict[int, list[int]] = defaultdict(list)
    pairs = [(a, b) for a, behind in job_graph.behind.items() for b in behind]
    pairs += [(a, b) for before, behind in job_graph.groups for a in before for b in behind]
    for before, after in dict.fromkeys(pairs):
        parents[after].append(before)
        children[before].append(after)
    tasks = [
        {
            "name": package.binaries[0]["name"], "id": job_graph.names[package.row["id"]],
            "parents": [job_graph.names[key] for key in parents[package.row["id"]]],
            "children": [job_graph.names[key] for key in children[package.row["id"]]],
            "inputFiles": list(dict.fromkeys(
                file["name"] for file in package.inputs if not file["own"])),
            "outputFiles": [output["name"] for output in package.outputs],
        }
        for package in job.packages
    ]  # fmt: skip
    runs = [_run(package, job_graph.names[package.row["id"]]) for package in job.packages]
    nodes = dict.fromkeys(p.row["node"] for p in job.packages if p.row["node"])
    document = {
        "name": job.row["name"], "description": job.row["title"] or job.row["name"],
        "createdAt": iso(now), "schemaVersion": "1.5",
        "author": {"name": job.row["originator"], "email": ""},
        "workflow": {
            "specification": {"tasks": tasks, "files": _files(job)},
            "execution": {
                "makespanInSeconds": sum(run["runtimeInSeconds"] for run in runs),
                "executedAt": iso(now), "tasks": runs,
                "machines": [{"nodeName": node} for node in nodes],
            },
        },
    }  # fmt: skip
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def _files(job: JobRows) -> list[dict[str, Any]]:
    sizes: dict[str, int] = {}
    for package in job.packages:
        for output in package.outputs:
            sizes[output["name"]] = output["size"] or output["size_asked"] or 0
    for package in job.packages:
        for file in package.inputs:
            sizes.setdefault(file["name"], file["known_size"] or file["size"] or 0)
    return [{"id": name, "sizeInBytes": size} for name, size in sizes.items()]


def _run(package: PackageRows, name: str) -> dict[str, Any]:
    row, binary = package.row, package.binaries[0]
    names = [
        local_name(file["name"], file["local"])
        for file in package.inputs
        if file["binary"] == binary["seq"]
    ]
    if binary["argv"]:
        program, *arguments = arguments_with_inputs(parsed(binary["argv"]), names)
    else:
        script = with_inputs(binary["script"] or binary["software"] or "true", names)
        program, arguments = binary["shell"], ["-c", script]
    run: dict[str, Any] = {
        "id": name, "runtimeInSeconds": round(row["took"] or binary["runtime"] or 0, 3),
        "command": {"program": program, "arguments": arguments},
        "coreCount": row["ran_cpus"] or row["cpus"],
    }  # fmt: skip
    if memory := row["ran_memory"] if row["ran_cpus"] else row["memory"]:
        run["memoryInBytes"] = memory
    if row["node"]:
        run["machines"] = [row["node"]]
    return run
