"""Streams of files from one node to another, through real sshds and real ends."""

import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import d0ctl.nodes.transports.bulk
from d0ctl.errors import D0Error, NodeUnreachable, NotFound
from d0ctl.nodes import carry, stream, stream_ends
from d0ctl.nodes.carry import Copy
from d0ctl.nodes.courier_reports import FileFacts
from d0ctl.nodes.stream_ends import End
from d0ctl.nodes.transports.download import NoSpace, Oversized, WrongFile
from d0ctl.nodes.transports.local import LocalTransport
from d0ctl.nodes.transports.ssh import FabricTransport
from tests.nodes.conftest import Nodes
from tests.nodes.streams import copy_of, entry, large, leftovers, made, receive, stream_processes
from tests.support.sshd import Sshd
from tests.support.waiting import wait_until


def carried(copies: Sequence[Copy], nodes: Nodes) -> list[FileFacts | D0Error]:
    """What became of copies from the first node to the second."""
    return stream.carry(copies, *nodes)


def test_many_files_arrive_whole_and_read_only(nodes: Nodes) -> None:
    texts = {f"f {number}\n'": b"%d" % number * number for number in range(300)}
    copies = [copy_of(made(nodes[0], name, text), nodes[1], text) for name, text in texts.items()]
    Path(copies[5].source).chmod(0o500)

    outcomes = carried(copies, nodes)

    for copy, text, facts in zip(copies, texts.values(), outcomes, strict=True):
        assert isinstance(facts, FileFacts), facts
        arrived = Path(copy.target)
        assert arrived.read_bytes() == text
        assert (facts.inode, facts.mtime) == (arrived.stat().st_ino, arrived.stat().st_mtime_ns)
        assert arrived.stat().st_mode & 0o777 == (0o500 if copy is copies[5] else 0o400)
    assert not leftovers(nodes[1])


def test_a_missing_or_replaced_file_does_not_stop_the_others(nodes: Nodes) -> None:
    copies = [copy_of(made(nodes[0], name, b"text"), nodes[1], b"text") for name in "abcd"]
    Path(copies[0].source).unlink()
    for copy, text in zip(copies[1:3], ("TEXT", "longer"), strict=True):
        Path(copy.source).chmod(0o600)
        Path(copy.source).write_text(text)

    gone, changed, longer, whole = carried(copies, nodes)

    assert isinstance(gone, NotFound) and not isinstance(gone, WrongFile)
    assert isinstance(changed, WrongFile) and "its checksum differs" in str(changed)
    assert isinstance(longer, WrongFile) and "it has 6 bytes instead of 4" in str(longer)
    assert isinstance(whole, FileFacts)
    assert [Path(copy.target).exists() for copy in copies] == [False, False, False, True]
    assert not leftovers(nodes[1])


def test_a_large_file_goes_on_where_it_was_cut_off(nodes: Nodes) -> None:
    data = large()
    path = made(nodes[0], "large", data)
    copy = copy_of(path, nodes[1], data)
    half = len(data) // 2
    assert receive(copy, nodes[1], entry(len(data)) + data[:half]).returncode == 1
    assert not Path(copy.target).exists() and len(leftovers(nodes[1])) == 1
    path.chmod(0o600)
    path.write_bytes(bytes(half) + data[half:])  # only the rest is still right at the source

    (facts,) = carried([copy], nodes)

    assert isinstance(facts, FileFacts), facts
    assert Path(copy.target).read_bytes() == data
    assert not leftovers(nodes[1])


