"""Job files that are made of a command."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from d0ctl.errors import BadUsage
from d0ctl.jobfile.command import Command


def line_of(folder: Path, *words: str, **more: Any) -> dict[str, Any]:
    """The only line of the job file of a command."""
    document = yaml.safe_load(Command(words, **more).text(folder))
    found: dict[str, Any] = document["stages"][0]["lines"][0]
    return found


@pytest.mark.parametrize(
    ("array", "values"),
    [
        ("1-200", {"range": ["1", "200"]}),
        ("0-100:5", {"range": ["0", "100", "5"]}),
        ("001-100", {"range": ["001", "100"]}),
        ("7", {"list": ["7"]}),
        ("1,5,9", {"list": ["1", "5", "9"]}),
        ("1-3, 08-10", {"list": ["1", "2", "3", "08", "09", "10"]}),
    ],
)
def test_an_array_is_written_as_slurm_writes_it(
    tmp_path: Path, array: str, values: dict[str, Any]
) -> None:
    assert line_of(tmp_path, "echo", "{n}", array=array)["for"] == {"n": values}


@pytest.mark.parametrize("array", ["", "x", "1-", "1-2-3", "1;2", "5-1,2", "1-5%", "1-5%x"])
def test_an_invalid_array_is_refused(tmp_path: Path, array: str) -> None:
    with pytest.raises(BadUsage, match="--array"):
        line_of(tmp_path, "echo", array=array)


def test_an_array_may_limit_how_many_run_at_a_time(tmp_path: Path) -> None:
    document = yaml.safe_load(Command(("echo", "{n}"), array="1-9%4").text(tmp_path))

    assert document["stages"][0]["max-running"] == "4"
    assert document["stages"][0]["lines"][0]["for"] == {"n": {"range": ["1", "9"]}}


def test_words_run_without_a_shell_and_a_text_runs_in_one(tmp_path: Path) -> None:
    assert line_of(tmp_path, "awk", "{print $1}", "a b")["run"] == ["awk", "{print $1}", "a b"]
    text = "echo {n} | wc"
    assert line_of(tmp_path, text, array="1-2")["run"] == text


def test_files_that_the_words_name_become_inputs(tmp_path: Path) -> None:
    for name in ("sim.sh", "card-1.txt", "card-2.txt"):
        (tmp_path / name).touch()
    words = ("./sim.sh", "card-{n}.txt", "other.txt", "--n=3")

    assert line_of(tmp_path, *words, array="1-2")["inputs"] == ["sim.sh", "card-{n}.txt"]
    assert line_of(tmp_path, "./sim.sh x")["inputs"] == ["sim.sh"]
    assert line_of(tmp_path, *words, array="1-2", inputs=("a", "sim.sh"))["inputs"] == [
        "sim.sh", "card-{n}.txt", "a",
    ]  # fmt: skip
    assert line_of(tmp_path, "./sim.sh", "{line}", lines=("card-2.txt",))["inputs"] == [
        "sim.sh", "{line}",
    ]  # fmt: skip


def test_a_program_here_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(BadUsage, match=r"there is no program `./sim.sh` here"):
        line_of(tmp_path, "./sim.sh")


def test_an_output_with_a_wildcard_is_late(tmp_path: Path) -> None:
    line = line_of(tmp_path, "make", outputs=("a.root", "*.txt"))

    assert line["outputs"] == ["a.root", {"file": "*.txt", "late": "yes"}]


def test_the_job_is_named_by_its_program(tmp_path: Path) -> None:
    (tmp_path / "sim.sh").touch()

    assert Command(("./sim.sh", "1")).name == "sim"
    assert Command(("echo a | wc",)).name == "echo"
    assert yaml.safe_load(Command(("echo", "a b")).text(tmp_path))["title"] == "echo 'a b'"
