"""The bugs of `planted.yaml`."""

from pathlib import Path
from typing import NamedTuple

import yaml


class Mutant(NamedTuple):
    """A text that stands once in a file, what takes its place, and the tests that may notice."""

    file: str
    name: str
    old: str
    new: str
    tests: tuple[str, ...]


PLANTED = tuple(
    Mutant(file["file"], tests=tuple(file["tests"]), **bug)
    for file in yaml.safe_load(Path(__file__).with_suffix(".yaml").read_text())
    for bug in file["bugs"]
)
