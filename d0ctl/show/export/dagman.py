"""A job as a workflow of HTCondor's DAGMan."""

import base64
import shlex
from collections.abc import Iterator

from d0ctl.jobfile.language.file_names import local_name
from d0ctl.jobfile.language.quoting import arguments_with_inputs, with_inputs
from d0ctl.show.export import graph
from d0ctl.store.views.job_files.definition import JobRows, PackageRows, StageRows, parsed

MIDDLE = 50
"""The priority that DAGMan calls 0."""


def text(job: JobRows) -> str:
    """Return the `.dag` file, with the submit descriptions in it."""
    return "\n".join(_lines(job)) + "\n"


def _lines(job: JobRows) -> Iterator[str]:
    job_graph = graph.read(job)
    final = _final(job)
    for stage in job.stages:
        is_final = final is stage
        for line in stage.lines:
            for package in line.packages:
                yield from _node(job, stage, package, "FINAL" if is_final else "JOB")
        if stage.row["max_running"] is not None and not is_final:
            category = f"Stage{stage.row['seq']}"
            for line in stage.lines:
                for package in line.packages:
                    yield f"CATEGORY {job_graph.names[package.row['id']]} {category}"
            yield f"MAXJOBS {category} {stage.row['max_running']}"
    last = {line.packages[0].row["id"] for line in final.lines} if final else set()
    for before, behind in job_graph.behind.items():
        if children := " ".join(job_graph.names[key] for key in behind if key not in last):
            yield f"PARENT {job_graph.names[before]} CHILD {children}"
    for group, behind in job_graph.groups:
        if not last.intersection(behind):
            parents = " ".join(job_graph.names[key] for key in group)
            yield f"PARENT {parents} CHILD {' '.join(job_graph.names[key] for key in behind)}"


def _final(job: JobRows) -> StageRows | None:
    """Return the final stage, if it is one node: DAGMan allows only one, without parents."""
    stages = [stage for stage in job.stages if stage.row["final"]]
    if len(stages) != 1 or sum(len(line.packages) for line in stages[0].lines) != 1:
        return None
    return stages[0]


def _node(job: JobRows, stage: StageRows, package: PackageRows, word: str) -> Iterator[str]:
    name, row = graph.node_name(package), package.row
    yield f"{word} {name} {{"
    yield "    executable = /bin/bash"
    yield f"    arguments = {_quoted(_program(package))}"
    if environment := parsed(row["environment"]):
        pairs = (f"{key}={_word(value)}" for key, value in environment.items())
        yield f'    environment = "{" ".join(pairs)}"'
    files = dict.fromkeys(file["name"] for file in package.inputs if not file["own"])
    if files:
        yield f"    transfer_input_files = {', '.join(files)}"
    if names := [output["name"] for output in package.outputs if not output["late"]]:
        yield f"    transfer_output_files = {', '.join(names)}"
    yield f"    request_cpus = {row['cpus']}"
    if row["memory"]:
        yield f"    request_memory = {-(-row['memory'] // 1024**2)}"
    if row["gpus"]:
        yield f"    request_gpus = {row['gpus']}"
    if row["disk"]:
        yield f"    request_disk = {-(-row['disk'] // 1024)}"
    yield f"    output = {name}.out"
    yield f"    error = {name}.err"
    yield f"    log = {job.row['name']}.log"
    yield "    queue"
    yield "}"
    if row["priority"] is not None and word == "JOB":
        yield f"PRIORITY {name} {row['priority'] - MIDDLE}"


def _program(package: PackageRows) -> str:
    """Return the binaries of a package as one text for the shell."""
    parts = []
    for binary in package.binaries:
        names = [file["name"] if file["own"] else local_name(file["name"], file["local"])
                 for file in package.inputs if file["binary"] == binary["seq"]]  # fmt: skip
        stdin, names = binary["stdin"], [name for name in names if name != binary["stdin"]]
        source = "" if stdin is None else f" < {shlex.quote(stdin)}"
        if binary["argv"]:
            arguments = arguments_with_inputs(parsed(binary["argv"]), names)
            parts.append(shlex.join(arguments) + source)
        elif binary["script"] is not None:
            text = with_inputs(binary["script"], names)
            parts.append(f"(\n{text}\n){source}" if source else text)
        else:
            parts.append(f"echo {shlex.quote(binary['software'])}: no script >&2; exit 127")
    return "\n".join(parts)


def _quoted(program: str) -> str:
    """Return arguments of bash in the syntax of submit descriptions, which have one line."""
    if "\n" in program.strip() or not program.isprintable():
        packed = base64.b64encode(program.encode()).decode()
        return f"\"-c 'echo {packed} | base64 -d | bash -eo pipefail'\""
    return f'"-eo pipefail -c {_word(program.strip())}"'


def _word(text: str) -> str:
    """Return a word in the new syntax of arguments and environments."""
    inner = text.replace("'", "''").replace('"', '""')
    return f"'{inner}'"
