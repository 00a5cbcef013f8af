"""Files on their way: whole and right, or absent; and damaged ones are detected."""

import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from d0ctl.errors import D0Error, NotFound
from d0ctl.nodes import carry
from d0ctl.nodes.carry import Copy, checksum_of
from d0ctl.nodes.courier_reports import FileFacts
from d0ctl.nodes.link import Site
from d0ctl.nodes.transports.download import NoSpace, Oversized, WrongFile
from d0ctl.nodes.transports.local import LocalTransport
from d0ctl_wrapper.host import packing
from tests.support.durability import assert_settled, journal
from tests.support.waiting import wait_until

TEXT = b"x" * 3_000_000

DIES = """
import sys, threading
from pathlib import Path
from d0ctl.nodes import carry
def stop(*words):
    Path(sys.argv[4]).touch()
    threading.Event().wait()
carry._settle = stop
carry.copy_here(carry.Copy(sys.argv[1], sys.argv[2], None, None, sys.argv[3]))
"""
"""A process that never comes to the end of a copy."""


class RecordingCourier:
    """A link to a node that is this machine, and a courier that asks it in one."""

    def __init__(self, base: Path, answer: dict[str, Any] | None = None) -> None:
        self.base = str(base)
        self.site = Site("site", base, base, base)
        self.transport = LocalTransport("n1")
        self.answer = answer or {}
        self.asked: list[dict[str, Any]] = []

    def ask(self, link: object, frame: dict[str, Any], timeout: float) -> dict[str, Any]:
        """Remember the question, and give the answer that the test wants."""
        self.asked.append(frame)
        return self.answer


def known(path: Path, target: Path) -> Copy:
    """A copy of a file whose size and checksum are known."""
    size, checksum = checksum_of(path)
    return Copy(str(path), str(target), size, checksum)


def fetch(copy: Copy, courier: RecordingCourier) -> FileFacts:
    """Fetch from that node."""
    return carry.fetch(copy, courier, courier)  # type: ignore[arg-type]


def bring(copy: Copy, courier: RecordingCourier) -> FileFacts:
    """Bring to that node."""
    return carry.bring(copy, courier, courier)  # type: ignore[arg-type]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A file to be carried."""
    path = tmp_path / "source"
    path.write_bytes(TEXT)
    return path


def leftovers(folder: Path) -> list[str]:
    """The files below a folder."""
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def test_a_file_is_fetched_whole_into_new_folders(tmp_path: Path, source: Path) -> None:
    target = tmp_path / "results" / "job" / "deep" / "name"

    answer = fetch(known(source, target), RecordingCourier(tmp_path))

    assert target.read_bytes() == TEXT
    assert answer[:2] == checksum_of(source)
    assert leftovers(tmp_path / "results") == ["name"]


def test_a_file_that_is_gone_is_reported_as_gone(tmp_path: Path) -> None:
    copy = Copy(str(tmp_path / "nothing"), str(tmp_path / "there" / "x"), None, None)

    with pytest.raises(NotFound):
        fetch(copy, RecordingCourier(tmp_path))
    with pytest.raises(NotFound):
        bring(copy, RecordingCourier(tmp_path))
    with pytest.raises(NotFound):
        carry.copy_here(copy)
    assert leftovers(tmp_path / "there") == []


def test_a_file_damaged_on_its_node_counts_as_lost(tmp_path: Path, source: Path) -> None:
    copy = known(source, tmp_path / "there" / "x")
    source.write_bytes(b"y" * len(TEXT))
    size, checksum = checksum_of(source)
    courier = RecordingCourier(tmp_path, {"ok": True, "size": size, "checksum": checksum})

    with pytest.raises(WrongFile, match="its checksum differs"):
        fetch(copy, courier)

    assert [frame["path"] for frame in courier.asked] == [str(source)]
    assert leftovers(tmp_path / "there") == []


def test_a_file_damaged_in_transit_is_tried_again(tmp_path: Path, source: Path) -> None:
    copy = known(source, tmp_path / "there" / "x")
    source.write_bytes(TEXT[:100])
    courier = RecordingCourier(tmp_path, {"ok": True, "size": copy.size, "checksum": copy.checksum})

    with pytest.raises(D0Error, match="on its node is intact") as failed:
        fetch(copy, courier)

    assert not isinstance(failed.value, NotFound)


def test_an_oversized_file_counts_as_lost_and_is_not_copied(tmp_path: Path, source: Path) -> None:
    copy = replace(known(source, tmp_path / "there" / "x"), size=10)
    courier = RecordingCourier(tmp_path)

    with pytest.raises(Oversized, match="larger than its 10 bytes"):
        fetch(copy, courier)

    assert courier.asked == []
    assert leftovers(tmp_path / "there") == []


