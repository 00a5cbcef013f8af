"""Directories as inputs and outputs of an attempt: they travel packed, as one file."""

import hashlib
import os
import subprocess
import tarfile
from pathlib import Path

import pytest

from d0ctl_wrapper.host import packing
from tests.wrapper.client import Client, binary
from tests.wrapper.test_chain import given, output
from tests.wrapper.test_late import late, names


def packed(folder: Path, target: Path) -> bytes:
    """Return what a directory is packed into."""
    packing.pack(os.fsencode(folder), os.fsencode(target), lambda: None)
    return target.read_bytes()


@pytest.fixture
def calib(tmp_path: Path) -> Path:
    """A directory with all that one may have."""
    folder = tmp_path / "calib"
    (folder / "sub" / "empty").mkdir(parents=True)
    (folder / "sub" / "größe").write_text("x" * 1000)
    (folder / "run.sh").write_text("echo\n")
    (folder / "run.sh").chmod(0o755)
    (folder / "latest").symlink_to("sub/größe")
    (folder / ("n" * 150)).write_text("long")
    return folder


def test_a_directory_is_packed_as_gnu_tar_does_it(calib: Path, tmp_path: Path) -> None:
    (calib / ("n" * 150)).unlink()
    words = ["tar", "--format=gnu", "-b1", "--sort=name", "--mtime=@0", "--owner=0", "--group=0"]
    words += ["--numeric-owner", "--mode=u=rwX,go=rX", "-C", str(calib), "-cf", "-", "."]

    expected = subprocess.run(words, check=True, stdout=subprocess.PIPE).stdout

    assert packed(calib, tmp_path / "calib.tar") == expected


def test_the_checksum_of_a_directory_is_known_without_packing_it(
    calib: Path, tmp_path: Path
) -> None:
    made = packed(calib, tmp_path / "calib.tar")

    checksum = f"sha256:{hashlib.sha256(made).hexdigest()}"
    assert packing.digest(os.fsencode(calib)) == (len(made), checksum)


def test_the_packed_file_depends_on_nothing_but_the_contents(calib: Path, tmp_path: Path) -> None:
    again = tmp_path / "again"
    subprocess.run(["cp", "-r", "--no-dereference", str(calib), str(again)], check=True)
    os.utime(again / "run.sh", (1, 1))
    (again / "run.sh").chmod(0o700)

    first, second = packed(calib, tmp_path / "1.tar"), packed(again, tmp_path / "2.tar")

    assert first == second
    (again / "run.sh").write_text("ECHO\n")
    assert packed(again, tmp_path / "3.tar") != first


def test_each_attempt_gets_its_own_copy_of_a_directory(
    node: Client, calib: Path, tmp_path: Path
) -> None:
    packed(calib, tmp_path / "calib.tar")
    script = "cat in/latest; test -x in/run.sh; ls in/sub; echo more >> in/run.sh"
    entry = given(tmp_path / "calib.tar", name="in/")

    ends = [node.run(binary(script=script), inputs=[entry], attempt=number) for number in (1, 2)]

    assert [end["outcome"] for end in ends] == ["successful", "successful"]
    for number in (1, 2):
        assert (node.folder(number) / "1.out").read_text() == "x" * 1000 + "empty\ngröße\n"
        assert not (node.folder(number) / "work").exists()


def test_a_directory_in_place_is_read_there(node: Client, calib: Path) -> None:
    end = node.run(binary("cat", "in/latest"), inputs=[given(calib, name="in/")])

    assert end["outcome"] == "successful"
    assert (node.folder(1) / "1.out").read_text() == "x" * 1000


def test_an_output_directory_is_kept_as_one_file(node: Client, tmp_path: Path) -> None:
    script = "mkdir -p plots/all; echo one > plots/all/1; ln -s all/1 plots/first"

    end = node.run(binary(script=script, outputs=[output("plots/", 4)]), keep=["plots/"])

    assert end["outcome"] == "successful", end
    (kept,) = end["outputs"]
    assert (kept["name"], kept["path"]) == ("plots/", str(node.base / "cache/1/plots"))
    assert Path(kept["path"]).stat().st_size == kept["size"]
    with tarfile.open(kept["path"]) as tar:
        assert tar.getnames() == [".", "./all", "./all/1", "./first"]
    assert sorted(path.name for path in node.folder(1).iterdir() if path.is_dir()) == []


@pytest.mark.parametrize(
    ("script", "reason", "detail"),
    [
        ("touch plots", "missing-output", "output `plots/` is not a directory"),
        ("true", "missing-output", "output `plots/` is missing"),
        ("ln -s /etc plots", "missing-output", "is outside of the working directory"),
        ("mkdir plots; echo 1 > plots/1", "missing-output", "has 2 bytes, less than 4"),
        ("mkdir plots; ln -s ../1.sh plots/x; echo 123 > plots/y", "verification",
         "link `x` in it points outside, to `../1.sh`"),
        ("mkdir plots; mkfifo plots/x; echo 123 > plots/y", "verification",
         "`x` in it is neither file, directory nor link"),
    ],
)  # fmt: skip
def test_an_incomplete_directory_fails(node: Client, script: str, reason: str, detail: str) -> None:
    end = node.run(binary(script=script, outputs=[output("plots/", 4)]), keep=["plots/"])

    assert (end["outcome"], end["reason"]) == ("failed", reason)
    assert "output `plots/`" in end["detail"] and detail in end["detail"]
    assert not (node.base / "cache/1").exists()


def test_a_file_that_is_no_packed_directory_fails(node: Client, tmp_path: Path) -> None:
    (tmp_path / "notes").write_text("notes")

    end = node.run(binary("true"), inputs=[given(tmp_path / "notes", name="in/")])

    assert end["reason"] == "stage-in"
    assert "notes` is not a packed directory" in end["detail"]


def test_late_directories_are_found_without_those_of_inputs(node: Client, tmp_path: Path) -> None:
    (tmp_path / "x").touch()
    script = "mkdir one two; touch one/a three"
    step = binary(script=script, outputs=[late("*/")])

    end = node.run(step, keep=["*/"], inputs=[given(tmp_path / "x", name="in/x")])

    assert names(end) == {"one/": "*/", "two/": "*/"}


def test_a_chain_goes_on_behind_a_whole_directory(node: Client) -> None:
    first = binary(script="mkdir a; echo a > a/a", outputs=[output("a/")])
    second = binary(script="test -e go; cat a/a", outputs=[output("b")], inputs=["a/"])
    end = node.run(first, second, keep=["a/", "b"])
    assert end["outcome"] == "failed"

    ready = {**second, "script": "cat a/a > b"}
    previous = [{"attempt": 1, "number": 1, "retained": end["retained"]}]
    again = node.run(first, ready, attempt=2, previous=previous, keep=["a/", "b"])

    assert (again["outcome"], again["began"]) == ("successful", 2), again
    assert (node.base / "cache/2/b").read_text() == "a\n"
