"""What becomes of inputs and outputs in the folder of an attempt."""

import hashlib
import os
from pathlib import Path

import pytest

from tests.wrapper.client import Client, binary
from tests.wrapper.test_chain import given, output

AWKWARD = ["with space", "qu'ot\"e", "new\nline", "-n", "--", "größe-测试", "$HOME", "*"]


def test_inputs_are_linked_into_the_working_directory(node: Client, tmp_path: Path) -> None:
    raw = tmp_path / "raw"
    raw.write_text("event\n")
    end = node.run(binary("cat", "renamed"), inputs=[given(raw, 6, "renamed")])

    assert end["outcome"] == "successful"
    assert (node.folder(1) / "1.out").read_text() == "event\n"
    assert raw.read_text() == "event\n"


def test_missing_inputs_are_reported_before_any_binary_starts(node: Client, tmp_path: Path) -> None:
    there = tmp_path / "there"
    there.write_text("12345")
    gone, other = tmp_path / "gone", tmp_path / "other"
    end = node.run(binary("true"), inputs=[given(there, 5), given(gone), given(other)])

    assert (end["reason"], end["binary"], end["binaries"]) == ("missing-input", None, [])
    assert end["missing"] == [str(gone), str(other)]
    assert "gone" in end["detail"] and "1 more" in end["detail"]


def test_an_input_of_another_size_counts_as_missing(node: Client, tmp_path: Path) -> None:
    raw = tmp_path / "raw"
    raw.write_text("12345")
    end = node.run(binary("true"), inputs=[given(raw, 7)])

    assert (end["reason"], end["missing"]) == ("missing-input", [str(raw)])
    assert "5 bytes, not 7" in end["detail"]


def test_kept_outputs_go_to_the_cache_and_others_vanish(node: Client) -> None:
    script = "echo one > sub/x; echo two > y; echo three > z"
    outputs = [output("sub/x"), output("y", 4), output("z")]
    end = node.run(binary(script=script, outputs=outputs), keep=["sub/x", "y"])

    kept = node.base / "cache/1"
    described = [
        {key: file[key] for key in ("name", "path", "size", "checksum", "late")}
        for file in end["outputs"]
    ]
    assert described == [
        {
            "name": name,
            "path": str(kept / name),
            "size": 4,
            "checksum": f"sha256:{checksum}",
            "late": None,
        }
        for name, checksum in (
            ("sub/x", hashlib.sha256(b"one\n").hexdigest()),
            ("y", hashlib.sha256(b"two\n").hexdigest()),
        )
    ]
    assert (kept / "sub/x").read_text() == "one\n"
    assert not (kept / "z").exists() and not (node.folder(1) / "work").exists()


def test_names_with_all_kinds_of_characters_survive(node: Client, tmp_path: Path) -> None:
    folder = tmp_path / "raw"
    folder.mkdir()
    for name in AWKWARD:
        (folder / name).write_text(name)
    names = [f"out {name}" for name in AWKWARD]
    code = "import os, sys\nfor n in sys.argv[1:]: open('out ' + n, 'w').write(open(n).read())"
    python = os.path.realpath("/usr/bin/python3")
    step = binary(python, "-c", code, *AWKWARD, outputs=[output(name) for name in names])
    inputs = [given(folder / name) for name in AWKWARD]
    end = node.run({**step, "inputs": AWKWARD}, inputs=inputs, keep=names)

    assert end["outcome"] == "successful", end
    assert [entry["name"] for entry in end["outputs"]] == names
    assert [(node.base / "cache/1" / f"out {name}").read_text() for name in AWKWARD] == AWKWARD
    assert (node.folder(1) / "inputs").read_text() == "".join(f"{name}\n" for name in AWKWARD)


@pytest.mark.parametrize(
    ("script", "detail"),
    [
        ("true", "is missing"),
        ("mkdir x", "is a directory: declare it with `/` at its end"),
        ("mkfifo x", "is not a file"),
        ("echo 123 > x", "has 4 bytes, less than 9"),
        ("ln -s /etc/passwd x", "is outside of"),
        ("ln -s nowhere x", "is missing"),
        ("ln -s x x", "is missing"),
        ("ln -s ../1.sh x", "is outside of"),
    ],
)
def test_an_output_that_is_not_a_file_is_missing(node: Client, script: str, detail: str) -> None:
    end = node.run(binary(script=script, outputs=[output("x", 9)]), keep=["x"])

    assert end["reason"] == "missing-output"
    assert "output `x`" in end["detail"] and detail in end["detail"]
    assert Path("/etc/passwd").exists() and not (node.base / "cache/1").exists()


