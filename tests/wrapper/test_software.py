"""The software cache of a node: pulled whole and once, for those who need it, and verified."""

import os
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from d0ctl_wrapper.host import software_archive, software_cache
from d0ctl_wrapper.protocol.paths import NodePaths
from tests.support.archives import RECO, Server, member, packed
from tests.support.waiting import wait_until
from tests.wrapper.client import Client, binary, launch
from tests.wrapper.conftest import Connect
from tests.wrapper.ordering import ask, cached, names, order
from tests.wrapper.pythons import found, versions

Make = Callable[..., dict[str, Any]]


def out(node: Client, attempt: int = 1) -> list[str]:
    """What the first binary of an attempt printed."""
    return (node.folder(attempt) / "1.out").read_text().splitlines()


def test_a_binary_finds_its_software_on_its_path(node: Client, reco: Path) -> None:
    end = node.run(binary("reco-v12", software=order(reco)))

    assert end["outcome"] == "successful", end
    assert out(node) == [f"reco of {cached(node)}", "energy 1960"]
    assert names(node.base / "software") == [".aside", ".lock", "reco"]
    assert names(node.base / "software/.aside") == []


def test_only_a_binary_with_software_finds_it(node: Client, reco: Path) -> None:
    script = 'echo "${D0CTL_SOFTWARE-none}"; case $PATH in *software*) echo found;; esac'
    end = node.run(binary(script=script), binary("reco", software=order(reco)))

    assert end["outcome"] == "successful", end
    assert out(node) == ["none"]


def test_packages_that_start_together_unpack_software_once(
    node: Client, reco: Path, tmp_path: Path
) -> None:
    binaries = [binary(script="stat -c %i $D0CTL_SOFTWARE", software=order(reco))]
    node.launch(*(launch(number, *binaries) for number in range(1, 9)))
    ends = [node.end(number) for number in range(1, 9)]

    assert {end["outcome"] for end in ends} == {"successful"}
    assert len({out(node, number)[0] for number in range(1, 9)}) == 1


def test_software_for_every_platform_has_a_folder_too(node: Client, reco: Path) -> None:
    node.run(binary("reco", software=order(reco, platform="")))

    assert out(node)[0] == f"reco of {node.base}/software/reco/v12-01/any"


@pytest.mark.parametrize("mode", ["w", "w:bz2", "w:xz"])
def test_archives_may_be_compressed_in_many_ways(node: Client, tmp_path: Path, mode: str) -> None:
    path = packed(tmp_path / "reco.tar", RECO, mode)

    assert ask(node, "pull", order(path)) == (True, "installed", [])
    assert (cached(node) / "etc/again").read_text() == "energy 1960\n"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """A server of the test's folder."""
    server = Server(tmp_path)
    yield server
    server.close()


def test_software_comes_from_a_server_once(node: Client, reco: Path, server: Server) -> None:
    wanted = order(reco, f"{server.url}/reco.tar.gz")
    for attempt in (1, 2):
        end = node.run(binary("reco", software=wanted), attempt=attempt)
        assert end["outcome"] == "successful", end

    assert server.asked == ["/reco.tar.gz"]


@pytest.mark.parametrize(
    ("source", "reason", "expected"),
    [
        ("/reco-v13.tar.gz", "software-missing", "answers 404"),
        ("/broken", "stage-in", "answers 503"),
        ("/short", "stage-in", "only 9 of 1000 bytes arrived"),
    ],
)
def test_a_failing_server_has_another_reason_than_a_missing_archive(
    node: Client, reco: Path, server: Server, source: str, reason: str, expected: str
) -> None:
    end = node.run(binary("reco", software=order(reco, server.url + source)))

    assert (end["outcome"], end["reason"], end["binary"]) == ("failed", reason, None)
    assert expected in end["detail"]
    assert end["detail"].startswith("can't provide software `reco/v12-01`: ")


def test_an_unreachable_server_is_a_stage_in_failure(node: Client, reco: Path) -> None:
    end = node.run(binary("reco", software=order(reco, "http://127.0.0.1:9/reco.tar")))

    assert (end["reason"], "does not answer" in end["detail"]) == ("stage-in", True)


def test_a_missing_or_changed_archive_is_missing_software(
    node: Client, reco: Path, tmp_path: Path
) -> None:
    gone = node.run(binary("reco", software=order(reco, str(tmp_path / "no.tar"))), attempt=1)
    other = order(reco, checksum="sha256:" + "0" * 64)
    spoilt = node.run(binary("reco", software=other), attempt=2)

    assert (gone["reason"], "does not exist" in gone["detail"]) == ("software-missing", True)
    assert spoilt["reason"] == "software-missing"
    assert "its checksum differs" in spoilt["detail"]
    assert not cached(node).exists()


def test_a_file_url_with_signs_in_it_names_a_file_of_the_node(node: Client, tmp_path: Path) -> None:
    path = packed(tmp_path / "reco v12.tar", RECO)
    source = "file://" + str(path).replace(" ", "%20")

    assert ask(node, "pull", order(path, source))[0]


