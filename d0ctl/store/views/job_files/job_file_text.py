"""A job as a job file; submitting it makes an equal job."""

import json
from collections.abc import Iterator, Sequence
from glob import escape
from typing import Any

from d0ctl.importers.draft import Entry, as_text
from d0ctl.jobfile.language.compiled_text import literal
from d0ctl.jobfile.language.file_names import base_name, is_pattern, local_name, path_below
from d0ctl.jobfile.language.placeholders import RUN_WORDS
from d0ctl.jobfile.language.quoting import members_of, with_groups
from d0ctl.jobfile.spec import GROUP, INPUTS
from d0ctl.store.views.job_files.definition import (
    Columns,
    JobRows,
    LineRows,
    PackageRows,
    StageRows,
    parsed,
)
from d0ctl.units import REQUESTS, format_time

_MARK = "\x03inputs\x03"


def text(job: JobRows) -> str:
    """Return the job file as YAML."""
    return as_text(document(job))


def as_json(job: JobRows) -> str:
    """Return the job file as JSON, which is YAML, too."""
    return json.dumps(document(job), indent=1, ensure_ascii=False) + "\n"


def document(job: JobRows) -> Entry:
    """Return the job file as dicts and lists of texts."""
    row, parameters = job.row, parsed(job.row["parameters"]) or {}
    known = (*parameters, "parameters")
    entry: Entry = _texts({
        "job": row["name"], "title": _escaped(row["title"], known) or None,
        "originator": _escaped(row["originator"], known), "mail": row["mail"],
        "priority": row["priority"], "hold": "yes" if row["hold"] else None,
        "max-running": row["max_running"], "max-failures": row["max_failures"],
        "max-alike-failures": row["most_alike"],
        "parameters": {key: value if isinstance(value, str) else
                       _all_escaped(value, ("parameters",)) for key, value in parameters.items()},
        "policy": _policy(row["policy"]),
        "stages": [_stage(stage, known) for stage in job.stages],
    })  # fmt: skip
    return entry


def _stage(stage: StageRows, known: Sequence[str]) -> Entry:
    row = stage.row
    return {
        "name": _escaped(row["name"], known), "after": _all_escaped(list(stage.after), known),
        "final": "yes" if row["final"] else None,
        "require": None if row["require"] == 1 else row["require"],
        "max-running": row["max_running"],
        "lines": [_line(line, known) for line in stage.lines],
    }  # fmt: skip


def _line(line: LineRows, known: Sequence[str]) -> Entry:
    return {
        "name": _escaped(line.row["name"], known),
        "early-start": "yes" if line.row["early_start"] else None,
        "after": [_escaped(f"{row['stage']}/{row['seq']}", known) for row in line.after],
        "packages": [_package(package, known) for package in line.packages],
    }  # fmt: skip


def _package(package: PackageRows, known: Sequence[str]) -> Entry:
    row = package.row
    startup = [
        literal(_file(entry), known, strict=True)
        for entry in package.inputs
        if entry["binary"] == 0
    ]
    return {
        "name": _escaped(row["name"], known), "nodes": parsed(row["nodes"]),
        "exclude-nodes": parsed(row["exclude_nodes"]), "platform": row["platform"],
        **{name: row[name] or None for name in REQUESTS},
        "wall-time": _time(row["wall_time"]), "looping": _time(row["looping"]),
        "priority": row["priority"],
        "wrapper": startup[0] if startup else None,
        "wrapper-parameters": _all_escaped(parsed(row["wrapper_parameters"]), known),
        "environment": _all_escaped(parsed(row["environment"]), known),
        "policy": _policy(row["policy"]),
        "binaries": [_binary(binary, package, known) for binary in package.binaries],
    }  # fmt: skip


def _time(seconds: float | None) -> str | None:
    """Return a time with its units: a few seconds without are thought to be hours or minutes."""
    return None if seconds is None else format_time(seconds)


def _policy(text: str | None) -> Any:
    """Return rules as they are written: disabled ones are `no`."""

    def written(value: Any, key: str = "") -> Any:
        if isinstance(value, dict):
            return {name: written(item, name) for name, item in value.items()}
        if isinstance(value, list):
            return [written(item) for item in value]
        if isinstance(value, bool):
            return "yes" if value else "no"
        return "no" if value is None else value

    return written(parsed(text) or {})


def _binary(binary: Columns, package: PackageRows, known: Sequence[str]) -> Entry:
    parameters = parsed(binary["parameters"]) or {}
    inner = (*known, *parameters, *RUN_WORDS)
    argv, script = parsed(binary["argv"]), binary["script"]
    run = (
        [_script(word, inner) for written in argv for word in _arguments(written)]
        if argv
        else None if script is None else _script(script, inner)
    )  # fmt: skip
    check = binary["check"]
    return {
        "name": _escaped(binary["name"], known), "run": run,
        "shell": binary["shell"] if script is not None and binary["shell"] != "bash" else None,
        "image": _escaped(binary["image"], known),
        "stdin": _stdin(binary, package, known),
        "software": _escaped(binary["software"], known),
        "parameters": _all_escaped(parameters, known),
        "inputs": _inputs(binary, package, known) or _no_inputs(run, check),
        "outputs": [_output(output, known) for output in package.outputs
                    if output["binary"] == binary["seq"]],
        "runtime": binary["runtime"], "work-size": binary["work_size"], "cpu": binary["cpu"],
        "needs": _all_escaped(parsed(binary["needs"]), known),
        "log-rules": _all_escaped(parsed(binary["log_rules"]), known),
        "progress": _all_escaped(parsed(binary["progress"]), known),
        "check": None if check is None else _script(check, inner),
        "check-timeout": binary["check_timeout"],
        "events": _events(binary["events"], known),
    }  # fmt: skip


