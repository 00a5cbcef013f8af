"""Messages in a drop-box, signed or spoiled."""

import os

from d0ctl.dropbox import DropBox
from d0ctl_wrapper.protocol import message

KEY = b"k" * 32


def start(attempt: int = 7, **more: object) -> str:
    """The text of a start message."""
    fields: dict[str, object] = {
        "attempt": attempt,
        "token": message.token(KEY, attempt),
        "seq": 1,
        "time": 5.0,
        "kind": "start",
        "pid": 3,
        "boot_id": "b",
        "utc_offset": 0,
    }
    return message.text([{**fields, **more}])


def put(box: DropBox, name: str, content: bytes | str) -> None:
    """Put a file into the drop-box, as anybody can who may write there."""
    data = content.encode() if isinstance(content, str) else content
    (box.new / name).write_bytes(data)


def rejected(box: DropBox) -> list[str]:
    """The reasons why files or texts were put aside."""
    folder = box.folder / "rejected"
    reasons = sorted(folder.glob("*.reason"))
    for path in reasons:
        assert os.path.lexists(path.with_name(path.name.removesuffix(".reason")))
    return [path.read_text().strip() for path in reasons]
