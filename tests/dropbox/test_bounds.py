"""Floods of messages: what is read, kept and logged of them is bounded."""

import os
import sys
from pathlib import Path

import pytest

from d0ctl import dropbox
from d0ctl.dropbox import DropBox
from d0ctl.rejected import DISCARDED, KEPT_BYTES, Rejected, discarded
from tests.dropbox.dropped import put, rejected, start


def test_one_read_takes_a_bounded_number_of_messages(
    box: DropBox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dropbox, "MOST_MESSAGES", 10)
    for number in range(1, 8):
        box.deliver("n1", [start(10 * number + n) for n in range(4)])

    letters = box.collect()

    assert letters.has_more
    assert 10 <= len(letters.messages) < 15


def test_a_file_that_grows_while_it_is_read_is_bounded_too(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(dropbox, "LARGEST", 1000)
    status = os.open("/proc/self", os.O_RDONLY)  # there, files have more than their size of 0
    try:
        with pytest.raises(ValueError, match="larger than 1000 bytes"):
            dropbox._read("smaps", status)
        assert dropbox._read("comm", status) == Path("/proc/self/comm").read_text()
    finally:
        os.close(status)


def test_a_flood_of_one_attempt_and_of_junk_delays_nobody_else(box: DropBox) -> None:
    for number in range(1500):
        put(box, f"1.{number}", start(1, seq=number + 1))
        put(box, f"junk-{number}", "?")
    for attempt in range(2, 42):
        put(box, f"{attempt}.1", start(attempt))
    box.deliver("n1", [start(50)])

    found = {message["attempt"] for message in box.collect().messages}

    assert found == {1, 50, *range(2, 42)}


def test_all_files_of_a_flood_are_read_each_once(box: DropBox) -> None:
    names = {f"{number % 70}.{number}" for number in range(500)}
    for name in names:
        put(box, name, start(int(name.split(".")[0]) + 1))

    seen: list[str] = []
    while files := box.collect(most=60).files:
        seen += files
        box.clear(files)

    assert sorted(seen) == sorted(names)


def test_senders_take_turns_from_read_to_read(box: DropBox) -> None:
    for attempt in range(1, 5):
        for number in range(1, 4):
            put(box, f"{attempt}.{number}", start(attempt))

    looks = []
    for _ in range(3):
        files = box.collect(most=3).files
        box.clear(files)
        looks.append(files)

    assert looks == [["1.1", "2.1", "3.1"], ["4.1", "1.2", "2.2"], ["3.2", "4.2", "1.3"]]


def test_of_a_flood_of_forged_messages_some_are_kept_and_the_others_counted(
    box: DropBox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("d0ctl.rejected.MOST_FILES", 5)

    for number in range(20):
        box.reject_text("n1", f"forged {number}", "the token is wrong")

    folder = box.folder / "rejected"
    assert len(rejected(box)) == 5
    lost = discarded(folder)
    assert (lost.count, lost.reason) == (15, "the token is wrong")
    assert lost.bytes == sum(len(f"forged {number}") for number in range(5, 20))


def test_rejected_messages_are_bounded_in_bytes(
    box: DropBox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("d0ctl.rejected.MOST_BYTES", 200_000)

    for number in range(10):
        box.reject_text("n1", f"{number}" * 1_000_000, "too long")

    sizes = [path.stat().st_size for path in (box.folder / "rejected").iterdir()]
    assert sum(sizes) < 201_000
    assert max(sizes) == KEPT_BYTES
    assert discarded(box.folder / "rejected").count == 7


def test_discarded_messages_are_counted_and_the_count_written_once(
    box: DropBox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("d0ctl.rejected.MOST_FILES", 5)
    texts = [f"forged {number}\n" for number in range(100)]
    written = str(box.folder / "rejected" / DISCARDED)
    opened: list[str] = []

    def note(event: str, words: tuple[object, ...]) -> None:
        if event == "open" and words[0] == written:
            opened.append(str(words[1]))

    sys.addaudithook(note)
    box.deliver("n1", texts)
    box.collect()

    assert discarded(box.folder / "rejected").count == 95
    assert opened.count("w") == 1


def test_a_folder_that_was_cleared_takes_rejected_messages_again(
    box: DropBox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("d0ctl.rejected.MOST_FILES", 1)
    monkeypatch.setattr("d0ctl.rejected.LOOK_AGAIN_S", -1.0)
    for text in ("first", "second"):
        box.reject_text("n1", text, "why")
    assert len(rejected(box)) == 1

    for path in (box.folder / "rejected").iterdir():
        path.unlink()
    box.reject_text("n1", "third", "why")

    assert len(rejected(box)) == 1
    assert discarded(box.folder / "rejected").count == 0


def test_the_log_summarises_rejected_messages(
    box: DropBox, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(50):
        box.reject_text("n1", f"forged {number}", "the token is wrong\x1b[2J")
    monkeypatch.setattr("d0ctl.rejected.LOG_EVERY_S", -1.0)
    box.reject_text("n1", "the last", "it is torn")

    assert [record.message for record in caplog.records] == [
        "rejected 1 message: the token is wrong\\x1b[2J",
        "rejected 50 messages: the last one: it is torn",
    ]


def test_the_log_counts_rejected_messages_by_batch_and_leaves_none_out(
    box: DropBox, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    box.deliver("n1", ["no message", "none either", "nor this"])
    box.collect()
    box.deliver("n1", ["a late one"])
    box.collect()
    monkeypatch.setattr("d0ctl.rejected.LOG_EVERY_S", -1.0)
    box.collect()

    assert [record.message.partition(":")[0] for record in caplog.records] == [
        "rejected 3 messages",
        "rejected 1 message",
    ]


def test_the_files_of_a_node_that_nobody_has_read_are_counted(box: DropBox) -> None:
    for number in (1, 2):
        box.deliver("n1", [start(number)])
    assert (box.unread("n1"), box.unread("n2")) == (2, 0)

    box.clear(box.collect().files)

    assert box.unread("n1") == 0


@pytest.mark.parametrize("reason", [None, ""])
def test_a_message_kept_on_a_disk_that_was_full_gets_its_reason_at_the_next_turn(
    tmp_path: Path, reason: str | None
) -> None:
    folder = Rejected(tmp_path)
    folder.keep("one", "half a mess", "it was cut off")
    [beside] = tmp_path.glob("*.reason")
    beside.unlink()
    if reason is not None:
        beside.write_text(reason)

    folder.keep("one", "half a mess", "it was cut off")
    assert beside.read_text() == "it was cut off\n"
