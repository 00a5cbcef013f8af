"""`d0ctl schema`: JSON Schemas for editors and scripts."""

import json

import pytest

from tests.cli.conftest import Type
from tests.support import schemas


@pytest.mark.parametrize("path", schemas.files(), ids=lambda path: path.name)
def test_a_schema_is_printed_as_it_is_kept(d0ctl: Type, path: object) -> None:
    name = str(path).rpartition("/")[2].partition(".")[0]

    result = d0ctl("schema", name)

    assert result.stdout == schemas.files()[schemas.FOLDER / f"{name}file/{name}.schema.json"]
    assert json.loads(result.stdout)["title"] == f"d0ctl {name} file"


def test_another_name_is_not_found(d0ctl: Type) -> None:
    result = d0ctl("schema", "jbo")

    assert result.exit_code == 3
    assert result.stderr == "d0ctl: there is no schema `jbo` (did you mean `job`?)\n"