def test_a_damaged_beginning_is_thrown_away_and_the_file_comes_whole(nodes: Nodes) -> None:
    data = large()
    copy = copy_of(made(nodes[0], "large", data), nodes[1], data)
    receive(copy, nodes[1], entry(len(data)) + bytes(len(data) // 2))

    (first,), (second,) = carried([copy], nodes), carried([copy], nodes)

    assert isinstance(first, D0Error) and "the file on its node is intact" in str(first)
    assert isinstance(second, FileFacts)
    assert Path(copy.target).read_bytes() == data


@pytest.mark.parametrize("sent", [entry(4) + b"te", entry(5) + b"texts", b"no line\n", b""])
def test_a_stream_that_breaks_or_is_too_long_leaves_nothing(nodes: Nodes, sent: bytes) -> None:
    copy = copy_of(made(nodes[0], "a", b"text"), nodes[1], b"text")

    done = receive(copy, nodes[1], sent)

    assert done.returncode == 1 and done.stderr.startswith(b"d0ctl receive: ")
    assert not Path(copy.target).exists()
    assert not leftovers(nodes[1])


@pytest.mark.parametrize(
    "place", ["/tmp/d0ctl-outside", "attempts/1/a", "cache/in/../../a", "cache"]
)
def test_nothing_is_received_outside_of_the_cache(nodes: Nodes, place: str) -> None:
    made(nodes[0], "a", b"text")
    copy = copy_of(Path("a"), nodes[1], b"text")
    target = place if place.startswith("/") else f"{nodes[1].open_link().base}/{place}"

    done = receive(Copy(copy.source, target, 4, copy.checksum), nodes[1], entry(4) + b"text")

    assert done.returncode == 2, done
    assert done.stderr.startswith(b"d0ctl receive: the order ")


def test_nothing_outside_of_the_base_is_sent(nodes: Nodes, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("text")
    link = made(nodes[0], "a", b"text")
    link.unlink()
    link.symlink_to(tmp_path / "secret")
    copies = [copy_of(path, nodes[1], b"text") for path in (tmp_path / "secret", link)]

    outcomes = carried(copies, nodes)

    assert all(isinstance(outcome, D0Error) for outcome in outcomes), outcomes
    assert not any(Path(copy.target).exists() for copy in copies)


@pytest.mark.parametrize("is_here", [True, False])
def test_much_data_goes_by_the_ssh_program_where_that_is(
    nodes: Nodes, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, is_here: bool
) -> None:
    monkeypatch.setattr(d0ctl.nodes.transports.bulk, "BULK", 1)
    started: list[Callable[..., object]] = []
    popen = subprocess.Popen

    def noted(words: Any, *rest: Any, **more: Any) -> Any:
        started.extend(word for word in words if word == "ssh")
        return popen(words, *rest, **more)

    monkeypatch.setattr(subprocess, "Popen", noted)
    if not is_here:
        monkeypatch.setenv("PATH", str(tmp_path))
    data = large()
    copy = copy_of(made(nodes[0], "large", data), nodes[1], data)

    (facts,) = carried([copy], nodes)

    assert isinstance(facts, FileFacts)
    assert Path(copy.target).read_bytes() == data
    assert started, "the program was not tried"


def test_a_receiver_that_ends_before_the_last_byte_of_the_sender_has_all_files(
    nodes: Nodes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(d0ctl.nodes.transports.bulk, "BULK", 1)
    pass_on = stream._copy_bytes

    def break_at_the_end(source: Any, sink: Any) -> None:
        pass_on(source, sink)
        raise NodeUnreachable("the stream has ended") from BrokenPipeError()

    monkeypatch.setattr(stream, "_copy_bytes", break_at_the_end)
    data = large()
    copy = copy_of(made(nodes[0], "large", data), nodes[1], data)

    (facts,) = carried([copy], nodes)

    assert isinstance(facts, FileFacts)
    assert Path(copy.target).read_bytes() == data


def test_large_results_and_inputs_go_by_the_ssh_program_too(
    nodes: Nodes, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(d0ctl.nodes.transports.bulk, "BULK", 1)
    monkeypatch.setattr(FabricTransport, "get", None)
    monkeypatch.setattr(FabricTransport, "put", None)
    data = large()
    made_there = copy_of(made(nodes[0], "large", data), nodes[0], data)
    here = tmp_path / "here" / "large"
    link = nodes[0].open_link()

    fetched = replace(made_there, target=str(here))
    carry.fetch(fetched, nodes[0], link)
    carry.bring(replace(made_there, source=str(here)), nodes[0], link)

    assert here.read_bytes() == Path(made_there.target).read_bytes() == data
    with pytest.raises(Oversized):
        carry.fetch(replace(fetched, size=100), nodes[0], link)
    monkeypatch.setattr(nodes[0], "site", replace(nodes[0].site, reserve=2**60))
    with pytest.raises(NoSpace):
        carry.fetch(fetched, nodes[0], link)


@pytest.mark.parametrize("end", [0, 1])
def test_an_end_that_hangs_ends_the_stream(
    nodes: Nodes, sshds: list[Sshd], monkeypatch: pytest.MonkeyPatch, end: int
) -> None:
    monkeypatch.setattr(stream_ends, "LONGEST_S", 1.0)
    monkeypatch.setattr(stream_ends, "SLOWEST", 1e12)
    data = large()
    copy = copy_of(made(nodes[0], "large", data), nodes[1], data)
    pass_on = stream._copy_files

    def freeze_first(*pipes: Any) -> None:
        sshds[end].freeze()
        pass_on(*pipes)

    monkeypatch.setattr(stream, "_copy_files", freeze_first)
    with pytest.raises(D0Error):
        carried([copy], nodes)

    sshds[end].thaw()
    assert not Path(copy.target).exists()


def test_a_target_that_hangs_up_ends_the_stream(nodes: Nodes, tmp_path: Path) -> None:
    data = large()
    copy = copy_of(made(nodes[0], "large", data), nodes[1], data)
    nodes[1].leave()

    with pytest.raises(NodeUnreachable, match="`n2` is out of contact"):
        carried([copy], nodes)


def test_streams_one_after_another_have_the_same_ends(nodes: Nodes, sshds: list[Sshd]) -> None:
    copies = [copy_of(made(nodes[0], name, b"text"), nodes[1], b"text") for name in "abc"]
    back = copy_of(made(nodes[1], "d", b"back"), nodes[0], b"back")
    Path(copies[1].source).unlink()

    (first,), ends = carried(copies[:1], nodes), [stream_processes(sshd) for sshd in sshds]
    (gone,), (other,) = carried(copies[1:2], nodes), carried([back], (nodes[1], nodes[0]))
    (last,) = carried(copies[2:], nodes)

    assert isinstance(gone, NotFound)
    assert all(isinstance(facts, FileFacts) for facts in (first, other, last))
    assert [len(pids) for pids in ends] == [1, 1]
    assert [stream_processes(sshd) for sshd in sshds] == ends


def test_an_end_that_waited_for_long_is_not_used_again(
    nodes: Nodes, sshds: list[Sshd], monkeypatch: pytest.MonkeyPatch
) -> None:
    copies = [copy_of(made(nodes[0], name, b"text"), nodes[1], b"text") for name in "ab"]
    (first,), (former,) = carried(copies[:1], nodes), stream_processes(sshds[1])
    monkeypatch.setattr(stream_ends, "IDLE_S", 0.0)

    (second,) = carried(copies[1:], nodes)

    assert isinstance(first, FileFacts) and isinstance(second, FileFacts)
    wait_until(lambda: former not in stream_processes(sshds[1]), what="the former end is gone")
    assert len(nodes[1].open_link().idle) == 1


def test_a_sender_that_goes_on_behind_its_files_ends_the_stream(tmp_path: Path) -> None:
    (tmp_path / "sent").write_bytes(entry(1) + b"x" + entry(0))
    machine = LocalTransport("here")
    feed, sink = machine.start(f"cat {tmp_path}/sent"), machine.start("cat >/dev/null")

    with pytest.raises(ValueError, match="goes on behind its files"):
        stream._copy_files(End(feed, "/"), End(sink, "/"), 1)

    machine.close()
