"""Folders of declared outputs, which the wrapper makes before each binary."""

from pathlib import Path

import pytest

from tests.wrapper.client import Client, binary
from tests.wrapper.test_chain import given, output
from tests.wrapper.test_late import late, names


def test_the_folders_of_outputs_are_there_before_each_binary(node: Client) -> None:
    first = binary(script="find . -type d > dirs; echo 1 > a/b/1", outputs=[output("a/b/1")])
    second = binary(script="find . -type d >> dirs; echo 2 > c/2", outputs=[output("c/2")])

    end = node.run(first, second, binary("cat", "dirs"), keep=["a/b/1", "c/2"])

    assert end["outcome"] == "successful", end
    found = (node.folder(1) / "3.out").read_text().split()
    assert sorted(found) == sorted([".", "./a", "./a/b", ".", "./a", "./a/b", "./c"])
    assert (node.base / "cache/1/a/b/1").read_text() == "1\n"


def test_the_fixed_folders_of_a_pattern_are_made(node: Client) -> None:
    outputs = [late("o/p/*.txt"), late("q/x*/y/*", min_count=0), late("*/z", min_count=0)]

    end = node.run(
        binary(script="find * -type d | sort; touch o/p/1.txt", outputs=outputs), keep=["o/p/*.txt"]
    )

    assert names(end) == {"o/p/1.txt": "o/p/*.txt"}
    assert (node.folder(1) / "1.out").read_text().split() == ["o", "o/p", "q"]


def test_a_directory_that_is_an_output_is_left_to_the_binary(node: Client) -> None:
    script = "ls -d */; mkdir all/plots; touch all/plots/1"

    end = node.run(binary(script=script, outputs=[output("all/plots/")]), keep=["all/plots/"])

    assert end["outcome"] == "successful", end
    assert (node.folder(1) / "1.out").read_text() == "all/\n"


def test_a_folder_that_an_earlier_binary_made_stays_as_it_is(node: Client) -> None:
    made = binary(script="mkdir -m 750 o; echo kept > o/kept", outputs=[output("o/")])
    told = binary(script="stat -c %a o; cat o/kept; touch o/x", outputs=[output("o/x")])

    end = node.run(made, told, keep=["o/x"])

    assert end["outcome"] == "successful", end
    assert (node.folder(1) / "2.out").read_text().split() == ["750", "kept"]


@pytest.mark.parametrize("end_of_link", ["there", "gone"])
def test_no_folder_is_made_outside_by_a_link(
    node: Client, tmp_path: Path, end_of_link: str
) -> None:
    (tmp_path / "there").mkdir()
    link = binary(script=f"ln -s {tmp_path}/{end_of_link} o; ln -s gone inner; touch plain")
    outputs = [output(name) for name in ("o/sub/deep/a", "inner/sub/a", "plain/sub/a")]

    end = node.run(link, binary(script="echo ran", outputs=outputs))

    assert (end["reason"], end["binary"]) == ("missing-output", 2)
    assert (node.folder(1) / "2.out").read_text() == "ran\n"
    assert not (tmp_path / "gone").exists() and not list((tmp_path / "there").iterdir())


def test_no_folder_is_made_in_an_input(node: Client, tmp_path: Path) -> None:
    (tmp_path / "calib").mkdir()
    step = binary(script="touch in/sub/a", outputs=[output("in/sub/a")])

    end = node.run(step, inputs=[given(tmp_path / "calib", name="in/")])

    assert end["outcome"] == "failed"
    assert not list((tmp_path / "calib").iterdir())


def test_the_next_attempt_of_a_wrapper_finds_no_folder_of_the_last_one(single: Client) -> None:
    for attempt, name in enumerate(("o/a", "p/a"), 1):
        step = binary(script=f"find . -type d; touch {name}", outputs=[output(name)])
        assert single.run(step, attempt=attempt, keep=[name])["outcome"] == "successful"

    assert (single.folder(2) / "1.out").read_text().split() == [".", "./p"]
