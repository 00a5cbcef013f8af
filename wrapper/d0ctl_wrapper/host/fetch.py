"""The only place that opens what lies elsewhere: a file of this node, or one behind a URL."""

import os
from contextlib import contextmanager
from typing import IO, Any, Callable, Iterator

from d0ctl_wrapper.disk import CHUNK, FULL
from d0ctl_wrapper.protocol.paths import NodePaths, to_path

PATIENCE = 30.0
"""How many seconds a server may say nothing."""

GONE = (404, 410)
"""The answers of a server that has no such file."""


class Vanished(Exception):
    """What is asked for is not there."""


class Unreachable(Exception):
    """What is asked for can't be had just now."""


def is_url(source: str) -> bool:
    """Tell whether a source is behind a server."""
    return source.startswith(("http://", "https://"))


@contextmanager
def opened(
    paths: NodePaths, source: str, aside: bytes, pause: "Callable[[], None]"
) -> "Iterator[IO[bytes]]":
    """Open a source to be read; one behind a URL comes to `aside` first.

    Raises Vanished or Unreachable.
    """
    path = aside
    if is_url(source):
        _download(source, aside, pause)
    else:
        path = _path(paths, source)
    with _open(path, source) as file:
        yield file


def _open(path: bytes, source: str) -> "IO[bytes]":
    try:
        return open(path, "rb")
    except FileNotFoundError:
        raise Vanished("there is no `%s`" % source)
    except OSError as error:
        raise Unreachable("`%s` cannot be read: %s" % (source, error.strerror))


def _path(paths: NodePaths, source: str) -> bytes:
    if source.startswith("file://"):
        from urllib.parse import unquote_to_bytes

        return b"/" + unquote_to_bytes(source[len("file://") :].partition("/")[2])
    return os.path.join(paths.base, to_path(source))


def _download(url: str, path: bytes, pause: "Callable[[], None]") -> None:
    from http.client import HTTPException
    from urllib.error import HTTPError
    from urllib.request import urlopen

    try:
        with urlopen(url, timeout=PATIENCE) as answer:
            _save(answer, path, pause)
    except HTTPError as error:
        with error:
            told = "`%s` answers %d %s" % (url, error.code, error.reason)
        raise (Vanished if error.code in GONE else Unreachable)(told)
    except HTTPException as error:
        raise Unreachable("`%s` breaks off: %s" % (url, error))
    except ValueError as error:
        raise Vanished("`%s` is no URL: %s" % (url, error))
    except OSError as error:
        if error.errno in FULL:
            raise
        raise Unreachable("`%s` does not answer: %s" % (url, getattr(error, "reason", error)))


def _save(answer: Any, path: bytes, pause: "Callable[[], None]") -> None:
    expected = answer.headers.get("Content-Length")
    size = 0
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        while True:
            pause()
            chunk = answer.read(CHUNK)
            if not chunk:
                break
            size += len(chunk)
            file.write(chunk)
    if expected is not None and size != int(expected):
        raise Unreachable("only %d of %s bytes came" % (size, expected))
