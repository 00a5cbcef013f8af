"""What docs/comparison.md translates to is there: commands, options, keys, whole jobs."""

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from d0ctl.cli.app import app
from tests.support.help_page import help_of
from tests.support.key_tables import documented, loop_values

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "comparison.md").read_text()
PEERS = {"Slurm", "HTCondor", "Snakemake", "HyperQueue"}

KEYS = {key for page in ("jobfile", "policy", "sitefile") for _, key in documented(page)}
FAILURES = re.findall(r"^\| `([a-z-]+)`", (DOCS / "policy.md").read_text(), re.MULTILINE)
NAMES = {"NAME", "n", "name", "raw", "sample", "energy", "stem"}
"""Names that a user chooses."""


def ours() -> list[str]:
    """What stands in backticks in the last column of the tables of translation."""
    rows = re.findall(r"^\| .* \| (.*) \|$", PAGE.partition("\n## ")[2], re.MULTILINE)
    return [text for cell in rows for text in re.findall("`([^`]+)`", cell)]


COMMANDS = sorted({text for text in ours() if text.startswith("d0ctl ")})
TEXTS = sorted({text for text in ours() if not text.startswith("d0ctl ")})


def test_there_is_a_table_for_each_program() -> None:
    assert set(re.findall(r"^\| (\w+) \| d0ctl \|$", PAGE, re.MULTILINE)) == PEERS
    assert len(COMMANDS) > 50
    assert len(TEXTS) > 40


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_its_options(command: str) -> None:
    words = shlex.split(command.partition(" -- ")[0])[1:]
    name = " ".join(words[:2] if words[0] in ("node", "report", "daemon") else words[:1])
    help_text = help_of(name)

    assert help_text.startswith(f"Usage: d0ctl {name} [OPTIONS]")
    options = [word for word in words if word.startswith("-")]
    assert [
        word for word in options if not re.search(rf"(?<![\w-]){word}(?![\w-])", help_text)
    ] == []


@pytest.mark.parametrize("text", TEXTS)
def test_every_key_is_one_of_a_job_file_or_site_file(text: str) -> None:
    known = {*KEYS, *loop_values(), *FAILURES, *NAMES}
    keys = re.findall(r"([\w-]+): ", text)

    assert keys or text.strip("{}") in NAMES
    assert [key for key in keys if key not in known] == []


@pytest.mark.parametrize("number", range(len(PEERS)))
def test_every_job_is_valid_without_a_warning(number: int, tmp_path: Path) -> None:
    job = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)[number]
    (tmp_path / "job.yaml").write_text(job)
    for name in ("sim.sh", "reco.sh", "align.sh", "run1.raw", "run2.raw", "a.fq", "b.fq"):
        (tmp_path / name).write_text("#!/bin/sh\n")
        (tmp_path / name).chmod(0o755)

    answer = CliRunner().invoke(app, ["validate", "--strict", str(tmp_path / "job.yaml")])

    assert answer.exit_code == 0, answer.output