@pytest.mark.parametrize(
    ("script", "others"),
    [
        ("true", "and no undeclared file was made"),
        ("touch Hist.root", "but there is `Hist.root`"),
        (
            "touch aaa.txt; mkdir -p d; touch d/hist.root",
            "but there are `d/hist.root` and `aaa.txt`",
        ),
        ("touch a b c d hist_1.root", "but there are `hist_1.root`, `a`, `b` and 2 others"),
        ("touch \"$(printf 'h\\033[1mist.root\\nx')\"", "but there is `hist.root x`"),
    ],
)
def test_a_missing_output_says_which_files_were_made_the_most_alike_first(
    node: Client, tmp_path: Path, script: str, others: str
) -> None:
    (tmp_path / "raw.dat").touch()
    made = [output("log"), output("hist.root")]
    end = node.run(
        binary(script=f"touch log; {script}", outputs=made), inputs=[given(tmp_path / "raw.dat")]
    )

    assert end["detail"].endswith(f", {others}"), end["detail"]


@pytest.mark.parametrize(
    ("script", "outputs", "expected"),
    [
        ("echo > a; mkdir d; echo > d/b", [], ["`a` and `d/b`"]),
        ("touch a b c d", [], ["`a`, `b`, `c` and 1 other"]),
        ("echo > a; echo > log", [output("log")], []),
        ("cat raw.dat", [], []),
    ],
)
def test_a_package_without_outputs_notes_which_files_are_not_kept(
    node: Client, tmp_path: Path, script: str, outputs: list[dict[str, object]], expected: list[str]
) -> None:
    (tmp_path / "raw.dat").touch()
    end = node.run(binary(script=script, outputs=outputs), inputs=[given(tmp_path / "raw.dat")])

    assert end["outcome"] == "successful"
    notes = [one["text"] for one in node.messages(1) if one["kind"] == "note"]
    assert notes == [f"not kept, as the package has no `outputs`: {files}" for files in expected]


def test_an_output_below_a_link_that_leads_out_is_missing(node: Client, tmp_path: Path) -> None:
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign/x").write_text("precious")
    script = f"ln -s '{tmp_path}/foreign' sub"
    end = node.run(binary(script=script, outputs=[output("sub/x")]), keep=["sub/x"])

    assert (end["reason"], end["outputs"]) == ("missing-output", [])
    assert (tmp_path / "foreign/x").read_text() == "precious"


def test_an_unchanged_input_is_not_an_output(node: Client, tmp_path: Path) -> None:
    raw = tmp_path / "x"
    raw.write_text("precious")
    end = node.run(binary("true", outputs=[output("x")]), inputs=[given(raw)], keep=["x"])

    assert "still the input" in end["detail"]
    assert raw.read_text() == "precious"


def test_a_file_that_replaces_an_input_is_an_output(node: Client, tmp_path: Path) -> None:
    raw = tmp_path / "x"
    raw.write_text("old")
    step = binary(script="cat x > y; echo new >> y; mv y x", outputs=[output("x")])
    end = node.run(step, inputs=[given(raw)], keep=["x"])

    assert end["outcome"] == "successful"
    assert (node.base / "cache/1/x").read_text() == "oldnew\n"
    assert raw.read_text() == "old"


def test_a_failure_keeps_no_outputs_of_the_binary_that_failed(node: Client) -> None:
    step = binary(script="echo 1 > x", outputs=[output("x"), output("never-made")])
    end = node.run(step, keep=["x", "never-made"])

    assert (end["reason"], end["retained"]) == ("missing-output", None)
    assert not (node.base / "cache/1").exists()


def test_a_working_directory_of_read_only_folders_is_removed(node: Client) -> None:
    node.run(binary(script="mkdir -p a/b/c; touch a/b/c/d; chmod 0 a/b/c; chmod 500 a/b a"))

    assert not (node.folder(1) / "work").exists()
