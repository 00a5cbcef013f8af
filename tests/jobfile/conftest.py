"""Job files in a folder of their own, with what lies beside them."""

from collections.abc import Callable
from pathlib import Path

import pytest

from d0ctl.errors import BadJobFile
from d0ctl.jobfile.language.file_names import local_name
from d0ctl.jobfile.language.quoting import arguments_with_inputs, with_inputs
from d0ctl.jobfile.reader import KnownNames, read
from d0ctl.jobfile.spec import JobSpec, LineSpec
from tests.support.validation import refusals

Read = Callable[..., JobSpec]
Lines = Callable[..., list[LineSpec]]
Faults = Callable[..., list[str]]
Warnings = Callable[[str], list[str]]


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with three raw files; its path is short, for messages that cut long ones."""
    folder = tmp_path_factory.mktemp("job")
    (folder / "raw").mkdir()
    for name in ("a.raw", "b.raw", "c.raw"):
        (folder / "raw" / name).write_text(name)
    return folder


def launched(line: LineSpec, binary: int = 0) -> str | list[str]:
    """What a binary of a line's first package executes, its inputs named as they lie there."""
    package = line.packages[0]
    own = {made.file for binary in package.binaries for made in binary.outputs}
    spec = package.binaries[binary]
    names = [i.file if i.file in own else local_name(i.file, i.local) for i in spec.inputs]
    if spec.argv is not None:
        return arguments_with_inputs(spec.argv, names)
    assert spec.script is not None
    return with_inputs(spec.script, names)


@pytest.fixture
def job(folder: Path) -> Read:
    """Reads a job file made of a text, which an editor then has to accept as well."""

    def make(
        text: str, known: KnownNames | None = None, name: str = "job.yaml", **set_: str
    ) -> JobSpec:
        path = folder / name
        path.write_text(text)
        spec = read(path, set_, known or KnownNames())
        assert refusals("job", text) == []
        return spec

    return make


@pytest.fixture
def lines(job: Read) -> Lines:
    """Reads a job file and returns the lines of its last stage."""

    def make(text: str, **set_: str) -> list[LineSpec]:
        return list(job(text, **set_).stages[-1].lines)

    return make


@pytest.fixture
def faults(job: Read, folder: Path) -> Faults:
    """Reads a job file that has faults, and returns these without the folder's path."""

    def make(text: str, known: KnownNames | None = None, **set_: str) -> list[str]:
        with pytest.raises(BadJobFile) as caught:
            job(text, known, **set_)
        return [fault.removeprefix(f"{folder}/job.yaml:") for fault in caught.value.faults]

    return make


@pytest.fixture
def warnings(job: Read, folder: Path) -> Warnings:
    """Reads a job file and returns its warnings, without the folder's path."""

    def make(text: str) -> list[str]:
        found = job(text).warnings
        return [one.removeprefix(f"{folder}/job.yaml:").split("warning: ")[1] for one in found]

    return make


def line(entry: str) -> str:
    """A job file with one line."""
    return f"stages:\n- lines:\n  - {entry}\n"
