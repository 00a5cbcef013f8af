"""The same wrapper on every python that a node may have."""

import zlib
from pathlib import Path

import pytest

from tests.support.web import serving
from tests.wrapper.client import binary, launch
from tests.wrapper.conftest import Connect
from tests.wrapper.pythons import found, versions

OUTERMOST = {next(iter(found())), next(reversed(found()))}

CASES = [*((version, "C") for version in found()), *((one, "C.UTF-8") for one in OUTERMOST)]
"""Every python in the locale that is hardest on it, the oldest and the newest in another."""


@pytest.mark.parametrize(("version", "locale"), sorted(CASES))
def test_attempts_run_under_every_python(
    connect: Connect, tmp_path: Path, version: str, locale: str
) -> None:
    node = connect(found()[version], environment={"LC_ALL": locale})
    raw = tmp_path / "größe"
    raw.write_text("event\n")
    given = {"name": "größe", "path": str(raw), "size": 6, "required": True}
    made = {"name": "ergebnis ü", "min_size": 6}

    node.launch(
        launch(
            1,
            binary(script="cat größe > 'ergebnis ü'", inputs=["größe"], outputs=[made]),
            binary("false"),
            inputs=[given],
        ),
        launch(2, binary(script="cat größe > 'ergebnis ü'"), inputs=[given], keep=["ergebnis ü"]),
        launch(3, binary("no-such-program-é")),
        launch(4, binary(script="trap '' TERM; (setsid sleep 300 &) ; sleep 300; sleep 300")),
        launch(5, binary("sleep", "300")),
    )

    assert node.wait("hello")["facts"]["python"].startswith(version)
    assert [node.end(1)[key] for key in ("reason", "binary")] == ["exit-code", 2]
    assert node.end(2)["outputs"][0]["path"] == str(node.base / "cache/2/ergebnis ü")
    assert node.end(3)["reason"] == "software-missing"
    node.started(4)
    node.send("kill", attempts=[4], grace=0.1)
    assert node.end(4)["outcome"] == "killed"
    node.started(5)
    node.send("hash", id="x", path="cache/2/ergebnis ü")
    assert node.wait("hashed")["size"] == 6
    node.process.kill()
    successor = connect(found()[version], environment={"LC_ALL": locale})
    states = {one["attempt"]: one["state"] for one in successor.wait("hello")["attempts"]}
    assert states == {1: "ended", 2: "ended", 3: "ended", 4: "ended", 5: "running"}
    successor.send("kill", attempts=[5], grace=5)
    assert successor.end(5)["outcome"] == "killed"
    assert successor.close() == 0


@pytest.mark.parametrize("version", versions())
def test_files_come_and_go_under_every_python(
    connect: Connect, tmp_path: Path, version: str
) -> None:
    node = connect(found()[version], environment={"LC_ALL": "C"})
    target = tmp_path / "weit weg/größe"
    make = binary(script="cat größe > out", outputs=[{"name": "out", "min_size": None}])
    checksum = f"adler32:{zlib.adler32(b'event'):08x}"

    with serving() as web:
        web.files["/raw"] = b"event"
        given = {"name": "größe", "path": None, "size": 5, "required": True}
        end = node.run(
            make,
            inputs=[{**given, "locator": f"{web.url}/raw", "checksum": checksum}],
            keep=["out"],
            deliver=[
                {"name": "out", "locator": str(target)},
                {"name": "out", "locator": f"{web.url}/out"},
            ],
        )

        assert end["outcome"] == "successful", end
        assert target.read_bytes() == web.files["/out"] == b"event"