def _events(text: str | None, known: Sequence[str]) -> Entry | None:
    """Return a range of events as it is written: by its first number and its length."""
    if text is None:
        return None
    first, last, part = (parsed(text)[key] for key in ("first", "last", "part"))
    return {"of": last - first + 1, "first": first, "part": _escaped(part, known)}


def _inputs(binary: Columns, package: PackageRows, known: Sequence[str]) -> list[Entry]:
    """Return the inputs of a binary; an entry with `match` that several late outputs have, once."""
    found = (
        entry
        for row in package.inputs
        if row["binary"] == binary["seq"]
        for entry in _input_entries(row, known)
    )
    return list({tuple(entry.items()): entry for entry in found}.values())


def _no_inputs(run: str | list[str] | None, check: str | None) -> tuple[()] | None:
    """Return the empty list of a binary without inputs, if its texts may name them."""
    return () if "{inputs}" in f"{run}{check}" else None


def _input_entries(row: Columns, known: Sequence[str]) -> Iterator[Entry]:
    """Yield the entries of an input: a late output that is read in parts has several."""
    for match in [None] if row["match"] is None else row["match"].split("\n"):
        yield _input(row, match, known)


def _input(row: Columns, match: str | None, known: Sequence[str]) -> Entry:
    source: Entry = {"file": literal(_file(row), known, strict=True)}
    if match is None and row["pattern"] is not None and row["job"] is None:
        # it is in a group, which was made when the names were known
        match = escape(row["name"])
    if match is not None:
        stage = row["stage"] if row["job"] is None else f"{row['job']}/{row['stage']}"
        source = {key: literal(text, known, strict=True)
                  for key, text in (("from", stage), ("match", match))}  # fmt: skip
    return {
        **source, "as": _escaped(_renaming(row), known),
        "locator": _escaped(row["locator"], known), "size": row["size"],
        "checksum": row["checksum"],
        "acquire": None if row["acquire"] == "pre-fetch" and row["maker"] else row["acquire"],
        "disposition": row["disposition"], "required": "yes" if row["required"] else "no",
        "writable": "yes" if row["writable"] else None,
    }  # fmt: skip


def _stdin(binary: Columns, package: PackageRows, known: Sequence[str]) -> str | None:
    """Return the file that is the standard input of a binary."""
    for row in package.inputs if binary["stdin"] is not None else ():
        local = row["name"] if row["own"] else local_name(row["name"], row["local"])
        if row["binary"] == binary["seq"] and local == binary["stdin"]:
            return literal(_file(row), known, strict=True)
    return None


def _file(row: Columns) -> str:
    """Return the name of an input as a job file has it."""
    return str(row["name"] if row["job"] is None else f"{row['job']}:{row['name']}")


def _renaming(row: Columns) -> str | None:
    """Return the name that an input has in the working directory, unless it is that of its path."""
    name, local = row["name"], row["local"]
    by_default = local_name(name, path_below(name))
    is_whole = row["own"] or row["binary"] == 0 or (local is None and is_pattern(name))
    if is_whole or local_name(name, local) == by_default:
        return None
    return local or base_name(name).rstrip("/")


def _output(row: Columns, known: Sequence[str]) -> Entry:
    return {
        "file": literal(row["name"], known, strict=True),
        "locator": _escaped(row["locator"], known),
        "size": row["size_asked"], "min-size": row["min_size"],
        "checksum": row["checksum_asked"], "disposition": row["dispositions"].split(),
        "result": "yes" if row["result"] else None, "late": "yes" if row["late"] else None,
        "min-count": row["min_count"] if row["late"] else None,
    }  # fmt: skip


def _arguments(argument: str) -> list[str]:
    """Return an argument, or the names of its group."""
    return members_of(argument) if argument.startswith(GROUP) else [argument]


def _script(text: str, known: Sequence[str]) -> str:
    """Return a program in which the list of inputs is a placeholder again, and groups are names."""
    marked = with_groups(text.replace(INPUTS, _MARK))
    return str(_escaped(marked, known)).replace(_MARK, "{inputs}")


def _escaped(text: str | None, known: Sequence[str]) -> str | None:
    return None if text is None else literal(text, known)


def _all_escaped(value: Any, known: Sequence[str]) -> Any:
    if isinstance(value, dict):
        return {key: _all_escaped(item, known) for key, item in value.items()}
    if isinstance(value, list):
        return [_all_escaped(item, known) for item in value]
    if isinstance(value, bool):
        return "yes" if value else "no"
    return _escaped(value, known) if isinstance(value, str) else value


def _texts(value: Any) -> Any:
    """Return a record without empty entries except empty tuples, and with numbers as texts."""
    if isinstance(value, dict):
        pairs = ((key, _texts(item)) for key, item in value.items())
        return {key: item for key, item in pairs if item not in (None, [], {})}
    if isinstance(value, list):
        return [_texts(item) for item in value]
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return value if value in (None, ()) else str(value)
