"""What a wrapper makes of the binaries of an attempt."""

import os
import resource
import stat
import sys
from pathlib import Path

import pytest

from d0ctl_wrapper.protocol import message
from tests.wrapper.client import Client, Frame, binary, launch
from tests.wrapper.conftest import Connect


def output(name: str, min_size: int | None = None) -> Frame:
    return {"name": name, "min_size": min_size}


def given(path: Path, size: int | None = None, name: str | None = None) -> Frame:
    described = {"name": name or path.name, "path": str(path), "size": size}
    return {**described, "required": True}


def test_a_binary_that_succeeds_makes_the_attempt_successful(node: Client) -> None:
    end = node.run(binary("true"))

    assert (end["outcome"], end["reason"], end["exit_code"]) == ("successful", None, 0)
    assert [one["kind"] for one in node.messages(1)] == ["start", "end"]
    assert [one["seq"] for one in node.messages(1)] == [1, 2]


def test_the_end_is_in_a_file_of_its_own_after_a_start_that_was_sent(node: Client) -> None:
    node.run(binary("true"), binary("sleep", "0.5"))

    assert sorted(node.files) == ["1.1", "1.2"]
    assert [one["kind"] for one in message.parse(node.files["1.2"])] == ["end"]
    assert (node.folder(1) / "end").read_text() == node.files["1.2"]


def test_binaries_run_one_after_the_other_in_one_directory(node: Client) -> None:
    end = node.run(
        binary(script="echo one > made"), binary(script="cat made; echo two"), binary("false")
    )

    assert (end["outcome"], end["binary"], end["exit_code"]) == ("failed", 3, 1)
    assert [one["exit_code"] for one in end["binaries"]] == [0, 0, 1]
    assert (node.folder(1) / "2.out").read_text() == "one\ntwo\n"


def test_a_chain_ends_with_its_first_failure(node: Client) -> None:
    end = node.run(binary("false"), binary("touch", "made"), attempt=7)

    assert (end["binary"], len(end["binaries"])) == (1, 1)
    assert not (node.folder(7) / "2.out").exists()


@pytest.mark.parametrize(
    ("step", "reason", "exit_code", "signal", "detail"),
    [
        (binary(script="exit 3"), "exit-code", 3, None, "exit code 3"),
        (binary(script="echo bad beam >&2; exit 3"), "exit-code", 3, None, "bad beam"),
        (binary(script="false | true"), "exit-code", 1, None, "exit code 1"),
        (binary(script="false\ntrue"), "exit-code", 1, None, "exit code 1"),
        (binary(script="exit 200"), "exit-code", 200, None, "exit code 200"),
        (binary("sh", "-c", "exit 127"), "exit-code", 127, None, "exit code 127"),
        (binary(script="no-such-reco --in x"), "software-missing", 127, None, "no-such-reco"),
        (binary(script="/etc/passwd"), "software-missing", 126, None, "denied"),
        (binary("no-such-reco"), "software-missing", None, None, "no-such-reco"),
        (binary("/etc/passwd"), "software-missing", None, None, "denied"),
        (binary("/etc"), "software-missing", None, None, "denied"),
        (binary("true", "x" * 200_000), "exit-code", None, None, "too long for the kernel"),
        (binary(script=f"/bin/true {'x' * 200_000}"), "exit-code", 126, None, "too long for the"),
        (binary(script="kill -SEGV $$"), "seg-fault", None, 11, "SIGSEGV (segmentation fault)"),
        (
            binary(script="sh -c 'kill -SEGV $$'; true"),
            "seg-fault",
            139,
            11,
            "SIGSEGV (segmentation fault)",
        ),
        (binary(script="kill -KILL $$"), "signal", None, 9, "SIGKILL"),
        (binary(script="exit 143"), "signal", 143, 15, "SIGTERM"),
        (binary(script="kill -40 $$"), "signal", None, 40, "signal 40"),
        (binary("sh", "-c", "kill -ABRT $$"), "signal", None, 6, "SIGABRT (aborted)"),
        (binary("true", outputs=[output("x.root")]), "missing-output", 0, None, "`x.root`"),
    ],
)
def test_each_way_to_fail_has_its_reason(
    node: Client, step: Frame, reason: str, exit_code: int | None, signal: int | None, detail: str
) -> None:
    end = node.run(step)

    assert (end["outcome"], end["reason"]) == ("failed", reason)
    assert (end["exit_code"], end["signal"]) == (exit_code, signal)
    assert detail in end["detail"]
    assert not (node.folder(1) / "work").exists()


def test_the_shell_sh_needs_no_bash(node: Client) -> None:
    end = node.run(binary(script="echo $0; false; true", shell="sh"))

    assert end["reason"] == "exit-code"
    assert (node.folder(1) / "1.out").read_text().strip().endswith("1.sh")


def test_a_missing_shell_is_missing_software(node: Client, tmp_path: Path) -> None:
    end = node.run(binary(script="true"), environment={"PATH": str(tmp_path)})

    assert end["reason"] == "software-missing"


def test_the_usage_of_a_binary_includes_its_children(node: Client) -> None:
    burn = "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done"
    grow = "x=$(head -c 40000000 /dev/zero | tr '\\0' a)"
    end = node.run(binary(script=f"bash -c '{burn}'; ({burn}; {grow})"))

    assert end["cpu"] > 0.02
    assert end["rss"] > 40_000_000
    assert end["started"] <= end["binaries"][0]["started"] <= end["ended"]


def test_the_memory_of_a_binary_is_not_that_of_the_wrapper(node: Client) -> None:
    end = node.run(binary(script="true"))

    assert (end["rss"], end["binaries"][0]["rss"]) == (0, 0)


