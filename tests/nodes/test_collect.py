"""Streams of files between a node and this machine, through a real sshd and a real end."""

import os
import queue
import shlex
import sys
from pathlib import Path

import pytest
from msgspec.structs import replace

from d0ctl.daemon import streams
from d0ctl.daemon.in_progress import CopyJob, Transfer
from d0ctl.errors import NotFound
from d0ctl.nodes import collect, stream
from d0ctl.nodes.carry import Copy
from d0ctl.nodes.courier_reports import FileFacts, Report, StreamEnded, TransferEnded
from d0ctl.nodes.transports.download import NoSpace, WrongFile
from d0ctl_wrapper.protocol import file_stream
from tests.nodes.conftest import Nodes
from tests.nodes.streams import copy_of, leftovers, made, stream_processes
from tests.support.sshd import Sshd
from tests.support.waiting import PATIENCE_S


def test_files_of_a_node_come_here_whole_and_faults_keep_no_other_away(
    nodes: Nodes, tmp_path: Path
) -> None:
    here = tmp_path / "results"
    texts = {f"f {number}\n'": b"%d" % number * number for number in range(100)}
    copies = [
        replace(copy_of(made(nodes[0], name, text), nodes[1], text), target=str(here / "a" / name))
        for name, text in texts.items()
    ]
    copies[7] = replace(copies[7], is_kept=True)
    Path(copies[3].source).unlink()
    Path(copies[5].source).chmod(0o600)
    Path(copies[5].source).write_bytes(b"other")

    outcomes = collect.fetch(copies, nodes[0])

    assert isinstance(outcomes[3], NotFound) and not isinstance(outcomes[3], WrongFile)
    assert isinstance(outcomes[5], WrongFile) and "its checksum differs" in str(outcomes[5])
    for number, (copy, text) in enumerate(zip(copies, texts.values(), strict=True)):
        if number in (3, 5):
            assert not Path(copy.target).exists()
            continue
        arrived, facts = Path(copy.target), outcomes[number]
        assert arrived.read_bytes() == text
        assert isinstance(facts, FileFacts)
        assert (facts.size, facts.inode) == (len(text), arrived.stat().st_ino)
        assert (arrived.stat().st_mode & 0o222 == 0) == copy.is_kept
    assert len(list((here / "a").iterdir())) == 98


def test_files_that_would_fill_the_disk_here_do_not_come(nodes: Nodes, tmp_path: Path) -> None:
    copy = replace(copy_of(made(nodes[0], "a", b"a"), nodes[1], b"a"), target=str(tmp_path / "a"))
    nodes[0].site = replace(nodes[0].site, reserve=2**60)

    with pytest.raises(NoSpace):
        collect.fetch([copy], nodes[0])

    assert not (tmp_path / "a").exists()


def test_files_of_this_machine_go_to_a_node_small_and_large(nodes: Nodes, tmp_path: Path) -> None:
    base = nodes[0].open_link().base
    texts = [b"a", b"", os.urandom(file_stream.RESUMED), b"program", b"changed", b"gone"]
    copies = []
    for number, text in enumerate(texts):
        (tmp_path / str(number)).write_bytes(text)
        copies.append(Copy(str(tmp_path / str(number)), f"{base}/cache/in/{number}/x", None, None))
    (tmp_path / "3").chmod(0o755)
    copies[4] = replace(copies[4], size=7, checksum="sha256:" + "0" * 64)
    (tmp_path / "5").unlink()

    outcomes = collect.bring(copies, nodes[0])

    assert isinstance(outcomes[4], WrongFile) and isinstance(outcomes[5], NotFound)
    assert [Path(copy.target).read_bytes() for copy in copies[:4]] == texts[:4]
    assert [Path(copy.target).stat().st_mode & 0o777 for copy in copies[2:4]] == [0o400, 0o500]
    assert [facts.size for facts in outcomes[:4] if isinstance(facts, FileFacts)] == [
        len(text) for text in texts[:4]
    ]
    assert not leftovers(nodes[0])


def test_the_first_files_of_a_stream_are_reported_before_the_last_are_sent(
    nodes: Nodes, tmp_path: Path
) -> None:
    base = nodes[0].open_link().base
    jobs = []
    for number in range(3 * streams.FIRST_FILES):
        (tmp_path / str(number)).write_bytes(b"%d" % number)
        target = f"{base}/cache/in/{number}/x"
        jobs.append(CopyJob(Transfer(number, 2, 0), Copy(str(tmp_path / str(number)), target,
                                                         None, None)))  # fmt: skip
    (tmp_path / "5").unlink()
    reports: queue.SimpleQueue[tuple[Report, bool]] = queue.SimpleQueue()

    def report(entry: Report) -> None:
        reports.put((entry, Path(jobs[-1].copy.target).exists()))

    streams.run(jobs, None, nodes[0], report)

    assert not nodes[0].has_standing_end
    came = [reports.get(timeout=PATIENCE_S) for _ in range(len(jobs) + 1)]
    ended = [(entry.name.transfer.file, entry.error is None, is_over)
             for entry, is_over in came if isinstance(entry, TransferEnded)]  # fmt: skip
    assert ended == [(number, number != 5, number >= streams.FIRST_FILES)
                     for number in range(len(jobs))]  # fmt: skip
    assert isinstance(came[-1][0], StreamEnded) and came[-1][0].files == len(jobs) - 1
    assert nodes[0].has_standing_end, "the next small file goes by the same end"


def test_after_a_stream_breaks_no_further_part_of_it_is_tried(nodes: Nodes, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"x")
    base = nodes[0].open_link().base
    targets = [f"{base}/cache/in/{number}/x" for number in range(3 * streams.FIRST_FILES)]
    targets[0] = "/outside/of/the/cache"
    jobs = [CopyJob(Transfer(number, 2, 0), Copy(str(tmp_path / "f"), target, None, None))
            for number, target in enumerate(targets)]  # fmt: skip
    reports: queue.SimpleQueue[Report] = queue.SimpleQueue()

    streams.run(jobs, None, nodes[0], reports.put)

    came = [reports.get(timeout=PATIENCE_S) for _ in range(len(jobs) + 1)]
    errors = {entry.error for entry in came if isinstance(entry, TransferEnded)}
    assert len(errors) == 1 and "is not inside" in str(errors)
    assert isinstance(came[-1], StreamEnded) and came[-1].files == 0
    assert reports.empty()


BY_LINES = """import sys
for line in iter(sys.stdin.buffer.readline, b""):
    sys.stdout.buffer.write(line)
    sys.stdout.buffer.flush()
"""
"""What a step of Slurm does with the output of its command."""


def test_files_come_whole_from_where_only_whole_lines_are_passed_on(
    nodes: Nodes, sshds: list[Sshd], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    transport = nodes[0].open_link().transport
    start = transport.start
    through = f"| {sys.executable} -c {shlex.quote(BY_LINES)}"
    monkeypatch.setattr(transport, "start", lambda command: start(f"{command} {through}"))
    copies = [copy_of(made(nodes[0], name, b"no end of line"), nodes[1], b"no end of line")
              for name in "ab"]  # fmt: skip

    (here,) = collect.fetch([replace(copies[0], target=str(tmp_path / "a"))], nodes[0])
    (there,) = stream.carry(copies[1:], *nodes)

    assert isinstance(here, FileFacts) and isinstance(there, FileFacts)
    assert len(stream_processes(sshds[0])) == 1, "it did not have to end for that"
