"""An example of each key of the job file, for tests that go over all of them.

The base job has one thing at each level, and an example adds its key to the thing of its level. A
key that makes no sense alone comes with what it needs at this level or another.
"""

from copy import deepcopy
from typing import Any

Document = dict[str, Any]

BASE: Document = {
    "originator": "emmy@lab",
    "parameters": {"energy": "7"},
    "stages": [
        {"name": "first", "lines": [
            {"name": "one", "packages": [{"name": "p", "binaries": [
                {"name": "make", "run": "make", "outputs": ["made"]}]}]},
            {"name": "two", "packages": [{"name": "p", "binaries": [
                {"name": "make", "run": "make", "outputs": ["made-2"]}]}]},
        ]},
        {"name": "second", "lines": [{"name": "line", "packages": [{"name": "package", "binaries": [
            {"name": "binary", "run": "work", "inputs": [{"file": "raw.dat"}],
             "outputs": [{"file": "out"}]},
        ]}]}]},
    ],
}  # fmt: skip
"""The second stage gets the keys."""

FILES = {
    "raw.dat": "raw", "start.sh": '"$D0CTL_CHAIN"\n', "cards/a.txt": "a", "cards/b.txt": "b",
    "names.txt": "cards/a.txt\n", "runs.csv": "file,energy\ncards/a.txt,7\n",
}  # fmt: skip
"""What is beside the job file."""

ABSENT = ...
"""An example takes this key away."""

FROM = {"Input": {"file": ABSENT, "from": "first"}}
CACHE = {"Input": {"file": ABSENT, "cache": "localhost"}}
SOURCE = {"Input": {"file": ABSENT}}
LINES = {"Line": {"name": "{n}"}, "Output": {"file": "out{n}"}}
ROWS = {"Line": {"name": "{n.energy}"}, "Output": {"file": "out{n.energy}"}}
PATHS = {"Line": {"name": "{n.stem}"}, "Output": {"file": "out{n.stem}"}}
GROUPS = {
    "Line": {"name": "{n.index}"}, "Input": "{n}", "Output": {"file": "out{n.index}"},
}  # fmt: skip
RULE = {"Log rule": {"match": "FATAL"}}
EVENTS = {"Events": {"of": 500, "part": "new.root"}}

NEEDS: dict[tuple[str, str], Document] = {
    ("Line", "early-start"): FROM,
    ("Line", "for"): LINES,
    ("Package", "layout"): {"Input": {"file": "cards/a.txt"}},
    ("Package", "wrapper-parameters"): {"Package": {"wrapper": "start.sh"}},
    ("Binary", "merge"): {"Binary": {"run": ABSENT}, "Output": {"file": "out.txt"}},
    ("Binary", "check-timeout"): {"Binary": {"check": "test -s out"}},
    ("Input", "from"): SOURCE,
    ("Input", "glob"): SOURCE,
    ("Input", "list"): SOURCE,
    ("Input", "catalogue"): SOURCE,
    ("Input", "cache"): SOURCE,
    ("Input", "match"): FROM,
    ("Input", "unread"): CACHE,
    ("Output", "late"): {"Output": {"file": "out-*"}},
    ("Output", "min-count"): {"Output": {"file": "out-*", "late": "yes"}},
    ("Loops", "glob"): PATHS,
    ("Loops", "list"): LINES,
    ("Loops", "range"): LINES,
    ("Loops", "csv"): ROWS,
    ("Loops", "lines"): PATHS,
    ("Loops", "catalogue"): ROWS,
    ("Loops", "zip"): LINES,
    ("Group", "from"): GROUPS | {"Group": {"by": 1}},
    ("Group", "cache"): GROUPS | {"Group": {"by": 1}},
    ("Group", "match"): GROUPS | {"Group": {"from": "first", "by": 1}},
    ("Group", "unread"): GROUPS | {"Group": {"cache": "localhost", "by": 1}},
    ("Group", "by"): GROUPS | {"Group": {"from": "first"}},
    ("Group", "whole"): GROUPS | {"Group": {"glob": "cards/*", "by": 2}},
    ("Log rule", "reason"): RULE,
    ("Log rule", "passive"): RULE,
    ("Log rule", "required"): RULE,
    ("Events", "of"): EVENTS,
    ("Events", "first"): EVENTS,
    ("Events", "part"): EVENTS,
    ("Progress", "of"): {"Progress": {"output": "out"}},
}  # fmt: skip
"""What a key needs, at each level."""

