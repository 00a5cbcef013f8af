"""What `why` answers about files."""

from typing import Any

from d0ctl.jobfile.spec import BinarySpec, InputSpec, PackageSpec
from tests.cli.conftest import Type
from tests.support.building import document


def reader(*inputs: InputSpec) -> PackageSpec:
    """A package that makes nothing of these inputs."""
    return PackageSpec("1", (BinarySpec("tool", script="tool", inputs=inputs),))


def reported(d0ctl: Type, *words: str) -> dict[str, Any]:
    """What `why` says, as a document."""
    result = d0ctl("why", *words, "--json")
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = document(result.stdout)
    return found
