"""Packages looked at while they run: logs that are followed, folders, wrappers that are asked."""

import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.e2e.following import CHAIN, start
from tests.e2e.terminal import CTRL_C, terminal
from tests.support.site import Site
from tests.support.site.commands import D0CTL, end_process
from tests.support.waiting import PATIENCE_S, Pid, wait_until

TICKS = """\
job: ticks
parameters: {{go: {go}}}
stages:
  - lines:
      - run: 'n=0; until [ -e {{go}} ]; do n=$((n+1)); echo "line $n"; sleep 0.01; done; echo end'
"""


class Follower:
    """`d0ctl logs -f`, with all that it has printed so far."""

    def __init__(self, site: Site, *words: str) -> None:
        self.process = subprocess.Popen(
            [D0CTL, "logs", "-f", *words],
            env=site.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
        )
        self.out, self.err = bytearray(), bytearray()
        pipes = ((self.process.stdout, self.out), (self.process.stderr, self.err))
        self.readers = [threading.Thread(target=self._read, args=pair) for pair in pipes]
        for reader in self.readers:
            reader.start()

    @staticmethod
    def _read(pipe: object, seen: bytearray) -> None:
        with pipe:  # type: ignore[attr-defined]
            while data := pipe.read(65536):  # type: ignore[attr-defined]
                seen.extend(data)

    def expect(self, out: bytes = b"", err: bytes = b"") -> None:
        """Return once it has printed this."""
        found = lambda: out in self.out and err in self.err  # noqa: E731
        wait_until(found, what=f"{out!r} {err!r} in {self.out[-300:]!r} {self.err!r}")

    def end(self) -> int:
        """Wait for its end; its exit code."""
        code = self.process.wait(PATIENCE_S)
        for reader in self.readers:
            reader.join(PATIENCE_S)
        return code


@contextmanager
def following(site: Site, *words: str) -> Iterator[Follower]:
    """Follow the logs of a package."""
    follower = Follower(site, *words)
    try:
        yield follower
    finally:
        end_process(follower.process)
        follower.end()


def log(site: Site, name: str) -> bytes:
    """A log of the only attempt there is, as it lies on its node."""
    (path,) = site.folder.glob(f"**/attempts/*/{name}")
    return path.read_bytes()


def test_logs_are_followed_through_the_chain_to_the_end(site: Site, place: str, go: Path) -> None:
    path = start(site, CHAIN, go)

    with following(site, path) as follower:
        follower.expect(b"to err\n")
        assert b"last" not in follower.out
        go.touch()

        assert follower.end() == 0
    head = b"== binary 1, stdout ==\n"  # where both had printed something at the first look
    assert bytes(follower.out).removeprefix(head) == (
        b"one \x1b[31m\n== binary 1, stderr ==\nto err\n== binary 1, stdout ==\nlast\n"
        b"== binary 2, stdout ==\ntwo\nno end\n"
    )
    assert follower.err == b""
    assert site.ok("logs", path) == site.ok("logs", "-f", path)
    assert site.package(path)["status"] == "successful"
    assert [one["node"] for one in site.package(path)["attempts"]] == [place]


def test_the_last_lines_of_each_log_are_printed(site: Site) -> None:
    site.start_daemon()
    text = """\
job: long
stages:
  - lines:
      - run: 'seq 30000; printf end; echo one >&2; echo two >&2'
"""
    path = site.submit(text) + "/1/1/1"
    site.wait_phase(path, "done")

    lines = {number: site.ok("logs", path, "-n", str(number)) for number in (1, 2, 30_001)}
    whole = site.ok("logs", path)

    head = "== binary 1, {} ==\n".format
    assert lines[1] == f"{head('stdout')}end\n{head('stderr')}two\n"
    assert lines[2] == f"{head('stdout')}30000\nend\n{head('stderr')}one\ntwo\n"
    assert lines[30_001] == whole


def test_a_lost_connection_costs_no_line_and_doubles_none(site: Site, go: Path) -> None:
    site.add("farm")
    site.alone()
    path = start(site, TICKS, go)

    with following(site, path) as follower:
        follower.expect(b"line 20\n")
        site.sshds["farm"].cut()
        follower.expect(err=b"answers again")
        go.touch()

        assert follower.end() == 0
    assert b"does not answer, trying again" in follower.err
    assert bytes(follower.out) == log(site, "1.out")
    site.ok("wait", "ticks")
    assert len(site.package(path)["attempts"]) == 1


