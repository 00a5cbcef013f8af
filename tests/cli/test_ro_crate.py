"""`export --format ro-crate`: the metadata of an RO-Crate."""

import json
from typing import Any

import jsonschema
import pytest

from tests.cli.conftest import Type
from tests.cli.test_provenance import made as made

REFERENCE = {"type": "object", "required": ["@id"], "additionalProperties": False,
             "properties": {"@id": {"type": "string"}}}  # fmt: skip
ONE_OR_MORE = {"anyOf": [REFERENCE, {"type": "array", "items": REFERENCE}]}
DATE = {"type": "string", "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+00:00$"}


def _of_type(name: str, required: dict[str, Any]) -> dict[str, Any]:
    """What an entity of a type must have."""
    return {"if": {"properties": {"@type": {"const": name}}},
            "then": {"required": list(required), "properties": required}}  # fmt: skip


SCHEMA = {
    "type": "object", "required": ["@context", "@graph"],
    "properties": {
        "@context": {"contains": {"const": "https://w3id.org/ro/crate/1.1/context"}},
        "@graph": {
            "items": {
                "type": "object", "required": ["@id", "@type"],
                "allOf": [
                    _of_type("Dataset", {
                        "@id": {"const": "./"}, "name": {"type": "string"},
                        "description": {"type": "string"}, "datePublished": DATE,
                        "license": {}, "mentions": {"type": "array", "items": REFERENCE},
                    }),
                    _of_type("CreateAction", {
                        "name": {"type": "string"}, "instrument": REFERENCE, "agent": REFERENCE,
                        "object": ONE_OR_MORE, "result": ONE_OR_MORE, "endTime": DATE,
                        "actionStatus": {"pattern": "^http://schema.org/[A-Z][A-Za-z]+Status$"},
                    }),
                    _of_type("SoftwareApplication", {
                        "name": {"type": "string"}, "version": {"type": "string"},
                        "url": {"type": "string"},
                    }),
                    _of_type("File", {"name": {"type": "string"}}),
                    _of_type("Person", {"name": {"type": "string"}}),
                ],
            },
            "contains": {"properties": {
                "@id": {"const": "ro-crate-metadata.json"}, "@type": {"const": "CreativeWork"},
                "about": {"const": {"@id": "./"}},
                "conformsTo": {"const": {"@id": "https://w3id.org/ro/crate/1.1"}},
            }, "required": ["about", "conformsTo"]},
        },
    },
}  # fmt: skip
"""What RO-Crate 1.1 and Process Run Crate 0.5 require; `make crates` has the public validator
check it, which can't be installed beside Textual."""


def exported(d0ctl: Type, what: str = "prod") -> dict[str, Any]:
    """The entities of the document by their ids."""
    document = json.loads(d0ctl("export", what, "--format", "ro-crate").stdout)
    jsonschema.validate(document, SCHEMA)
    return {one["@id"]: one for one in document["@graph"]}


@pytest.mark.usefixtures("made")
def test_a_crate_of_a_file_has_only_the_runs_that_led_to_it(d0ctl: Type) -> None:
    found = exported(d0ctl, "prod:r")

    assert [one for one in found if one.startswith("urn:d0ctl:run:")] == [
        "urn:d0ctl:run:prod/1/1/1/1"
    ]
    assert {"@id": "urn:d0ctl:file:prod:r"} in found["./"]["hasPart"]


def test_a_run_has_software_inputs_outputs_person_and_node(d0ctl: Type, made: str) -> None:
    found = exported(d0ctl)

    run = found["urn:d0ctl:run:prod/1/1/1/1"]
    assert (run["@type"], run["agent"]["@id"]) == ("CreateAction", "urn:d0ctl:user:emmy")
    assert run["startTime"] == "1970-01-01T00:01:40+00:00"
    assert run["result"] == {"@id": "urn:d0ctl:file:prod:r"}
    software = found[run["instrument"]["@id"]]
    assert (software["name"], software["version"]) == ("reco/v1", "v1")
    assert software["sha256"] == made.removeprefix("sha256:")
    assert found[run["location"]["@id"]]["name"] == "localhost"
    assert {mention["@id"] for mention in found["./"]["mentions"]} == {
        one for one in found if one.startswith("urn:d0ctl:run:")
    }


@pytest.mark.usefixtures("made")
def test_whatever_is_named_is_described(d0ctl: Type) -> None:
    found = exported(d0ctl)
    text = json.dumps(list(found.values()))

    named = {part.split('"')[0] for part in text.split('{"@id": "')[1:]}
    assert {one for one in named if one.startswith(("urn:", "./"))} <= set(found)
