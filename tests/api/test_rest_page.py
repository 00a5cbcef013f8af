"""The table of paths in docs/rest.md is that of the application."""

import re
from pathlib import Path

import pytest

from d0ctl.cli.commands.rest.application import application
from d0ctl.config import Home

PAGE = (Path(__file__).parents[2] / "docs" / "rest.md").read_text()


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of litestar
def test_the_page_has_every_path(tmp_path: Path) -> None:
    written = re.findall(r"^\| `(GET|POST) ([^`?]+)", PAGE, re.MULTILINE)
    schema = application(Home(tmp_path)).openapi_schema.to_schema()
    served = {
        (method.upper(), re.sub(r"^(/v1/actions)/.*", r"\1/{verb}", path))
        for path, methods in schema["paths"].items()
        for method in methods
    }

    assert {
        (method, re.sub(r"\b[A-Z]+\b", lambda name: f"{{{name[0].lower()}}}", path))
        for method, path in written
    } == served | {("GET", "/v1/openapi.json")}  # fmt: skip