def test_a_package_that_is_not_launched_yet_is_waited_for(site: Site, go: Path) -> None:
    go.touch()
    path = site.submit(CHAIN.format(go=go), "--hold") + "/1/1/1"

    with following(site, path, "--binary", "2") as follower:
        follower.expect(err=b"waiting for its launch\n")
        follower.expect(err=b"nothing new starts: `d0ctl daemon start`, or `d0ctl run chain`\n")
        site.start_daemon()
        site.ok("release", "chain")

        assert follower.end() == 0
    assert bytes(follower.out) == b"two\nno end\n"


def test_the_next_attempt_is_followed_after_one_that_was_lost(site: Site, go: Path) -> None:
    path = start(site, CHAIN, go)

    with following(site, path) as follower, following(site, path, "--attempt", "1") as first:
        for one in (follower, first):
            one.expect(b"to err\n")
        (record,) = site.folder.glob("**/attempts/*/wrapper")
        wrapper = Pid.of(int(record.read_text().split()[0]))
        assert wrapper
        wrapper.kill(9)
        follower.expect(err=b"attempt 2 on `localhost`\n")
        go.touch()

        assert follower.end() == 0
        assert first.end() == 0
    assert follower.out.count(b"to err") == 2
    assert follower.out.endswith(b"two\nno end\n")
    assert first.out.count(b"to err") == 1 and b"two" not in first.out


def test_without_a_daemon_logs_are_followed_and_wrappers_asked(site: Site, go: Path) -> None:
    path = start(site, CHAIN, go)
    site.kill_daemon()

    with following(site, path) as follower:
        follower.expect(b"to err\n")
        assert site.json("status", path, "--now")["now"]["line"] == "1/4"
        assert "last sign of life" in site.ok("peek", path)
        go.touch()

        assert follower.end() == 0
    assert b"no end\n" in follower.out
    assert b"no daemon is running to record that: d0ctl daemon start" in follower.err


def test_fast_output_does_not_fill_memory(site: Site) -> None:
    megabytes = 128
    job = f"""\
job: flood
stages:
  - lines:
      - run: 'head -c {megabytes // 2}M /dev/zero; yes "a line" | head -c {megabytes // 2}M || true'
"""
    site.start_daemon()
    path = site.submit(job) + "/1/1/1"

    process = subprocess.Popen([D0CTL, "logs", "-f", path], env=site.environment,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)  # fmt: skip
    assert process.stdout
    size = peak = 0
    with process.stdout as pipe:
        for data in iter(lambda: pipe.read(1 << 20), b""):
            size += len(data)
            peak = max(peak, most_resident(process.pid))

    assert (process.wait(), size) == (0, (megabytes << 20) + len(b"\n"))
    assert 0 < peak < 100 * 1024


def most_resident(pid: int) -> int:
    """How many KiB a program has taken at most, itself: not what took it over from its parent."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next((int(line.split()[1]) for line in lines if line.startswith("VmHWM:")), 0)


def test_ctrl_c_ends_only_the_following(site: Site, place: str, go: Path) -> None:
    path = start(site, CHAIN, go)

    with terminal(site, "logs", path, "-f") as screen:
        screen.expect("to err")
        screen.type(CTRL_C)

        assert screen.end() == 130
        assert "Traceback" not in screen.text and "Aborted" not in screen.text
        assert "one \\x1b[31m" in screen.text
    go.touch()
    site.ok("wait", "chain")
    assert [one["node"] for one in site.package(path)["attempts"]] == [place]


def test_a_question_without_a_line_end_is_seen_on_a_terminal_while_it_waits(
    site: Site, go: Path
) -> None:
    path = start(site, CHAIN.replace("echo 'to err' >&2", "printf 'go on? '"), go)

    with terminal(site, "logs", "-f", path) as screen:
        screen.expect("go on? ")
        go.touch()
        screen.expect("go on? last")

        assert screen.end() == 0
