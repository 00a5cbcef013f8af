"""Reading a source: a file of this node, or a URL."""

import os
from contextlib import contextmanager
from typing import IO, Any, Callable, Iterator

from d0ctl_wrapper.disk import CHUNK, FULL
from d0ctl_wrapper.protocol.paths import NodePaths, to_path

SERVER_TIMEOUT_S = 30.0
"""The seconds that a server may be silent."""

GONE = (404, 410)
"""The answers of a server without the file."""


class SourceNotFound(Exception):
    """The source does not exist."""


class Unreachable(Exception):
    """The source can't be read now."""


def is_url(source: str) -> bool:
    """Return whether a source is a URL of a server."""
    return source.startswith(("http://", "https://"))


@contextmanager
def opened(
    paths: NodePaths, source: str, aside: bytes, pause_point: "Callable[[], None]"
) -> "Iterator[IO[bytes]]":
    """Open a source for reading; a URL is downloaded to `aside` first.

    Raises SourceNotFound or Unreachable.
    """
    path = aside
    if is_url(source):
        _download(source, aside, pause_point)
    else:
        path = _path(paths, source)
    with _open(path, source) as file:
        yield file


def _open(path: bytes, source: str) -> "IO[bytes]":
    try:
        return open(path, "rb")
    except FileNotFoundError:
        raise SourceNotFound("`%s` does not exist" % source)
    except OSError as error:
        raise Unreachable("can't read `%s`: %s" % (source, error.strerror))


def _path(paths: NodePaths, source: str) -> bytes:
    if source.startswith("file://"):
        from urllib.parse import unquote_to_bytes

        return b"/" + unquote_to_bytes(source[len("file://") :].partition("/")[2])
    return os.path.join(paths.base, to_path(source))


def _download(url: str, path: bytes, pause_point: "Callable[[], None]") -> None:
    from http.client import HTTPException
    from urllib.error import HTTPError
    from urllib.request import urlopen

    try:
        with urlopen(url, timeout=SERVER_TIMEOUT_S) as answer:
            _save(answer, path, pause_point)
    except HTTPError as error:
        with error:
            message = "`%s` answers %d %s" % (url, error.code, error.reason)
        raise (SourceNotFound if error.code in GONE else Unreachable)(message)
    except HTTPException as error:
        raise Unreachable("`%s` broke off: %s" % (url, error))
    except ValueError as error:
        raise SourceNotFound("`%s` is not a URL: %s" % (url, error))
    except OSError as error:
        if error.errno in FULL:
            raise
        raise Unreachable("`%s` does not answer: %s" % (url, getattr(error, "reason", error)))


def _save(answer: Any, path: bytes, pause_point: "Callable[[], None]") -> None:
    expected = answer.headers.get("Content-Length")
    size = 0
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        while True:
            pause_point()
            chunk = answer.read(CHUNK)
            if not chunk:
                break
            size += len(chunk)
            file.write(chunk)
    if expected is not None and size != int(expected):
        raise Unreachable("only %d of %s bytes arrived" % (size, expected))