def test_no_file_is_copied_that_would_use_the_reserve(tmp_path: Path, source: Path) -> None:
    copy = known(source, tmp_path / "there" / "x")
    courier = RecordingCourier(tmp_path)
    courier.site = replace(courier.site, reserve=1 << 60)

    with pytest.raises(NoSpace, match="are kept free") as failed:
        fetch(copy, courier)
    with pytest.raises(NoSpace):
        carry.copy_here(copy, 1 << 60)

    assert not isinstance(failed.value, NotFound)
    assert leftovers(tmp_path / "there") == []


def test_a_file_that_was_copied_is_on_the_disk_with_its_name(tmp_path: Path, source: Path) -> None:
    target = tmp_path / "results" / "job" / "file"

    with journal() as steps:
        carry.copy_here(known(source, target))

    assert_settled(steps, target)
    assert ("fsync", target.parent.parent) in steps


def test_a_damaged_local_file_is_not_sent(tmp_path: Path, source: Path) -> None:
    copy = known(source, tmp_path / "there" / "x")
    source.write_bytes(b"short")

    with pytest.raises(WrongFile, match="5 bytes instead of 3000000"):
        bring(copy, RecordingCourier(tmp_path))
    with pytest.raises(WrongFile, match="5 bytes instead of 3000000"):
        carry.copy_here(copy)


def test_a_file_is_brought_aside_and_its_node_takes_it(tmp_path: Path, source: Path) -> None:
    courier = RecordingCourier(tmp_path / "base", {"ok": True, "message": ""})

    bring(known(source, tmp_path / "base" / "cache" / "in" / "7" / "source"), courier)

    (frame,) = courier.asked
    assert Path(frame["aside"]).read_bytes() == TEXT
    assert Path(frame["aside"]).parent == tmp_path / "base" / "cache" / "aside"
    assert (frame["kind"], frame["size"]) == ("take", len(TEXT))


def test_a_copy_that_a_node_refuses_is_an_error_and_not_a_loss(
    tmp_path: Path, source: Path
) -> None:
    courier = RecordingCourier(tmp_path / "base", {"ok": False, "message": "the disk is full"})

    with pytest.raises(D0Error, match="the disk is full") as failed:
        bring(known(source, tmp_path / "x"), courier)

    assert not isinstance(failed.value, NotFound)


def test_a_file_of_unknown_size_is_copied_unchanged(tmp_path: Path, source: Path) -> None:
    target = tmp_path / "there" / "x"

    found = carry.copy_here(Copy(str(source), str(target), None, None))
    assert found[:2] == checksum_of(source)
    assert target.read_bytes() == TEXT


def test_a_file_made_aside_appears_only_when_it_is_whole(tmp_path: Path, source: Path) -> None:
    copy = replace(known(source, tmp_path / "there" / "x"), aside=str(tmp_path / "aside"))

    carry.copy_here(copy)

    assert leftovers(tmp_path / "there") == ["x"]
    assert leftovers(tmp_path / "aside") == []


def test_files_of_a_killed_process_are_swept_and_those_of_a_live_one_stay(
    tmp_path: Path, source: Path
) -> None:
    mark = tmp_path / "mark"
    dead = subprocess.Popen([sys.executable, "-c", DIES, source, tmp_path / "x", tmp_path, mark])
    wait_until(mark.exists)
    carry.sweep(tmp_path)
    assert len(list(tmp_path.glob(".*"))) == 1

    dead.kill()
    dead.wait()
    carry.sweep(tmp_path)

    assert not list(tmp_path.glob(".*"))


def test_a_directory_is_unpacked_in_place_of_a_former_one(tmp_path: Path) -> None:
    (tmp_path / "plots").mkdir()
    (tmp_path / "plots" / "all.txt").write_text("new")
    packed, target = tmp_path / "packed", tmp_path / "results" / "plots"
    packing.pack(bytes(tmp_path / "plots"), bytes(packed), lambda: None)
    target.mkdir(parents=True)
    (target / "former.txt").touch()

    carry.copy_here(Copy(str(packed), str(target), None, None, is_unpacked=True))

    assert [(path.name, path.read_text()) for path in target.iterdir()] == [("all.txt", "new")]
    assert [path.name for path in target.parent.iterdir()] == ["plots"]


@pytest.mark.parametrize("form", ["w:gz", "sparse", "text"])
def test_an_archive_that_may_grow_is_not_unpacked(tmp_path: Path, form: str) -> None:
    packed, target = tmp_path / "packed", tmp_path / "results" / "plots"
    (tmp_path / "zeros").write_bytes(bytes(1_000_000))
    if form == "text":
        packed.write_text("notes")
    elif form == "sparse":
        with (tmp_path / "holes").open("wb") as file:
            file.truncate(100_000_000)
        words = ["tar", "--sparse", "-C", str(tmp_path), "-cf", str(packed), "holes"]
        subprocess.run(words, check=True)
    else:
        with tarfile.open(packed, "w:gz") as tar:
            tar.add(tmp_path / "zeros", "zeros")

    with pytest.raises(WrongFile, match="is not a packed directory"):
        carry.copy_here(Copy(str(packed), str(target), None, None, is_unpacked=True))

    assert not target.exists()
