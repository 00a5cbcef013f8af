"""Files are merged by their type, in a process of its own as on a node."""

import bz2
import gzip
import io
import lzma
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from d0ctl_wrapper import merge_types
from tests.support.waiting import PATIENCE_S, wait_until

VENV = Path(sys.executable).parent


def merged(folder: Path, output: str, **contents: bytes) -> bytes:
    """What comes of files `a`, `b`, with the suffix of the output."""
    suffix = output[output.index(".") :]
    names = []
    for name, content in contents.items():
        (folder / f"{name}{suffix}").write_bytes(content)
        names.append(f"{name}{suffix}")
    reply = merge(folder, output, names)
    assert reply.returncode == 0, reply.stderr
    return (folder / output).read_bytes()


def merge(folder: Path, output: str, names: list[str]) -> subprocess.CompletedProcess[str]:
    """Merge files that are there."""
    (folder / "list").write_text("".join(f"{name}\n" for name in names))
    (folder / "list.closed").touch()
    return subprocess.run(
        [*merge_types.command(), output], cwd=folder, env=environment(folder),
        capture_output=True, text=True, check=False,
    )  # fmt: skip


def environment(folder: Path) -> dict[str, str]:
    """What a binary finds in its environment."""
    path = f"{VENV}:{os.environ['PATH']}"
    return {"D0CTL_INPUTS": str(folder / "list"), "PATH": path, "HOME": str(folder)}


@pytest.mark.parametrize("suffix", [".txt", ".log", ".jsonl", ".dat"])
def test_texts_are_concatenated_with_a_line_end_after_each(tmp_path: Path, suffix: str) -> None:
    assert merged(tmp_path, f"all{suffix}", a=b"1\n2\n", b=b"3", c=b"", d=b"4") == b"1\n2\n3\n4\n"


def test_tables_keep_their_header_once(tmp_path: Path) -> None:
    assert merged(tmp_path, "all.csv", a=b"x,y\n1,2\n", b=b"x,y\r\n3,4", c=b"") == (
        b"x,y\n1,2\n3,4\n"
    )
    assert merged(tmp_path, "all.tsv", a=b'"a\nb"\tc\n1\t2\n', b=b'"a\nb"\tc\n3\t4\n') == (
        b'"a\nb"\tc\n1\t2\n3\t4\n'
    )


def test_tables_with_other_headers_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    (tmp_path / "b.csv").write_text("x,z\n1,2\n")

    reply = merge(tmp_path, "all.csv", ["a.csv", "b.csv"])

    assert reply.returncode == 1
    assert reply.stderr == (
        "d0ctl-merge: the header of `b.csv` differs from that of the files before\n"
    )


@pytest.mark.parametrize(("suffix", "packing"), [(".gz", gzip), (".bz2", bz2), (".xz", lzma)])
def test_packed_tables_keep_their_header_once(
    tmp_path: Path, suffix: str, packing: ModuleType
) -> None:
    rows = {name: packing.compress(b"x,y\n" + row) for name, row in (("a", b"1,2"), ("b", b"3,4"))}

    found = merged(tmp_path, f"all.csv{suffix}", **rows)

    assert packing.decompress(found) == b"x,y\n1,2\n3,4\n"


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz"])
def test_a_packed_table_that_is_damaged_is_refused(tmp_path: Path, suffix: str) -> None:
    packing = {".gz": gzip, ".bz2": bz2, ".xz": lzma}[suffix]
    for name, damaged in (("a", b"no table"), ("b", packing.compress(b"x,y\n1,2\n")[:-9])):
        (tmp_path / f"{name}.csv{suffix}").write_bytes(damaged)
        reply = merge(tmp_path, f"all.csv{suffix}", [f"{name}.csv{suffix}"])

        assert (reply.returncode, "Traceback" in reply.stderr) == (1, False)
        assert reply.stderr.startswith("d0ctl-merge: ")


def test_packed_texts_stay_packed(tmp_path: Path) -> None:
    found = merged(tmp_path, "all.txt.gz", a=gzip.compress(b"1\n"), b=gzip.compress(b"2\n"))

    assert gzip.decompress(found) == b"1\n2\n"


