"""How each binary is verified before the next begins: codes, cores, checksums, checks."""

import hashlib
import resource
import zlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from d0ctl_wrapper.protocol import checksum
from tests.wrapper.client import Client, Frame, binary


def notes(node: Client) -> list[str]:
    return [one["text"] for one in node.messages(1) if one["kind"] == "note"]


def output(name: str, **more: object) -> Frame:
    return {"name": name, "min_size": None, **more}


@pytest.mark.parametrize(
    ("code", "named"),
    [(64, "EX_USAGE"), (75, "EX_TEMPFAIL"), (78, "EX_CONFIG"), (124, "timed out"), (3, None)],
)
def test_an_exit_code_has_its_name(node: Client, code: int, named: str | None) -> None:
    end = node.run(binary(script=f"exit {code}"))

    answer = "" if named is None else f" ({named}"
    assert f"ended with exit code {code}{answer}" in end["detail"]
    assert end["exit_code"] == code


def test_codes_of_shells_have_their_names_in_programs_too(node: Client) -> None:
    end = node.run(binary("sh", "-c", "exit 127"))
    assert (end["reason"], "command not found" in end["detail"]) == ("exit-code", True)

    end = node.run(binary("sh", "-c", "sh -c 'kill -SEGV $$'; exit $?"), attempt=2)
    assert (end["reason"], end["exit_code"], end["signal"]) == ("seg-fault", 139, 11)


def test_a_core_is_kept_beside_the_logs(node: Client) -> None:
    head = r"printf '\177ELF\002\001\001\000\000\000\000\000\000\000\000\000\004\000' > core.17"
    end = node.run(binary(script=f"{head}; kill -SEGV $$"))

    kept = node.folder(1) / "1.core"
    assert end["reason"] == "seg-fault"
    assert notes(node) == [f"it left a core of 18 B, kept as `{kept}`"]
    assert kept.read_bytes().startswith(b"\x7fELF")


def test_a_large_core_is_removed_with_a_note(node: Client) -> None:
    head = r"printf '\177ELF\002\001\001\000\000\000\000\000\000\000\000\000\004\000' > core"
    more = "head -c 100000 /dev/zero >> core"
    node.run(binary(script=f"{head}; {more}; kill -ABRT $$"), largest_core=50_000)

    assert notes(node) == ["it left a core of 100 kB, removed because it takes more than 50 kB"]
    assert not (node.folder(1) / "1.core").exists()


def test_a_file_named_core_that_is_not_a_core_stays(node: Client) -> None:
    step = binary(script="echo geometry > core; kill -SEGV $$", outputs=[output("core")])
    node.run(step)

    assert notes(node) == []


def test_a_core_that_the_kernel_put_elsewhere_is_noted(node: Client) -> None:
    limits = resource.RLIM_INFINITY, resource.RLIM_INFINITY
    try:
        resource.prlimit(node.process.pid, resource.RLIMIT_CORE, limits)
    except (ValueError, PermissionError):
        pytest.skip("this user may have no cores")
    node.run(binary("sh", "-c", "kill -SEGV $$"))

    assert len(notes(node)) == 1
    assert "core" in notes(node)[0]


def test_an_output_with_another_checksum_fails_the_verification(node: Client) -> None:
    right = "sha256:" + hashlib.sha256(b"x\n").hexdigest()
    step = binary(script="echo x > a", outputs=[output("a", checksum=right)])
    assert node.run(step, keep=["a"])["outputs"][0]["checksum"] == right

    wrong = "md5:" + "0" * 32
    step = binary(script="echo x > a", outputs=[output("a", checksum=wrong)])
    end = node.run(step, binary("true"), attempt=2)
    assert (end["reason"], end["binary"]) == ("verification", 1)
    assert "not md5:000" in end["detail"]


def test_a_check_runs_where_the_binary_ran_and_fails_it(node: Client) -> None:
    good = binary(script="echo 7 > a", check='grep -q 7 a; test -n "$D0CTL_WORK"')
    bad = binary(script="echo 8 > b", check="echo looking; echo too few events >&2; grep -q 7 b")
    end = node.run(good, bad, binary("true"))

    assert (end["reason"], end["binary"], end["exit_code"]) == ("verification", 2, 0)
    assert end["detail"] == ("the check of binary 2 (step) ended with exit code 1: too few events")
    assert (node.folder(1) / "2.check.out").read_text() == "looking\n"


def test_a_check_that_takes_too_long_fails(node: Client) -> None:
    end = node.run(binary(script="true", check="sleep 100", check_timeout=0.2))

    assert (end["reason"], "did not end within 0.2 s" in end["detail"]) == ("verification", True)


def test_no_check_files_are_written_without_a_check(node: Client) -> None:
    node.run(binary("true"), binary("true"))

    names = {path.name for path in node.folder(1).iterdir()}
    assert names == {"wrapper", "end", "inputs", "1.out", "1.err", "2.out", "2.err"}
    assert not (node.base / "cache" / "1").exists()


def by(path: Path, asked: str) -> str:
    """The checksum of a file by the algorithm of another."""
    return checksum.digest_by(bytes(path), asked, lambda: None)[0]


@pytest.mark.parametrize("name", ["md5", "sha1", "sha256", "sha512"])
def test_a_checksum_without_a_name_is_named_by_its_length(name: str, tmp_path: Path) -> None:
    made = hashlib.new(name, b"some data").hexdigest()
    (tmp_path / "file").write_bytes(b"some data")

    assert checksum.normal(made.upper()) == f"{name}:{made}"
    assert by(tmp_path / "file", f"{name}:{made}") == f"{name}:{made}"


@given(st.binary(max_size=100))
def test_the_checksums_of_tape_robots_are_known(
    tmp_path_factory: pytest.TempPathFactory, data: bytes
) -> None:
    path = tmp_path_factory.mktemp("file") / "file"
    path.write_bytes(data)

    assert by(path, "adler32:") == f"adler32:{zlib.adler32(data):08x}"
    assert by(path, "crc32:") == f"crc32:{zlib.crc32(data):08x}"


@pytest.mark.parametrize("text", ["", "00000000", "sha256:00", "xyz:" + "0" * 32, "g" * 32, "md5"])
def test_a_text_that_is_not_a_checksum_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is not a checksum"):
        checksum.normal(text)