@pytest.mark.parametrize(
    ("members", "why"),
    [
        ([member("../up", "x")], "`../up` leads out of the archive"),
        ([member("/etc/x", "x")], "`/etc/x` leads out of the archive"),
        ([member("a/../../x", "x")], "leads out of the archive"),
        ([member("l", type=tarfile.SYMTYPE, linkname="/etc")], "link `l` leads out of the archive"),
        ([member("l", type=tarfile.SYMTYPE, linkname="../x")], "link `l` leads out of the archive"),
        (
            [member("l", type=tarfile.SYMTYPE, linkname="."), member("l/x", "x")],
            "`l/x` is below a file that is not a directory",
        ),
        (
            [
                member("p/x", type=tarfile.SYMTYPE, linkname="../deep"),
                member("deep/file", "x"),
                member("p/l", type=tarfile.SYMTYPE, linkname="x/../../q"),
            ],
            "link `p/l` leads out of the archive",
        ),
        (
            [member("h", type=tarfile.LNKTYPE, linkname="../../x")],
            "does not lead to a file of the archive",
        ),
        ([member("f", type=tarfile.FIFOTYPE)], "`f` is neither file, directory nor link"),
        ([member("a", "1"), member("./a", "2")], "it has `a` twice"),
        ([member(software_archive.RECORD, "{}")], "is reserved"),
    ],
)
def test_an_archive_that_leads_out_of_its_folder_is_refused(
    node: Client, tmp_path: Path, members: list[tuple[tarfile.TarInfo, bytes]], why: str
) -> None:
    (tmp_path / "x").write_text("precious")
    path = packed(tmp_path / "bad.tar", members)

    ok, message, _ = ask(node, "pull", order(path))

    assert (ok, why in message) == (False, True), message
    assert not cached(node).exists()
    assert (tmp_path / "x").read_text() == "precious"
    assert names(node.base / "software/.aside") == []


@pytest.mark.parametrize("data", [b"", b"no tar file", b"\x1f\x8b\x08rubbish" * 99])
def test_a_file_that_is_not_an_archive_is_missing_software(
    node: Client, tmp_path: Path, data: bytes
) -> None:
    path = tmp_path / "x.tar"
    path.write_bytes(data)

    ok, message, _ = ask(node, "pull", order(path))

    assert (ok, "not a complete tar file" in message) == (False, True)


def test_a_half_archive_is_not_unpacked(node: Client, tmp_path: Path, reco: Path) -> None:
    path = tmp_path / "half.tar.gz"
    path.write_bytes(reco.read_bytes()[:150])

    assert "not a complete tar file" in ask(node, "pull", order(path))[1]


def test_an_attempt_that_waits_for_software_can_be_ended(node: Client, reco: Path) -> None:
    places = NodePaths(os.fsencode(node.base))
    with software_cache._locked(places, order(reco), software_archive.no_pause):
        node.launch(launch(1, binary("reco", software=order(reco))))
        wait_until(lambda: any(one["kind"] == "start" for one in _messages(node)))
        node.send("kill", attempts=[1], grace=1)
        assert node.end(1)["outcome"] == "killed"


def _messages(node: Client) -> list[dict[str, Any]]:
    """The messages of the first attempt; asking for a pong lets them come."""
    node.send("ping", id=0)
    node.wait("pong", id=0)
    return node.messages(1)


@pytest.mark.parametrize("version", versions())
def test_every_python_unpacks(connect: Connect, tmp_path: Path, version: str) -> None:
    path = packed(tmp_path / "reco.tar.gz", [*RECO, member("größe ü", "x")])
    node = connect(found()[version], environment={"LC_ALL": "C"})
    node.wait("hello")

    assert node.run(binary("reco", software=order(path)))["outcome"] == "successful"
    assert ask(node, "verify", order(path)) == (True, "complete", [])
    assert ask(node, "purge", order(path))[0]


def test_a_push_repairs_damaged_files(node: Client, reco: Path) -> None:
    assert ask(node, "pull", order(reco)) == (True, "installed", [])
    (cached(node) / "bin/reco").write_text("garbled")
    (cached(node) / "etc/cards").unlink()
    assert not ask(node, "verify", order(reco))[0]

    assert ask(node, "pull", order(reco)) == (True, "installed", [])
    assert ask(node, "verify", order(reco)) == (True, "complete", [])


def test_a_push_that_can_not_repair_says_so(node: Client, reco: Path) -> None:
    wanted = order(reco)
    ask(node, "pull", wanted)
    (cached(node) / "bin/reco").write_text("garbled")
    reco.unlink()

    ok, message, _ = ask(node, "pull", wanted)
    assert (ok, "can't provide software `reco/v12-01`" in message) == (False, True), message


def test_a_push_leaves_undamaged_files_alone(node: Client, reco: Path) -> None:
    ask(node, "pull", order(reco))
    number = (cached(node) / "bin/reco").stat().st_ino

    ask(node, "pull", order(reco))
    assert (cached(node) / "bin/reco").stat().st_ino == number
