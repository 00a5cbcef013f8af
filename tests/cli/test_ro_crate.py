"""`export --format ro-crate`: the metadata of an RO-Crate."""

import json
from typing import Any

import pytest

from tests.cli.conftest import Type
from tests.cli.test_provenance import made as made


def exported(d0ctl: Type) -> dict[str, Any]:
    """The entities of the document by their ids."""
    document = json.loads(d0ctl("export", "prod", "--format", "ro-crate").stdout)
    return {one["@id"]: one for one in document["@graph"]}


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
    assert {one["@id"] for one in found["./"]["mentions"]} == {
        one for one in found if one.startswith("urn:d0ctl:run:")
    }


@pytest.mark.usefixtures("made")
def test_whatever_is_named_is_described(d0ctl: Type) -> None:
    found = exported(d0ctl)
    text = json.dumps(list(found.values()))

    named = {part.split('"')[0] for part in text.split('{"@id": "')[1:]}
    assert {one for one in named if one.startswith(("urn:", "./"))} <= set(found)
