"""clone: a job submitted once more."""

from pathlib import Path

import pytest

from tests.cli.conftest import Type
from tests.support.building import Site, document, production

GOOD = """\
job: good
parameters: {word: hello, size: small}
stages:
  - name: say
    lines:
      - run: "echo {word} {size} > said"
        outputs: [said]
"""


@pytest.fixture
def file(tmp_path: Path, d0ctl: Type) -> Path:
    """The file of a job that is submitted with one parameter set."""
    path = tmp_path / "good.yaml"
    path.write_text(GOOD)
    assert d0ctl("submit", str(path), "--set", "word=bye").exit_code == 0
    return path


def script(d0ctl: Type, job: str) -> str:
    """What the only binary of a job runs."""
    found: str = document(d0ctl("status", f"{job}/1/1/1/1", "--json").stdout)["script"]
    return found


def test_a_clone_has_the_parameters_of_the_job_and_the_next_free_name(
    file: Path, d0ctl: Type
) -> None:
    assert d0ctl("clone", "good").stdout == "submitted `good-001`: 1 package\n"
    assert d0ctl("clone", "good-001").stdout == "submitted `good-002`: 1 package\n"

    assert "echo bye small" in script(d0ctl, "good-002")


def test_a_clone_takes_other_parameters_and_a_name(file: Path, d0ctl: Type) -> None:
    assert d0ctl("clone", "good", "--set", "size=large", "--as", "wide").exit_code == 0

    assert "echo bye large" in script(d0ctl, "wide")


def test_a_clone_is_of_the_file_as_it_was_submitted(file: Path, d0ctl: Type) -> None:
    file.unlink()

    assert d0ctl("clone", "good").exit_code == 0
    assert "echo bye small" in script(d0ctl, "good-001")


def test_a_rehearsal_of_a_clone_submits_nothing(file: Path, d0ctl: Type) -> None:
    reply = d0ctl("clone", "good", "--dry-run")

    assert reply.stdout == "would submit `good-001`: 1 stage, 1 line, 1 package\n"
    assert d0ctl("status", "good-001").exit_code == 3


def test_a_parameter_that_the_job_does_not_have_is_a_fault(file: Path, d0ctl: Type) -> None:
    reply = d0ctl("clone", "good", "--set", "wrod=x")

    assert reply.exit_code == 2
    assert "the job has no parameter `wrod` to set (did you mean `word`?)" in reply.stderr


def test_only_one_whole_job_is_cloned(site: Site, file: Path, d0ctl: Type) -> None:
    site.submit(production())

    assert "`clone` takes just one" in d0ctl("clone", "*").stderr
    reply = d0ctl("clone", "prod")
    assert (reply.exit_code, "was not made from a job file" in reply.stderr) == (4, True)
    assert d0ctl("clone", "nobody").exit_code == 3
