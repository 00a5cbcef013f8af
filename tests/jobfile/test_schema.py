"""The JSON Schema of the job file, by which an editor completes and checks one."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import event, example, given, settings

from d0ctl.errors import BadJobFile
from d0ctl.jobfile.reader import read_text
from d0ctl.jobfile.sections import binaries, groups, loops, stages
from d0ctl.jobfile.sections.files import inputs, outputs
from tests.support import schemas
from tests.support.examples import examples
from tests.support.key_tables import documented
from tests.support.planting import changed
from tests.support.validation import refusals

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").rglob("job.yaml"))

GOOD: dict[str, Any] = {
    "job": "good", "title": "A job", "originator": "emmy", "mail": "never", "priority": 7,
    "hold": "no", "max-alike-failures": 3, "max-running": 9, "max-failures": 2,
    "template": {"about": "good", "parameters": {"energy": {"type": "integer", "help": "GeV"},
                                                 "size": "of memory"}},
    "parameters": {"energy": 13, "size": "2GB"},
    "policy": {"lost": {"tries": 3, "delay": ["5m", 90], "escalate": {"memory": 1.5}},
               "never": {"attempt": "no"}, "site:full": {"elsewhere": "only"}},
    "stages": [
        {"name": "one", "require": "97%", "priority": 5, "max-running": 3, "lines": [
            {"for": {"n": {"range": [1, 2]}, "zip": {"a": ["x", "y"], "b": {"list": [1, 2]}}},
             "name": "{n}-{a}", "run": "make {n} {a}", "memory": "{size}", "cpus": 2,
             "nodes": ["n1", "n2"], "environment": {"MODE": "fast"}, "needs": "SAM",
             "outputs": [{"file": "{n}-{a}.out", "size": "1MB", "disposition": ["forward"]}],
             "log-rules": ["FATAL", {"match": "done", "required": True}],
             "progress": {"output": "x", "of": "2MB"}, "check": "true", "check-timeout": "1m",
             "events": {"of": 500, "part": "new.root"}}]},
        {"lines": [
            {"early-start": True, "packages": [
                {"wall-time": 90, "wrapper": "/bin/start", "wrapper-parameters": {"A": 1},
                 "binaries": [{"name": "merge", "run": ["merge", "--all"], "runtime": "1h",
                               "inputs": {"from": "one", "match": "*.out"},
                               "outputs": {"file": "all-*", "late": "yes", "min-count": 0}}]},
                {"software": "reco/v1", "parameters": {"cards": "x"}, "looping": "30m",
                 "inputs": [{"file": "/data/x", "acquire": "none", "required": "no"}, "/data/y"],
                 "outputs": "all.root"}]}]},
        {"after": "one", "lines": [
            {"for": {"part": {"from": "one", "by": 2}}, "name": "{part.index}", "layout": "flat",
             "after": "one/1", "image": "reco.sif", "run": "cat {part} > m{part.index}",
             "inputs": ["{part}", {"file": "/data/c", "acquire": "none", "as": "cards"}],
             "outputs": "m{part.index}"}]},
        {"final": "yes", "lines": [{"run": "date"}]},
    ],
}  # fmt: skip

VALUES: list[Any] = [
    None, True, 0, 1, -1, 50, 101, 0.5, 1e9, "", " ", "no", "5", "97%", "20m", "2GB", "a", "a/b",
    "{energy}", "{n}", "{n}m", "bash", "SHA256:x", "/data/x", "n1:/data/x", "https://h/x",
    "forward", "md5:" + 32 * "0", "only", [], {}, ["a"], ["5m"], [1, 2], {"a": "b"}, {"file": "f"},
    {"from": "one"}, {"list": [1]}, {"match": "x"}, {"log": "x"}, {"tries": 1},
]  # fmt: skip

KEYS = sorted({key for _, key in documented("jobfile")} | {"nonsense", "killed", "lost", "of"})


@pytest.mark.parametrize("path", schemas.files(), ids=lambda path: path.name)
def test_the_schema_files_are_up_to_date(path: Path) -> None:
    assert path.read_text() == schemas.files()[path], "type `make schemas`"


def test_the_schema_has_the_keys_and_texts_of_the_reference() -> None:
    parts = schemas.job_schema()["$defs"]
    known = {
        "stage": stages.STAGE_KEYS, "line": stages.SHORT_LINE_KEYS, "input": inputs.INPUT_KEYS,
        "package": stages.SHORT_PACKAGE_KEYS, "binary": binaries.BINARY_KEYS,
        "output": outputs.OUTPUT_KEYS,
    }  # fmt: skip

    for part, keys in known.items():
        assert set(parts[part]["properties"]) == set(keys)
        assert all(property["description"] for property in parts[part]["properties"].values()), part
    assert set(schemas.job_schema()["properties"]) == set(stages.JOB_KEYS)
    assert set(parts["for"]["additionalProperties"]["properties"]) == {
        *loops.SOURCES,
        *groups.GROUP_KEYS,
    }


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.parent.name)
def test_an_editor_accepts_the_examples(path: Path) -> None:
    assert refusals("job", path.read_text()) == []


def test_an_editor_and_the_reader_accept_a_job_with_every_part() -> None:
    text = json.dumps(GOOD)

    assert read_text(text, directory=Path("/nonexistent")).packages == 9
    assert refusals("job", text) == []


@settings(max_examples=examples(200))
@example({"stages": [{"lines": [{"packages": [{"run": "go"}], "binaries": None}]}]})
@given(changed(GOOD, KEYS, VALUES))
def test_an_editor_accepts_what_the_reader_accepts(document: dict[str, Any]) -> None:
    text = json.dumps(document)

    try:
        read_text(text, directory=Path("/nonexistent"))
    except BadJobFile:
        event("refused by the reader")
        return

    event("accepted by the reader")
    assert refusals("job", text) == []


@pytest.mark.parametrize(
    "old, new, fault",
    [
        ("priority: 7", "priority: 101", "priority: takes a whole number from 0 to 100"),
        ("priority: 7", "prioriti: 7", "prioriti"),
        ("hold: no", "hold: maybe", "hold: takes `yes` or `no`"),
        ("memory: 2GB", "memory: 4 GX", "memory: takes a size such as `200MB`"),
        ("wall-time: 5m", "wall-time: 5 min", "wall-time: takes a time of more than 0"),
        ("acquire: none", "acquire: fetch", "acquire: takes `none`, `self` or `pre-fetch`"),
        ("run: go", "shell: bash", "'run' is a required property"),
        ("file: a", "glub: a", "'file' is a required property"),
        ("range: [1, 2]", "range: [1]", "too short"),
        ("n: {range: [1, 2]}", "n: 1-2", "not of type 'array', 'object'"),
        ("lines:", "packages:", "'lines' is a required property"),
        ("run: go", "packages: [{run: go}]", "`inputs` belongs in an entry of `packages`"),
        ("lost: {tries: 3}", "lots: {tries: 3}", "lots"),
        ("environment: {A: 1}", "environment: {D0CTL_A: 1}", "D0CTL_A"),
    ],
)
def test_an_editor_says_what_is_wrong(old: str, new: str, fault: str) -> None:
    text = """
job: good
priority: 7
hold: no
policy: {lost: {tries: 3}}
stages:
  - lines:
      - for: {n: {range: [1, 2]}}
        run: go
        memory: 2GB
        wall-time: 5m
        environment: {A: 1}
        inputs: {file: a, acquire: none}
"""
    assert refusals("job", text) == []

    assert fault in "\n".join(refusals("job", text.replace(old, new)))
