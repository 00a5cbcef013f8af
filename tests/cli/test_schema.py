"""`d0ctl schema`: JSON Schemas for editors and scripts."""

import json

import pytest
from jsonschema import Draft202012Validator

from d0ctl.cli.commands.running.schema import FILES
from d0ctl.cli.schemas.by_command import DOCUMENTS
from tests.cli.conftest import Type
from tests.support import schemas
from tests.support.building import document, production
from tests.support.site import Site


@pytest.mark.parametrize("name", ["job", "site", "dashboard"])
def test_a_schema_is_printed_as_it_is_kept(d0ctl: Type, name: str) -> None:
    result = d0ctl("schema", name)

    assert result.stdout == schemas.files()[FILES[name]]
    assert json.loads(result.stdout)["title"] == f"d0ctl {name} file"


def test_without_a_name_all_schemas_are_listed(d0ctl: Type) -> None:
    names = d0ctl("schema").stdout.splitlines()

    assert names == ["job", "site", "dashboard", "datasette", *DOCUMENTS]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_the_tests_validate_documents_as_jsonschema_does(d0ctl: Type, name: str) -> None:
    schema = json.loads(d0ctl("schema", name).stdout)

    Draft202012Validator.check_schema(schema)
    assert schema["title"] == f"d0ctl {name} --json"


def test_a_schema_accepts_its_document_and_refuses_another(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    schema = json.loads(d0ctl("schema", "status JOB").stdout)
    is_valid = Draft202012Validator(schema).is_valid

    printed = document(d0ctl("status", "prod", "--json").stdout)

    assert is_valid(printed)
    assert not is_valid(printed | {"stages": "none"})
    assert not is_valid({key: value for key, value in printed.items() if key != "phases"})


def test_an_unknown_schema_name_is_refused(d0ctl: Type) -> None:
    result = d0ctl("schema", "jbo")

    assert result.exit_code == 3
    assert result.stderr == (
        "d0ctl: there is no schema `jbo` (did you mean `job`?)\nd0ctl schema\n"
    )
