"""The example job files, as the reader understands them."""

import itertools
from pathlib import Path

from d0ctl.construct.reader import read
from d0ctl.construct.spec import JobSpec, PackageSpec

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def packages(job: JobSpec) -> list[list[PackageSpec]]:
    """The packages of a job, stage by stage."""
    return [[package for line in stage.lines for package in line.packages] for stage in job.stages]


def test_hello_is_four_greetings_and_a_merge() -> None:
    job = read(EXAMPLES / "hello" / "job.yaml")

    assert job.name == "hello"
    assert [len(stage) for stage in packages(job)] == [4, 1]


def test_zpeak_is_eight_lines_of_four_binaries_then_merge_and_plot() -> None:
    job = read(EXAMPLES / "zpeak" / "job.yaml")
    chain, merge, plot = packages(job)

    assert job.name == "zpeak"
    assert [package.name for package in chain[:3]] == ["generate", "simulate", "reconstruct"]
    assert [binary.name for binary in chain[2].binaries] == ["reconstruct", "recoanalyze"]
    assert [len(chain), len(merge), len(plot)] == [24, 1, 1]
    assert [len(package.binaries) for package in chain] == [1, 1, 2] * 8


def test_zpeak_takes_python_and_the_number_of_events_from_the_command_line() -> None:
    job = read(EXAMPLES / "zpeak" / "job.yaml", {"python": "/opt/python", "events": "10"})
    script = packages(job)[0][0].binaries[0].script

    assert script is not None
    assert script.startswith("/opt/python generate.py")
    assert "--events 10 " in script


def test_every_script_of_zpeak_is_an_input_of_its_binary() -> None:
    stages = packages(read(EXAMPLES / "zpeak" / "job.yaml"))

    for package in itertools.chain.from_iterable(stages):
        for binary in package.binaries:
            name = (binary.script or "").split()[1]
            assert str(EXAMPLES / "zpeak" / name) in [item.file for item in binary.inputs]
