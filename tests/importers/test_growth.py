"""What an import costs grows with the size of a file, not with its square."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from d0ctl.importers.formats import read
from tests.support.growth import assert_linear

HEAD = "SUBMIT-DESCRIPTION d {\nexecutable = /bin/echo\n"


def times(count: int, text: str) -> str:
    return "".join(text.replace("%", str(n)) for n in range(count))


@pytest.mark.parametrize("shape", ["commands of a shared description", "final nodes"])
def test_the_cost_of_an_import_grows_with_the_size(tmp_path: Path, shape: str) -> None:
    def import_of(size: int) -> Callable[[], object]:
        many = "FINAL F% d\n" if shape == "final nodes" else "JOB A% d\n"
        commands = times(size // 24, "k%=v\n") if "commands" in shape else ""
        path = tmp_path / f"{size}.dag"
        path.write_text(f"{HEAD}{commands}queue\n}}\n{times(size // 24, many)}")
        return partial(read, path)

    assert_linear(import_of)
