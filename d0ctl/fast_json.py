"""JSON from and to nodes, several times as fast as with the standard library.

The checks of the wrapper decide what is accepted; if the two parsers differ, the result is
that of the wrapper.
"""

import json
from typing import Any

import msgspec

from d0ctl_wrapper.protocol.checks import json_text

_decode = msgspec.json.Decoder().decode
_decode_text = msgspec.json.Decoder(str).decode
_encode = msgspec.json.Encoder().encode


def decode_bounded(text: str | bytes) -> Any:
    """Parse one JSON text from a node, after counting its lists and objects if it is long.

    Raises ValueError as `json_text.decode_bounded` does, which also reads what this parser refuses.
    """
    try:
        if len(text) > json_text.MOST_CONTAINERS:
            json_text.check_containers(text)
        return _decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return json_text.decode(text)


def decode_text(line: str) -> str:
    """Parse a text of any length and content. Raises ValueError if it is not JSON."""
    try:
        return _decode_text(line)
    except (msgspec.DecodeError, UnicodeError):
        text = json_text.decode(line)
        if not isinstance(text, str):
            raise ValueError("is not text") from None
        return text


def encode(value: Any) -> bytes:
    """Return a value as one line of ASCII JSON."""
    try:
        line = _encode(value)
    except UnicodeError:  # a lone surrogate, which JSON can express and UTF-8 can't
        line = b"\xff"
    return line if line.isascii() else json.dumps(value, separators=(",", ":")).encode()
