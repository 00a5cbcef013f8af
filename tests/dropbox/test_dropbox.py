"""Whatever lies in the drop-box: messages come out, all else is put aside and harms nothing."""

import json
import os
import tempfile
import time
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from d0ctl import dropbox
from d0ctl.config import Home
from d0ctl.dropbox import DropBox
from d0ctl.errors import D0Error
from d0ctl_wrapper.protocol import message
from tests.dropbox.dropped import KEY, put, rejected, start
from tests.support.durability import assert_settled, journal
from tests.support.waiting import wait_until


def test_delivered_files_are_collected_until_they_are_cleared(box: DropBox) -> None:
    box.deliver("n1", [start(7), start(8)])

    letters = box.collect()

    assert [entry["attempt"] for entry in letters.messages] == [7, 8]
    assert box.collect().messages == letters.messages
    box.clear(letters.files)
    assert box.collect().files == []
    assert rejected(box) == []


def test_a_file_of_a_local_wrapper_is_collected_too(box: DropBox) -> None:
    put(box, "7.1", start(7))

    assert [entry["kind"] for entry in box.collect().messages] == ["start"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "does not end with a line end"),
        (start()[:-5], "does not end with a line end"),
        (start()[:-9] + "\n", "is not JSON"),
        (b"\xff\xfe\x00garbage", "can't decode"),
        (start(token="0" * 64), "the token of attempt 7 is wrong"),
        (start(token=message.token(b"other", 7)), "the token of attempt 7 is wrong"),
        (start(attempt=-1), "is not a whole number"),
        (start(time=float("nan")), "NaN is not a number"),
        (start(pid=10**30), "is not a whole number"),
        ("[" * 100_000 + "\n", "nested too deeply"),
        ('{"kind": "start"}\n', "has no `attempt`"),
        (start(7) + start(8), "of several attempts"),
    ],
    ids=[
        "empty", "cut", "torn", "binary", "forged", "of another site", "negative", "nan",
        "too large a number", "deep", "incomplete", "of two attempts",
    ],
)  # fmt: skip
def test_a_foreign_message_goes_to_rejected(
    box: DropBox, content: bytes | str, reason: str
) -> None:
    put(box, "7.1", content)
    put(box, "8.1", start(8))

    letters = box.collect()

    assert [entry["attempt"] for entry in letters.messages] == [8]
    assert [reason in said for said in rejected(box)] == [True], rejected(box)
    box.clear(letters.files)
    assert list(box.new.iterdir()) == []


def test_a_refused_end_is_reported_with_its_attempt_if_it_is_signed(box: DropBox) -> None:
    put(box, "7.1", start(7, kind="end"))
    put(box, "8.1", start(8, kind="end")[:-5])
    put(box, "9.1", start(9, kind="end", token="0" * 64))
    put(box, "10.1", start(10, kind="end", token=message.token(KEY, 11)))
    put(box, "11.1", start(11, pid=-1))

    letters = box.collect()

    assert letters.messages == []
    assert letters.refused == {
        7: ("line 1 has no `outcome`", None), 8: ("the text does not end with a line end", None),
    }  # fmt: skip


@given(st.binary(max_size=200))
def test_arbitrary_bytes_do_not_break_the_drop_box(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder))
        home.create()
        box = DropBox(home.dropbox, lambda: partial(message.token, KEY))
        put(box, "1.1", content)
        put(box, "n.batch", content)
        box.deliver("n", [content.decode("latin-1"), start(8)])

        assert [entry["attempt"] for entry in box.collect().messages] == [8]


def test_a_file_that_is_too_large_is_not_read(
    box: DropBox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dropbox, "LARGEST", 100)
    put(box, "7.1", "x" * 101)

    assert box.collect().files == []
    assert rejected(box) == ["the file is larger than 100 bytes"]


def test_anything_but_a_plain_file_is_put_aside_unread(box: DropBox, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(start())
    (box.new / "1.1").mkdir()
    os.mkfifo(box.new / "2.1")
    (box.new / "3.1").symlink_to(tmp_path / "secret")

    assert box.collect().messages == []
    assert len(rejected(box)) == 3
    assert list(box.new.iterdir()) == []


def test_the_torn_line_of_a_batch_does_not_hide_the_others(box: DropBox) -> None:
    torn = [json.dumps(start(8))[:-20], "17", "[" * 300_000]
    lines = [json.dumps(start(7)), *torn, json.dumps(start(9))]
    put(box, "n1.batch", "\n".join(lines) + "\n")

    assert [entry["attempt"] for entry in box.collect().messages] == [7, 9]
    assert rejected(box) == ["the line of the batch is torn"] * 3


def test_a_text_with_surrogates_can_be_rejected(box: DropBox) -> None:
    put(box, "n1.batch", '"\\ud800 half a character"\n' + json.dumps(start(9)) + "\n")

    assert [entry["attempt"] for entry in box.collect().messages] == [9]
    assert len(rejected(box)) == 1


def test_a_text_that_is_read_twice_is_rejected_once(box: DropBox) -> None:
    put(box, "7.1", "nothing\n")

    box.collect()
    box.collect()

    assert len(rejected(box)) == 1


def test_a_file_with_the_longest_possible_name_can_be_rejected(box: DropBox) -> None:
    put(box, "7" * 255, "nothing\n")

    box.collect()

    assert len(rejected(box)) == 1


def test_a_delivery_that_fails_leaves_nothing_behind(box: DropBox) -> None:
    box.new.rmdir()

    with pytest.raises(D0Error, match="takes no message: No such file"):
        box.deliver("n1", [start()])

    assert list((box.folder / "tmp").iterdir()) == []


@pytest.mark.parametrize(("folder", "days"), [("tmp", 1), ("rejected", 7)])
def test_unfinished_and_unread_files_are_swept(box: DropBox, folder: str, days: int) -> None:
    (box.folder / folder / "moved").mkdir()
    old, young = (box.folder / folder / name for name in ("old", "young"))
    for path, age_s in ((old, days * 86_400 + 60), (young, days * 86_400 - 60)):
        path.touch()
        os.utime(path, (time.time() - age_s,) * 2)

    box.sweep()

    assert young.exists()
    assert not old.exists()


def test_a_drop_box_in_use_opens_no_more_and_more_descriptors(box: DropBox) -> None:
    def use() -> int:
        box.deliver("n1", [start(7)])
        box.clear(box.collect().files)
        return len(list(Path("/proc/self/fd").iterdir()))

    before = use()

    assert [use() for _ in range(5)] == [before] * 5


def test_an_arrival_is_noticed_at_once(box: DropBox) -> None:
    seen: list[bool] = []
    with box.watched(lambda: seen.append(True)):
        box.deliver("n1", [start()])
        wait_until(lambda: seen, 5)


def test_a_message_is_on_the_disk_with_its_name_before_it_is_acknowledged(box: DropBox) -> None:
    with journal() as steps:
        box.deliver("n1", [start(7)])

    (file,) = box.new.iterdir()
    assert_settled(steps, file)
    assert steps[-1] == ("fsync", box.new)


def test_other_users_can_not_read_the_tokens_in_a_delivered_file(box: DropBox) -> None:
    mask = os.umask(0)
    try:
        box.deliver("n1", [start(7)])
    finally:
        os.umask(mask)

    (file,) = box.new.iterdir()
    assert file.stat().st_mode & 0o777 == 0o600
