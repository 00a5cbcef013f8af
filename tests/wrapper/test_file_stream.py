"""Both ends of a stream of files, on every python that a node may have."""

import hashlib
import os
import subprocess
from pathlib import Path

import pytest

import d0ctl_wrapper
from d0ctl_wrapper.protocol import file_stream
from tests.wrapper.pythons import found, versions

SOURCES = str(Path(d0ctl_wrapper.__path__[0]).parent)


def run(python: str, end: str, said: bytes) -> bytes:
    """What an end of a stream prints when it gets this."""
    words = [python, "-S", "-m", "d0ctl_wrapper", end]
    done = subprocess.run(
        words, input=said, capture_output=True, timeout=60,
        env={"PYTHONPATH": SOURCES, "PYTHONDONTWRITEBYTECODE": "1", "LC_ALL": "C"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("version", versions())
def test_files_go_from_any_python_to_any_other(tmp_path: Path, version: str) -> None:
    for folder in ("cache/7", "cache/in", "cache/aside"):
        (tmp_path / folder).mkdir(parents=True)
    texts = {"größe": b"small", "empty": b"", "large": os.urandom(file_stream.RESUMED)}
    for name, text in texts.items():
        (tmp_path / "cache/7" / name).write_bytes(text)
    common = {"nonce": "n", "base": str(tmp_path)}
    sent = [
        {"path": f"cache/7/{name}", "size": len(text), "offset": 0} for name, text in texts.items()
    ]
    wanted = [
        {
            "path": f"cache/in/{name}/{name}",
            "size": len(text),
            "checksum": f"sha256:{hashlib.sha256(text).hexdigest()}",
        }
        for name, text in texts.items()
    ]
    others = list(found().values())

    stream = run(found()[version], "send", file_stream.encode({**common, "files": sent}))
    for python in (others[0], others[-1]):
        said = run(python, "receive", file_stream.encode({**common, "files": wanted}) + stream)

        assert said.splitlines()[:2] == [b"d0ctl n", b'{"offsets":[[2,0]]}']
        assert said.count(b'"fault":""') == len(texts)
        for name, text in texts.items():
            assert (tmp_path / "cache/in" / name / name).read_bytes() == text