EXAMPLES: dict[str, dict[str, Any]] = {
    "Job": {
        "job": "own", "title": "Second pass", "originator": "reco@fnal.gov", "mail": "never",
        "priority": 60, "hold": "yes", "max-running": 3, "max-failures": 4,
        "max-alike-failures": 5, "parameters": {"energy": "13"}, "policy": {"lost": {"tries": 9}},
        "template": {"about": "runs", "parameters": {"energy": "in GeV"}},
        "stages": [{"lines": [{"run": "work"}]}],
    },
    "Stage": {
        "name": "other", "after": "first", "final": "yes", "require": "97%", "priority": 61,
        "max-running": 6, "lines": [{"run": "another"}],
    },
    "Line": {
        "name": "other", "early-start": "yes", "after": "first/one", "priority": 62,
        "for": {"n": [1, 2]}, "packages": [{"run": "another"}],
    },
    "Package": {
        "name": "other", "nodes": "localhost", "exclude-nodes": "localhost",
        "platform": "Linux_x86_64", "cpus": 3, "memory": "3GB", "gpus": 2,
        "disk": "4GB", "wall-time": "5h", "looping": "6h",
        "layout": "flat", "priority": 63, "wrapper": "start.sh",
        "wrapper-parameters": {"IMAGE": "sl7"}, "environment": {"MODE": "fast"},
        "policy": {"lost": {"tries": 8}}, "binaries": [{"run": "another"}],
    },
    "Binary": {
        "name": "other", "run": ["work", "--hard"], "merge": "yes", "shell": "sh",
        "image": "sl7.sif", "software": "reco/v1", "parameters": {"cards": "best"},
        "inputs": "made", "outputs": "out-2", "stdin": "raw.dat", "runtime": "20m",
        "work-size": "7GB", "cpu": 80, "needs": "SAM", "log-rules": "FATAL",
        "progress": {"log": "(\\d+) %"}, "check": "test -s out", "check-timeout": "7m",
        "events": {"of": 500, "part": "new.root"},
    },
    "Input": {
        "unread": "yes", "file": "names.txt", "from": "first", "glob": "cards/*",
        "list": "names.txt", "catalogue": "csv runs.csv", "cache": "localhost", "match": "*-2",
        "as": "b.dat", "locator": "/data/raw.dat", "size": "8MB", "checksum": "md5:" + "0" * 32,
        "acquire": "none", "disposition": "retain-temp", "required": "no", "writable": "yes",
    },
    "Output": {
        "file": "out-2", "locator": "/data/out", "size": "9MB", "min-size": "2MB",
        "checksum": "md5:" + "1" * 32, "disposition": "retain-temp", "result": "yes",
        "late": "yes", "min-count": 2,
    },
    "Loops": {
        "glob": "cards/*", "list": [1, 2], "range": [1, 2], "csv": "runs.csv",
        "lines": "names.txt", "catalogue": "csv runs.csv", "zip": {"n": [1, 2]},
    },
    "Group": {
        "unread": "yes", "from": "first", "cache": "localhost", "match": "*-2", "by": 2,
        "whole": "yes",
    },
    "Log rule": {
        "match": "FATAL", "reason": "site:calibration", "passive": "yes", "required": "yes",
    },
    "Events": {"of": 600, "first": 7, "part": "old.root"},
    "Progress": {"log": "(\\d+) %", "output": "out", "of": "2GB"},
    "Parameter": {"type": "integer", "help": "in GeV", "one-of": ["7", "13"]},
}  # fmt: skip
"""A value of each key that is not its default."""


def example(level: str, key: str, value: Any = None) -> Document:
    """The base job with a key, by default with the value of its example, and what it needs."""
    document, added = base(level, key), deepcopy(NEEDS.get((level, key), {}))
    added.setdefault(level, {})[key] = deepcopy(EXAMPLES[level][key] if value is None else value)
    for where in sorted(added, key=list(EXAMPLES).index):
        _add(document, where, added[where])
    return document


def base(level: str, key: str) -> Document:
    """The job without a key: a result differs from other files only if a package reads it."""
    document = deepcopy(BASE)
    if (level, key) == ("Output", "result"):
        document["stages"].insert(0, {"name": "last", "lines": [{"run": "end", "inputs": "out"}]})
    return document


def _add(document: Document, level: str, entry: Any) -> None:
    """Add keys to the thing of a level."""
    stage = document["stages"][-1]
    line = stage["lines"][0]
    package = line["packages"][0]
    binary = package["binaries"][0]
    keys = {"Log rule": "log-rules", "Events": "events", "Progress": "progress"}
    if level == "Parameter":
        found, entry = document, {"template": {"parameters": {"energy": entry}}}
    elif level in ("Loops", "Group"):
        found, entry = line, {"for": entry if "zip" in entry else {"n": entry}}
    elif level in keys:
        found, entry = binary, {keys[level]: entry}
    elif isinstance(entry, str):
        found, entry = binary, {"inputs": entry}
    else:
        found = {
            "Job": document, "Stage": stage, "Line": line, "Package": package, "Binary": binary,
            "Input": binary["inputs"][0], "Output": binary["outputs"][0],
        }[level]  # fmt: skip
    found.update(entry)
    for name in [name for name, value in found.items() if value is ABSENT]:
        del found[name]