def test_a_binary_finds_its_attempt_and_files_in_the_environment(
    connect: Connect, tmp_path: Path
) -> None:
    node = connect(environment={"SSH_CONNECTION": "here", "LD_LIBRARY_PATH": "/opt/lib"})
    made = tmp_path / "raw 1"
    made.touch()
    node.run(
        binary("env", inputs=["raw 1"]),
        inputs=[given(made)],
        environment={"GEOMETRY": "v3"},
        number=3,
    )

    lines = (node.folder(1) / "1.out").read_text().splitlines()
    found = dict(line.split("=", 1) for line in lines if "=" in line)
    assert (found["D0CTL_ATTEMPT"], found["D0CTL_ATTEMPT_ID"]) == ("3", "1")
    assert found["D0CTL_PACKAGE"] == "job/1/1/1"
    assert (found["GEOMETRY"], found["LD_LIBRARY_PATH"]) == ("v3", "/opt/lib")
    assert found["D0CTL_WORK"] == str(node.folder(1) / "work")
    assert Path(found["D0CTL_INPUTS"]).read_text() == "raw 1\n"
    assert "SSH_CONNECTION" not in found


def test_the_token_is_nowhere_but_in_messages(node: Client) -> None:
    node.launch(launch(1, binary(script="env; tr '\\0' '\\n' < /proc/$PPID/cmdline; sleep 60")))
    token = message.token(b"a key of this site", 1)
    wrapper = node.started(1)

    files = [path for path in node.base.rglob("*") if path.is_file() and "spool" not in path.parts]
    assert all(token not in path.read_text() for path in files)
    assert token.encode() not in Path(f"/proc/{wrapper}/environ").read_bytes()
    assert token.encode() not in Path(f"/proc/{wrapper}/cmdline").read_bytes()


def test_files_of_d0ctl_are_private_and_those_of_binaries_have_the_users_umask(
    node: Client,
) -> None:
    node.run(binary(script="umask; touch made tool; chmod 6777 tool"), keep=["made", "tool"])

    umask = os.umask(0)
    os.umask(umask)
    assert int((node.folder(1) / "1.out").read_text(), 8) == umask
    for name, mode in (("made", 0o400), ("tool", 0o500)):
        assert stat.S_IMODE((node.base / "cache/1" / name).stat().st_mode) == mode
    for path in (node.folder(1), node.base, node.base / "spool/new", node.base / "cache/1"):
        assert path.stat().st_mode & 0o777 == 0o700
    for name in ("end", "wrapper", "1.out", "1.sh", "inputs"):
        assert (node.folder(1) / name).stat().st_mode & 0o777 == 0o600


def test_terminal_escapes_are_removed_from_quoted_output(node: Client) -> None:
    noise = (
        r"printf '\033[31mred\033[0m \033]0;title\007\002done\r50%%\r100%%\n\342\200\256evil' >&2"
    )
    end = node.run(binary(script=f"{noise}; exit 4", name="\x1b[2Jreco"))

    assert end["detail"] == "binary 1 (reco) ended with exit code 4: evil"
    assert end["stderr"] == "red done\n50%\n100%\nevil"


def test_bytes_that_are_not_utf_8_are_replaced(node: Client) -> None:
    end = node.run(binary(script=r"printf 'a\377b\n\tc' >&2; exit 4"))

    assert end["stderr"] == "a\ufffdb\n\tc"


def test_a_log_of_one_huge_line_needs_no_memory(node: Client) -> None:
    resource.prlimit(node.process.pid, resource.RLIMIT_AS, (400_000_000, 400_000_000))
    end = node.run(binary(script="truncate -s 1G /dev/stderr; echo the end >&2; exit 3"))

    assert (end["reason"], end["stderr"]) == ("exit-code", "the end\n")
    assert (node.folder(1) / "1.err").stat().st_size > 2**30


def test_only_the_last_lines_of_stderr_are_reported(node: Client) -> None:
    end = node.run(binary(script="seq 1 5000 >&2; exit 3"))

    assert len(end["stderr"]) == message.STDERR_LIMIT
    assert end["stderr"].endswith("4999\n5000\n")
    assert end["detail"].endswith(": 5000")


def test_a_successful_attempt_quotes_no_stderr(node: Client) -> None:
    assert node.run(binary(script="echo noise >&2"))["stderr"] == ""
    assert (node.folder(1) / "1.err").read_text() == "noise\n"


def test_a_binary_has_empty_stdin_and_no_descriptors_of_the_wrapper(node: Client) -> None:
    node.run(binary(script="cat; ls /proc/self/fd; readlink /proc/self/fd/0"))

    assert (node.folder(1) / "1.out").read_text() == "0\n1\n2\n3\n/dev/null\n"


def test_a_binary_starts_with_the_signals_of_a_login_shell(node: Client) -> None:
    node.run(binary("grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"))

    fields = dict(line.split() for line in (node.folder(1) / "1.out").read_text().splitlines())
    assert int(fields["SigBlk:"], 16) == 0
    assert int(fields["SigIgn:"], 16) & 0x7FFFFFFF == 0, "of all but the C library's own signals"


def test_a_binary_does_not_ignore_the_signals_that_nohup_and_background_jobs_ignore(
    connect: Connect, tmp_path: Path
) -> None:
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\ntrap '' HUP INT QUIT\nexec {sys.executable} \"$@\"\n")
    python.chmod(0o755)
    node = connect(str(python))
    node.wait("hello")

    node.run(binary("grep", "^SigIgn", "/proc/self/status"))

    (ignored,) = (node.folder(1) / "1.out").read_text().split()[1:]
    assert int(ignored, 16) & 0x7FFFFFFF == 0
