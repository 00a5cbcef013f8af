"""Inputs that a wrapper brings by itself: by http, from a path, by a command of the site."""

import hashlib
import os
import resource
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.web import Web
from tests.wrapper.client import Client, binary, launch
from tests.wrapper.conftest import Connect
from tests.wrapper.fetching import DATA, READ, calls, given, rules, run

SHA256 = "sha256:" + hashlib.sha256(DATA).hexdigest()


def test_an_input_comes_by_http(node: Client, web: Web) -> None:
    end = run(node, given(f"{web.url}/raw", checksum=SHA256, size=len(DATA)))

    assert end["outcome"] == "successful", end
    assert Path(end["outputs"][0]["path"]).read_bytes() == DATA
    (staged,) = end["staged"]
    assert staged["locator"] == f"{web.url}/raw"
    assert (staged["size"], staged["checksum"]) == (len(DATA), SHA256)
    assert Path(staged["path"]).read_bytes() == DATA
    phases = [m["phase"] for m in node.messages(1) if m["kind"] in ("start", "state")]
    assert phases == ["staging-in", "staging-in", "running"]
    assert not (node.folder(1) / "staging").exists()


def test_a_package_without_locators_reports_no_staging(node: Client) -> None:
    end = node.run(binary("true"))

    assert end["staged"] == [] and end["stored"] == []
    assert [m["kind"] for m in node.messages(1)] == ["start", "end"]


@pytest.mark.parametrize("way", ["path", "file url"])
def test_an_input_comes_from_a_path_of_the_node(node: Client, tmp_path: Path, way: str) -> None:
    source = tmp_path / "a file"
    source.write_bytes(DATA)
    locator = str(source) if way == "path" else f"file://{tmp_path}/a%20file"

    end = run(node, given(locator, checksum=SHA256))

    assert end["outcome"] == "successful", end
    source.unlink()
    assert Path(end["staged"][0]["path"]).read_bytes() == DATA


def test_an_input_comes_by_a_command_of_the_site(node: Client, xrdcp: Path) -> None:
    (xrdcp.parent / "store/raw").write_bytes(DATA)

    end = run(node, given("root://store/raw", checksum=SHA256), transfer=rules(xrdcp))

    assert end["outcome"] == "successful", end
    assert len(calls(xrdcp)) == 1 and calls(xrdcp)[0].startswith("root://store/raw /")


@pytest.mark.parametrize(
    "checksum",
    [
        f"adler32:{zlib.adler32(DATA):08x}",
        "md5:" + hashlib.md5(DATA).hexdigest().upper(),
        "sha1:" + hashlib.sha1(DATA).hexdigest(),
        "sha512:" + hashlib.sha512(DATA).hexdigest(),
    ],
)
def test_a_fetched_input_is_verified_by_any_kind_of_checksum(
    node: Client, web: Web, checksum: str
) -> None:
    assert run(node, given(f"{web.url}/raw", checksum=checksum))["outcome"] == "successful"

    other = checksum[:-1] + ("0" if checksum[-1] != "0" else "1")
    end = run(node, given(f"{web.url}/raw", checksum=other), attempt=2)
    assert (end["reason"], end["missing"]) == ("stage-in", [])
    assert checksum.lower() in end["detail"]


def test_a_file_of_another_size_is_not_used(node: Client, web: Web) -> None:
    end = run(node, given(f"{web.url}/raw", size=7))

    assert end["reason"] == "stage-in"
    assert "10000 bytes arrived, not 7" in end["detail"]
    assert not any((node.base / "cache/in").glob("*/raw"))


def test_two_packages_fetch_a_shared_file_once(node: Client, web: Web) -> None:
    entry = given(f"{web.url}/raw")
    node.launch(*(launch(n, READ, inputs=[entry], keep=["out"]) for n in (1, 2, 3)))
    ends = [node.end(n) for n in (1, 2, 3)]

    assert {end["outcome"] for end in ends} == {"successful"}
    assert len({end["staged"][0]["path"] for end in ends}) == 1
    assert web.asked["/raw"] == 1


