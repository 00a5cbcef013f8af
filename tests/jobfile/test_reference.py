"""The reference of the job file tells of every key."""

import re
from pathlib import Path

import pytest

from d0ctl.jobfile.sections.binaries import BINARY_KEYS
from d0ctl.jobfile.sections.files.inputs import INPUT_KEYS
from d0ctl.jobfile.sections.files.outputs import OUTPUT_KEYS
from d0ctl.jobfile.sections.stages import JOB_KEYS, LINE_KEYS, PACKAGE_KEYS, STAGE_KEYS

from .conftest import Read

REFERENCE = (Path(__file__).parents[2] / "docs" / "jobfile.md").read_text()

LEVELS = {
    "Job": JOB_KEYS,
    "Stage": STAGE_KEYS,
    "Line": LINE_KEYS,
    "Package": PACKAGE_KEYS,
    "Binary": BINARY_KEYS,
    "Input": INPUT_KEYS,
    "Output": OUTPUT_KEYS,
}


@pytest.mark.parametrize("level", LEVELS)
def test_the_reference_has_each_key_of_a_level(level: str) -> None:
    section = REFERENCE.split(f"### {level}\n")[1].split("\n##")[0]
    cells = re.findall(r"^\| (`.*?`) \|", section, re.MULTILINE)

    answer = {key for cell in cells for key in re.findall(r"`([^`]+)`", cell)}
    assert answer == set(LEVELS[level])


def test_the_jobs_of_the_reference_are_read(job: Read) -> None:
    blocks = re.findall(r"(?:^    .*\n)+", REFERENCE, re.MULTILINE)
    jobs = [block for block in blocks if "stages:" in block]

    assert [job(text.replace("\n    ", "\n")[4:]).packages for text in jobs] == [1, 4, 4, 202]
