"""`d0ctl schema`: JSON Schemas for editors and scripts."""

import json

import pytest
from jsonschema import Draft202012Validator

from d0ctl.cli.schemas.by_command import DOCUMENTS
from tests.cli.conftest import Type
from tests.support import schemas
from tests.support.building import document, production
from tests.support.site import Site


@pytest.mark.parametrize("name", ["job", "site"])
def test_a_schema_is_printed_as_it_is_kept(d0ctl: Type, name: str) -> None:
    result = d0ctl("schema", name)

    assert result.stdout == schemas.files()[schemas.FOLDER / f"{name}file/{name}.schema.json"]
    assert json.loads(result.stdout)["title"] == f"d0ctl {name} file"


def test_without_a_name_all_schemas_are_listed(d0ctl: Type) -> None:
    names = d0ctl("schema").stdout.splitlines()

    assert names == ["job", "site", *DOCUMENTS]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_has_a_schema_by_which_the_standard_judges_as_the_tests_do(
    d0ctl: Type, name: str
) -> None:
    schema = json.loads(d0ctl("schema", name).stdout)

    Draft202012Validator.check_schema(schema)
    assert schema["title"] == f"d0ctl {name} --json"


def test_a_document_is_valid_by_its_schema_and_another_is_not(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    schema = json.loads(d0ctl("schema", "status JOB").stdout)
    is_valid = Draft202012Validator(schema).is_valid

    printed = document(d0ctl("status", "prod", "--json").stdout)

    assert is_valid(printed)
    assert not is_valid(printed | {"stages": "none"})
    assert not is_valid({key: value for key, value in printed.items() if key != "phases"})


def test_another_name_is_not_found(d0ctl: Type) -> None:
    result = d0ctl("schema", "jbo")

    assert result.exit_code == 3
    assert result.stderr == (
        "d0ctl: there is no schema `jbo` (did you mean `job`?)\nd0ctl schema\n"
    )