def test_a_locator_without_a_file_is_a_missing_input(
    node: Client, web: Web, tmp_path: Path
) -> None:
    for attempt, locator in enumerate((f"{web.url}/nothing", f"{tmp_path}/nothing"), 1):
        end = run(node, given(locator), attempt=attempt)

        assert (end["reason"], end["missing"]) == ("missing-input", [locator])
        assert locator in end["detail"]
    assert end["detail"] == f"input `{locator}` does not exist"
    assert web.asked["/nothing"] == 1


def test_a_scheme_without_a_command_is_a_stage_in_failure(node: Client) -> None:
    end = run(node, given("srm://se/raw"))

    assert end["reason"] == "stage-in"
    assert list((node.base / "cache/in").iterdir()) == []
    assert "the site has no command for `srm`" in end["detail"]


def test_a_copy_that_is_known_is_used(node: Client, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy.write_bytes(DATA)

    end = run(node, given("root://gone/raw", path=str(copy), size=len(DATA)))

    assert end["outcome"] == "successful"
    assert end["staged"] == []


def test_a_known_copy_that_is_gone_is_fetched_again(node: Client, web: Web, tmp_path: Path) -> None:
    end = run(node, given(f"{web.url}/raw", path=f"{tmp_path}/gone", size=len(DATA)))

    assert end["outcome"] == "successful"
    assert web.asked["/raw"] == 1


def test_a_copy_cannot_be_forgotten_while_it_is_used(node: Client, web: Web) -> None:
    hold = binary(script="while [ ! -e $D0CTL_BASE/go ]; do sleep 0.05; done; cat raw > out")
    node.launch(launch(1, hold, inputs=[given(f"{web.url}/raw")], keep=["out"]))
    node.started(1)
    (copy,) = (node.base / "cache/in").glob("*/raw")

    node.send("forget", attempts=[], paths=[str(copy)])
    assert node.wait("forgotten")["paths"] == []
    assert node.wait("fault")["message"] == f"can't remove `{copy}`: it is in use"

    (node.base / "go").touch()
    assert node.end(1)["outcome"] == "successful"
    node.send("forget", attempts=[], paths=[str(copy)])
    assert node.wait("forgotten")["paths"] == [str(copy)]
    assert list((node.base / "cache/in").iterdir()) == []


def test_a_shared_copy_cannot_be_written_to(node: Client, web: Web) -> None:
    end = node.run(binary(script="echo spoilt >> raw || true"), inputs=[given(f"{web.url}/raw")])

    assert Path(end["staged"][0]["path"]).read_bytes() == DATA or os.geteuid() == 0


def test_a_full_disk_under_the_cache_fails_with_disk_full(
    connect: Connect, web: Web, mounted: Callable[[str], Path]
) -> None:
    disk = mounted("size=1m")
    web.files["/raw"] = bytes(4_000_000)
    node = connect(base=str(disk / "base"))
    node.base = disk / "base"
    node.wait("hello")

    end = run(node, given(f"{web.url}/raw"))

    assert end["reason"] == "disk-full"
    assert not any((node.base / "cache/in").glob("*/raw"))
    assert not (node.folder(1) / "staging").exists()


def test_more_copies_are_in_use_than_a_program_may_open_files(
    single: Client, tmp_path: Path
) -> None:
    hard = resource.prlimit(single.process.pid, resource.RLIMIT_NOFILE)[1]
    resource.prlimit(single.process.pid, resource.RLIMIT_NOFILE, (64, hard))
    inputs = []
    for number in range(80):
        (tmp_path / f"in{number}").write_text(f"{number}\n")
        entry = {"name": f"in{number}", "path": None, "size": None, "required": True}
        inputs.append({**entry, "original": f"{tmp_path}/in{number}"})

    end = single.run(binary(script="ulimit -Sn; cat in* | wc -l"), inputs=inputs)

    assert end["outcome"] == "successful", end
    assert (single.folder(1) / "1.out").read_text().split() == ["64", "80"]
