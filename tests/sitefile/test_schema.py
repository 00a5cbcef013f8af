"""The JSON Schema of the site file, by which an editor completes and checks one."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import event, given, settings

from d0ctl.errors import BadJobFile
from d0ctl.sitefile.reader import SECTIONS, read_text
from d0ctl.sitefile.software_archives import ArchiveContents
from tests.support.examples import examples
from tests.support.key_tables import documented
from tests.support.planting import changed
from tests.support.site_schema import site_schema
from tests.support.validation import refusals

DIGITS = 64 * "0"
GOOD: dict[str, Any] = {
    "code-server": "https://code.example.org/d0",
    "nodes": {
        "farm01": {"destination": "emmy@farm01", "cpus": 16, "cluster": "farm", "speed": 1.5,
                   "dir": "/data/d0ctl", "python": "python3.11", "via": "openssh",
                   "memory": "64GB", "services": ["SAM"], "same-machine": "yes",
                   "accept-key": "SHA256:" + 43 * "A"},
        "farm02": "emmy@farm02:2222", "here": None,
    },
    "clusters": {"farm": {"services": "SAM", "capacity": "2TB", "private": "no"}, "other": None},
    "software": [{
        "name": "reco", "version": "v12-01", "platform": ["linux-x86_64", "sl7"],
        "archive": "reco.tar.gz", "checksum": f"sha256:{DIGITS}", "size": 5, "runtime": "20m",
        "parameters": {"cards": "standard.cards"}, "script": "reco {cards}", "shell": "sh",
        "needs": "SAM", "log-rules": "FATAL", "hooks": {"end": "true"}, "progress": "done",
        "check": "true", "policy": {"lost": {"tries": 1}},
    }],
    "log-rules": [{"match": "No space", "reason": "site:full"}, "abc"],
    "hooks": {"before": "source setup.sh", "timeout": "1m"},
    "defaults": {"looping": "45m", "nice": 15, "yield-cpu": "50%", "reserve": "1GB"},
    "transfer": {"root": {"fetch": "get {source} {dest}", "store": "put {source} {dest}"}},
    "policy": {"disk-full": {"tries": 3, "delay": ["10m", "1h"], "elsewhere": "yes"}},
    "mail": {"host": "smtp.example.org", "port": 25, "security": "none",
             "sender": "d0ctl@example.org", "cluster-admin": {"*": ["a@b.org"], "farm": "c@d.org"},
             "grid-control": "e@f.org", "routes": {"lost": ["researcher", "nobody"]},
             "recipients": {"emmy": {"address": "emmy@example.org", "mode": "never", "rate": 5}},
             "digest": "5m", "command": ["/bin/true", "x"], "command-timeout": "1m"},
    "event-queue": {"host": "mqtt.example.org", "port": 8883, "topic": "lab/+/events/#",
                    "security": "tls", "client": "d0ctl-lab"},
    "bad-nodes": {"failures": "no", "pause": "10s"},
    "exclusion": {"completed": 10, "rate": "50%"},
    "tasks": {"timeouts": {"pending": "1d", "running": {"after": "7d", "action": "finish"}}},
}  # fmt: skip

VALUES: list[Any] = [
    None, True, 0, 1, -1, 19, 20, 0.5, 1e9, "", " ", "no", "5", "97%", "20m", "2GB", "a", "a/b",
    "/data/x", "{source} {dest}", "a@b.org", "tls", f"sha256:{DIGITS}", [], {}, ["a"], ["5m"],
    [1, 2], {"a": "b"}, {"match": "x"}, {"log": "x"}, {"tries": 1}, {"lost": "nobody"},
    {"destination": "x"}, {"emmy@example.org": {"rate": 3}},
]  # fmt: skip

KEYS = sorted({key for _, key in documented("sitefile")} | {"nonsense", "lost", *SECTIONS})


def contents(path: Path) -> ArchiveContents:
    """An archive that is as its entry says."""
    return ArchiveContents(5, f"sha256:{DIGITS}", 1, f"sha256:{DIGITS}")


def test_the_schema_has_each_key_that_the_reference_has() -> None:
    schema = site_schema()
    assert set(schema["properties"]) == set(SECTIONS)

    sections = schema["properties"]
    levels = {
        "Software": schema["$defs"]["software"],
        "Node": sections["nodes"]["additionalProperties"],
        "Mail": sections["mail"],
        "Defaults": sections["defaults"],
    }
    for title, level in levels.items():
        told = {key for at, key in documented("sitefile") if at == title}
        assert set(level["properties"]) == told
        assert all(property["description"] for property in level["properties"].values())


def test_an_editor_and_the_reader_accept_a_site_with_every_part() -> None:
    text = json.dumps(GOOD)

    assert len(read_text(text, inspect=contents).nodes) == 3
    assert refusals("site", text) == []


@settings(max_examples=examples(200))
@given(changed(GOOD, KEYS, VALUES))
def test_an_editor_accepts_what_the_reader_accepts(document: dict[str, Any]) -> None:
    text = json.dumps(document)

    try:
        read_text(text, inspect=contents)
    except BadJobFile:
        event("refused by the reader")
        return

    event("accepted by the reader")
    assert refusals("site", text) == []


@pytest.mark.parametrize(
    "text, fault",
    [
        ("nods: {}", "nods"),
        ("nodes: {farm01: {cpu: 3}}", "cpu"),
        ("nodes: {farm01: {cpus: 0}}", "nodes/farm01/cpus: takes a whole number of CPUs"),
        ("software: {name: reco}", "'version' is a required property"),
        ("defaults: {nice: 20}", "defaults/nice: takes a whole number from 0 to 19"),
        ("mail: {security: ssl}", "takes `starttls`, `tls` or `none`"),
        ("transfer: {root: xrdcp}", "not of type 'object'"),
    ],
)
def test_an_editor_says_what_is_wrong(text: str, fault: str) -> None:
    assert fault in "\n".join(refusals("site", text))
