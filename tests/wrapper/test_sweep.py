"""Files that attempts leave on a node are removed once unneeded; their logs stay a while."""

import os
import time
from pathlib import Path

from tests.support.waiting import wait_until
from tests.wrapper.client import Client, binary, launch
from tests.wrapper.conftest import Connect


def test_a_failed_attempt_leaves_its_logs_only(node: Client) -> None:
    node.run(binary(script="echo said; echo work > file; exit 3"))

    names = {path.name for path in node.folder(1).iterdir()}
    assert {"1.out", "1.err", "end"} <= names
    assert not {"work", "staging", "unfinished_files"} & names
    assert (node.folder(1) / "1.out").read_text() == "said\n"


def test_the_work_of_a_dead_attempt_is_removed(node: Client) -> None:
    node.launch(launch(1, binary(script="echo > file; sleep 1000")))
    wrapper = node.started(1)

    os.kill(wrapper, 9)

    node.wait("dead")
    wait_until(lambda: not (node.folder(1) / "work").exists())
    assert (node.folder(1) / "1.out").exists()


def test_the_work_of_one_that_died_without_a_relay_is_removed(
    node: Client, connect: Connect
) -> None:
    node.launch(launch(1, binary(script="echo > file; sleep 1000")))
    wrapper = node.started(1)
    node.process.kill()
    node.process.wait()
    os.kill(wrapper, 9)

    connect()

    wait_until(lambda: not (node.folder(1) / "work").exists())


def test_half_files_of_a_previous_connection_are_removed(node: Client, connect: Connect) -> None:
    aside = node.base / "cache/aside/half"
    aside.write_text("half")
    node.close()

    connect().wait("hello")

    wait_until(lambda: not aside.exists())


def test_logs_are_removed_after_their_time(node: Client, connect: Connect) -> None:
    for attempt in (1, 2):
        node.run(
            binary(script="echo x > out", outputs=[{"name": "out", "min_size": None}]),
            attempt=attempt,
            keep=["out"],
        )
    node.close()
    long_ago = time.time() - 100
    os.utime(node.folder(1) / "end", (long_ago, long_ago))

    again = connect(keep_logs=50)
    again.wait("hello")

    wait_until(lambda: not node.folder(1).exists())
    assert node.folder(2).exists()
    assert (node.base / "cache/1/out").exists()


def test_a_relay_accepts_a_new_time_for_keeping_logs(node: Client) -> None:
    node.run(binary(script="true"))
    wait_until(lambda: (node.folder(1) / "end").exists())

    node.send("keep", seconds=-1)

    wait_until(lambda: not node.folder(1).exists())


def test_logs_of_an_attempt_with_unsent_messages_stay(node: Client, connect: Connect) -> None:
    node.acknowledges = False
    node.run(binary(script="true"))
    node.close()
    aside = node.base / "cache/aside/half"
    aside.write_text("half")

    again = connect(keep_logs=-100)
    again.acknowledges = False
    again.wait("hello")

    wait_until(lambda: not aside.exists())
    assert node.folder(1).exists()


def test_the_beginning_of_a_large_file_stays_for_a_day(node: Client, connect: Connect) -> None:
    node.close()
    recent, old = (node.base / "cache/aside" / name for name in ("part-1", "part-2"))
    for path in (recent, old):
        path.write_text("begun")
    os.utime(old, (time.time() - 90_000,) * 2)

    connect().wait("hello")

    wait_until(lambda: not old.exists())
    assert recent.exists()


def test_a_folder_of_the_cache_is_removed_with_its_last_file(node: Client) -> None:
    two = binary(
        script="mkdir -p a/b; echo > a/b/one; echo > two",
        outputs=[{"name": name, "min_size": None} for name in ("a/b/one", "two")],
    )
    one, other = (Path(o["path"]) for o in node.run(two, keep=["a/b/one", "two"])["outputs"])

    node.send("forget", attempts=[], paths=[str(one)])
    node.wait("forgotten")
    assert not (node.base / "cache/1/a").exists() and other.exists()

    node.send("forget", attempts=[], paths=[str(other)])
    node.wait("forgotten")
    assert not (node.base / "cache/1").exists()
    assert (node.base / "cache/in").exists()