def tar_of(**members: bytes) -> bytes:
    """A tar file."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as tar:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return packed.getvalue()


def test_archives_hold_the_members_of_all(tmp_path: Path) -> None:
    packed = merged(tmp_path, "all.tar.gz", a=tar_of(one=b"1"), b=tar_of(two=b"22"))
    with tarfile.open(fileobj=io.BytesIO(packed), mode="r:gz") as tar:
        assert {member.name: member.size for member in tar} == {"one": 1, "two": 2}

    for name in "ab":
        with zipfile.ZipFile(tmp_path / f"{name}.zip", "w") as archive:
            archive.writestr(f"{name}.txt", name)
    assert merge(tmp_path, "all.zip", ["a.zip", "b.zip"]).returncode == 0
    with zipfile.ZipFile(tmp_path / "all.zip") as archive:
        assert archive.namelist() == ["a.txt", "b.txt"]


def test_two_members_of_one_name_are_refused(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.tar").write_bytes(tar_of(same=b"1"))

    reply = merge(tmp_path, "all.tar", ["a.tar", "b.tar"])

    assert (reply.returncode, reply.stderr) == (
        1, "d0ctl-merge: `same` is in `a.tar` and in `b.tar`\n",
    )  # fmt: skip


def test_a_file_that_is_no_archive_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.zip").write_text("no zip")

    reply = merge(tmp_path, "all.zip", ["a.zip"])

    assert (reply.returncode, "Traceback" in reply.stderr) == (1, False)


def test_histograms_are_added_and_trees_are_chained(tmp_path: Path) -> None:
    import uproot  # type: ignore[import-untyped]  # heavy, and all workers import this module

    for name, first in (("a", 0), ("b", 3)):
        with uproot.recreate(tmp_path / f"{name}.root") as file:
            file["mass"] = np.histogram([first + 0.5, 1.5], bins=4, range=(0, 4))
            file["events"] = {"e": np.arange(first, first + 3)}
            file.mktree("tree", {"e": np.dtype("int64")})
            file["tree"].extend({"e": np.arange(first, first + 3)})

    reply = merge(tmp_path, "all.root", ["a.root", "b.root"])

    assert reply.returncode == 0, reply.stderr
    with uproot.open(tmp_path / "all.root") as file:
        assert file["mass"].values().tolist() == [1.0, 2.0, 0.0, 1.0]
        assert file["events"]["e"].array().tolist() == [0, 1, 2, 3, 4, 5]
        assert file["tree"]["e"].array().tolist() == [0, 1, 2, 3, 4, 5]


def test_histograms_keep_errors_overflow_titles_and_profiles(tmp_path: Path) -> None:
    import uproot

    make = uproot.writing.identify
    axis = make.to_TAxis("xaxis", "p [GeV]", 2, 0.0, 2.0)
    numbers = np.array([1.0, 2, 3, 4])
    nothing = np.array([])
    for name, squares in (("a", nothing), ("b", numbers**2)):
        with uproot.recreate(tmp_path / f"{name}.root") as file:
            file["mass"] = make.to_TH1x(
                "mass", "Z mass", numbers, 10.0, 5.0, 25.0, 5.0, 5.0, squares, axis
            )
            file["d/mean"] = make.to_TProfile(
                "mean", "mean", 6 * numbers, 10.0, 5.0, 5.0, 5.0, 5.0, 30.0, 90.0,
                36 * numbers, numbers, squares, axis,
            )  # fmt: skip

    reply = merge(tmp_path, "all.root", ["a.root", "b.root"])

    assert reply.returncode == 0, reply.stderr
    with uproot.open(tmp_path / "all.root") as file:
        mass, mean = file["mass"], file["d/mean"]
        assert mass.values(flow=True).tolist() == [2.0, 4.0, 6.0, 8.0]
        assert mass.variances(flow=True).tolist() == [2.0, 6.0, 12.0, 20.0]
        assert (mass.title, mass.member("fXaxis").member("fTitle")) == ("Z mass", "p [GeV]")
        assert (mass.member("fEntries"), mass.member("fTsumwx")) == (20.0, 10.0)
        assert mean.values().tolist() == [6.0, 6.0]
        assert mean.member("fBinEntries")[:].tolist() == [2.0, 4.0, 6.0, 8.0]
        assert mean.member("fBinSumw2")[:].tolist() == [2.0, 6.0, 12.0, 20.0]


def test_what_uproot_can_not_merge_is_refused(tmp_path: Path) -> None:
    import uproot

    with uproot.recreate(tmp_path / "a.root") as file:
        file["comment"] = "a text"

    reply = merge(tmp_path, "all.root", ["a.root"])

    assert reply.returncode == 1
    assert "`comment` of `a.root` is a TObjString, which only `hadd` can merge" in reply.stderr


def test_root_files_need_hadd_or_uproot(tmp_path: Path) -> None:
    (tmp_path / "a.root").write_text("no root")
    damaged = merge(tmp_path, "all.root", ["a.root"])
    *words, code = merge_types.command()
    without = b"import sys; sys.executable = '/bin/false'; " + code
    bare = subprocess.run(
        [*words, without, "all.root"], cwd=tmp_path, capture_output=True, text=True, check=False,
        env={**environment(tmp_path), "PATH": str(tmp_path)},
    )  # fmt: skip

    assert (damaged.returncode, bare.returncode) == (1, 1)
    assert "ended with exit code 1" in damaged.stderr
    assert bare.stderr == (
        "d0ctl-merge: merging ROOT files needs `hadd` on PATH, or uproot: pip install uproot\n"
    )


def test_inputs_are_merged_as_they_arrive(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("1\n")
    (tmp_path / "list").write_text("a.txt\n")
    running = subprocess.Popen(
        [*merge_types.command(), "all.txt"], cwd=tmp_path, env=environment(tmp_path)
    )
    wait_until(lambda: (tmp_path / "all.txt").exists(), what="the merge has begun")
    assert running.poll() is None
    (tmp_path / "b.txt").write_text("2\n")
    with (tmp_path / "list").open("a") as file:
        file.write("b.txt\n")
    (tmp_path / "list.closed").touch()

    assert running.wait(PATIENCE_S) == 0
    assert (tmp_path / "all.txt").read_text() == "1\n2\n"


def test_the_longest_end_of_a_name_is_its_type() -> None:
    names = ("a.tar.gz", "a.csv.gz", "A.CSV", "a", "a.x")

    assert [merge_types.kind_of(name) for name in names] == ["tar", "csv", "csv", None, None]
