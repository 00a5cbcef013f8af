"""Large attempts: what an honest wrapper sends stays within what a control host takes."""

import json
import os
from pathlib import Path

from d0ctl.nodes import frame_checks
from d0ctl_wrapper.attempt.chain.late_outputs import MOST
from d0ctl_wrapper.host import spool
from d0ctl_wrapper.protocol import message
from d0ctl_wrapper.protocol.frames import LONGEST, Stream
from d0ctl_wrapper.protocol.paths import NodePaths
from d0ctl_wrapper.relay.uplink import Uplink
from tests.wrapper.client import Client, binary, launch
from tests.wrapper.test_late import late, run

MANY_FILES = """
python3 - <<'END'
import os
os.makedirs("{folder}", exist_ok=True)
for number in range({count}):
    open("{folder}/part-%05d" % number, "w").close()
END
"""

DEEP = "/".join(["é" * 120] * 3)
"""Folders with long names, each character of which takes 6 bytes in a message."""


def test_outputs_whose_names_fill_more_than_a_frame_all_arrive(node: Client) -> None:
    script = MANY_FILES.format(count=2_500, folder=DEEP)

    end = run(node, script, late("*/*/*/part-*"))

    assert (end["outcome"], len(end["outputs"])) == ("successful", 2_500)
    (text,) = [text for text in node.files.values() if '"end"' in text]
    assert len(text) > LONGEST
    assert max(map(len, text.splitlines())) <= message.LONGEST


def test_more_late_outputs_than_the_limit_are_a_failure(node: Client) -> None:
    end = run(node, MANY_FILES.format(count=MOST + 1, folder="out"), late("out/part-*"))

    assert (end["outcome"], end["reason"]) == ("failed", "verification")
    assert end["detail"] == f"more than {MOST} files match the late outputs"


def test_a_hundred_thousand_missing_inputs_are_all_reported(node: Client, tmp_path: Path) -> None:
    inputs = [
        {"name": f"f{n:06}", "path": f"{tmp_path}/none/f{n:06}", "size": 1, "required": True}
        for n in range(100_000)
    ]

    end = node.run(binary("true"), inputs=inputs)

    assert end["reason"] == "missing-input"
    assert len(end["missing"]) == 100_000


def test_an_end_beyond_the_limits_becomes_a_plain_failure(node: Client) -> None:
    given = {"name": "in", "path": "/x" * 3000, "size": None, "required": True}

    end = node.run(binary("true"), inputs=[given])

    assert end["outcome"] == "failed"
    assert end["missing"] == []
    assert end["detail"].startswith("can't send its end message: line 2 `missing` item 1 is longer")


def test_a_wrapper_leaves_out_notes_beyond_the_most_that_are_kept(node: Client) -> None:
    outputs = [{"name": f"out-{n}", "min_size": None} for n in range(300)]
    step = binary("sleep", "60", outputs=outputs)
    node.launch(launch(1, step, keep=[output["name"] for output in outputs]))
    node.started(1)

    node.send("kill", attempts=[1], grace=1.0, partial=True)
    node.end(1)

    notes = [one["text"] for one in node.messages(1) if one["kind"] == "note"]
    assert len(notes) == message.MOST_NOTES
    assert notes[-1] == "further notes are left out"


def test_absurd_progress_is_left_out_and_the_rest_is_reported(node: Client) -> None:
    script = 'echo "1e999/2e999" >> "$D0CTL_PROGRESS"; sleep 3'
    node.launch(launch(1, binary(script=script)))
    node.end(1)

    (progress,) = [one for one in node.messages(1) if one["kind"] == "progress"]

    assert (progress["done"], progress["total"], progress["eta"]) == (None, None, None)
    assert progress["line"] == "1e999/2e999"


def test_a_long_list_of_attempts_comes_in_several_frames(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    stream = Stream(os.open(os.devnull, os.O_RDONLY), writer)
    entries = [{"attempt": n, "state": "ended"} for n in range(1, 25_001)]

    stream.send_list({"kind": "listed"}, "attempts", entries, 10_000)

    found = []
    while stream.backlog:
        stream.flush()
        found.append(os.read(reader, 1 << 20))
    lines = b"".join(found).splitlines()
    parts = [frame_checks.read(line) for line in lines]
    assert [entry for part in parts if part for entry in part["attempts"]] == entries
    assert [part["more"] for part in parts if part] == [True, True, False]


def test_a_relay_forgets_acknowledged_messages(tmp_path: Path) -> None:
    places = NodePaths(os.fsencode(tmp_path))
    places.make()
    names = [f"{n}.1" for n in range(1, 101)]
    for name in names:
        spool.write(places, name.encode(), json.dumps({"n": name}).encode() + b"\n")
    null = os.open(os.devnull, os.O_RDWR)
    uplink = Uplink(places, Stream(null, null))

    uplink.collect()
    assert len(uplink._sent) == 100
    uplink.acknowledge(names)

    assert not uplink._sent
    assert spool.waiting(places) == []
