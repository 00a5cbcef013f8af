"""Small copies in the cache are hard links in a working directory, and stay what they are."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from d0ctl_wrapper.attempt.run.processes import Terminated
from d0ctl_wrapper.attempt.slot import Slot
from d0ctl_wrapper.attempt.stage import inputs
from d0ctl_wrapper.attempt.stage.inputs import MOST_LINKED, OBEY_EVERY
from d0ctl_wrapper.protocol import launch as launches
from d0ctl_wrapper.protocol.paths import NodePaths
from tests.wrapper.client import Client, Frame, binary, launch
from tests.wrapper.test_guards import sums_up
from tests.wrapper.test_inputs import DATA, OUT, copy, entry

HOW = "stat -c '%F %h' raw; cat raw > out"
"""Prints the kind of the input, and its number of hard links."""


def run(node: Client, script: str, *inputs: Frame, **more: Any) -> Frame:
    return node.run(
        binary(script=script, outputs=OUT), **{"inputs": list(inputs), "keep": ["out"], **more}
    )


def printed(node: Client, attempt: int = 1) -> str:
    return (node.folder(attempt) / "1.out").read_text()


@pytest.fixture
def elsewhere(tmp_path: Path) -> Iterator[Path]:
    """A folder on another file system than that of the tests, which may be in memory."""
    ours = tmp_path.stat().st_dev
    others = [path for path in ("/dev/shm", "/var/tmp") if Path(path).stat().st_dev != ours]
    with TemporaryDirectory(dir=others[0]) as folder:
        yield Path(folder)


def test_a_small_copy_is_a_hard_link_that_goes_with_the_working_directory(node: Client) -> None:
    path = copy(node)

    end = run(node, HOW, entry(path))

    assert end["outcome"] == "successful", end
    assert printed(node) == "regular file 2\n"
    assert Path(end["outputs"][0]["path"]).read_bytes() == path.read_bytes() == DATA
    assert path.stat().st_nlink == 1


def test_a_large_copy_is_a_symbolic_link(node: Client) -> None:
    run(node, HOW, entry(copy(node, bytes(MOST_LINKED))))
    run(node, HOW, entry(copy(node, bytes(MOST_LINKED + 1))), attempt=2)

    assert printed(node) == "regular file 2\n"
    assert printed(node, 2) == "symbolic link 1\n"


@pytest.mark.parametrize("whose", ["not recorded", "writable", "outside of the site's folder"])
def test_a_file_that_may_not_be_d0ctl_s_own_is_a_symbolic_link(
    node: Client, tmp_path_factory: pytest.TempPathFactory, whose: str
) -> None:
    path = copy(node)
    if whose == "writable":
        path.chmod(0o600)
    if whose == "outside of the site's folder":
        path = path.rename(tmp_path_factory.mktemp("outside") / "raw")
        assert not path.is_relative_to(node.base.parent)
    given = entry(path)
    if whose == "not recorded":
        given |= {"inode": None, "mtime": None}

    assert run(node, HOW, given)["outcome"] == "successful"
    assert printed(node) == "symbolic link 1\n"


def test_a_cache_on_another_file_system_has_symbolic_links(node: Client, elsewhere: Path) -> None:
    (node.base / "cache/in").mkdir(parents=True, exist_ok=True)
    (node.base / "cache/in/7").symlink_to(elsewhere)

    assert run(node, HOW, entry(copy(node)))["outcome"] == "successful"
    assert printed(node) == "symbolic link 1\n"


@pytest.mark.parametrize("how", ["mv raw out", "ln raw out", "cp -al raw out"])
def test_an_input_given_out_as_the_output_is_kept_as_a_copy(node: Client, how: str) -> None:
    path = copy(node)

    end = run(node, how, entry(path))

    assert end["outcome"] == "successful", end
    kept = Path(end["outputs"][0]["path"])
    assert kept.read_bytes() == path.read_bytes() == DATA
    assert kept.stat().st_ino != path.stat().st_ino
    assert kept.stat().st_nlink == path.stat().st_nlink == 1


def test_an_output_with_the_name_of_an_input_must_be_made(node: Client) -> None:
    path = copy(node)
    made: Frame = {"outputs": [{"name": "raw", "min_size": None}]}

    kept = node.run(binary("true", **made), inputs=[entry(path)], keep=["raw"])
    over = binary(script="echo made > new; mv -f new raw", **made)
    made_anew = node.run(over, inputs=[entry(path)], keep=["raw"], attempt=2)

    assert sums_up(kept)[:2] == ("failed", "missing-output")
    assert kept["detail"].endswith("output `raw` is still the input of that name")
    assert Path(made_anew["outputs"][0]["path"]).read_text() == "made\n"
    assert path.read_bytes() == DATA


@pytest.mark.parametrize("result", ["true", "false", "kill -KILL $$"])
def test_a_copy_is_read_only_after_a_package_has_opened_its_folder_to_writing(
    node: Client, result: str
) -> None:
    path = copy(node)

    run(node, f"cat raw > out; chmod -R u+w .; {result}", entry(path))

    assert stat.S_IMODE(path.stat().st_mode) == 0o400
    assert path.read_bytes() == DATA


def test_a_package_that_writes_into_its_input_fails(node: Client) -> None:
    path = copy(node)

    end = run(node, "chmod u+w raw; echo more >> raw; cp raw out", entry(path))

    assert sums_up(end)[:2] == ("failed", "verification")
    assert end["detail"].startswith("input `raw` was changed while the package ran")
    assert stat.S_IMODE(path.stat().st_mode) == 0o400


@pytest.mark.parametrize("change", ["mv -f {path}.new {path}", "rm -f {path}"])
def test_a_copy_that_d0ctl_replaces_or_removes_meanwhile_stays_what_it_was(
    node: Client, change: str
) -> None:
    path = copy(node)
    path.with_name(f"{path.name}.new").write_bytes(b"new")

    end = run(node, f"{change.format(path=path)}; cat raw > out", entry(path))

    assert end["outcome"] == "successful", end
    assert Path(end["outputs"][0]["path"]).read_bytes() == DATA


def test_a_package_that_writes_into_its_input_fails_although_d0ctl_has_replaced_the_copy(
    node: Client,
) -> None:
    path = copy(node)

    end = run(node, f"rm -f {path}; chmod u+w raw; echo more >> raw; cp raw out", entry(path))

    assert sums_up(end)[:2] == ("failed", "verification")


def test_hard_links_to_inputs_take_no_disk(node: Client) -> None:
    paths = [copy(node).with_name(f"raw{number}") for number in range(3)]
    for path in paths:
        path.write_bytes(os.urandom(MOST_LINKED))
        path.chmod(0o400)
    given = [{**entry(path), "name": path.name} for path in paths]

    end = run(node, "sleep 0.5; cat raw0 > out", *given, guards={"disk": 1_500_000})

    assert end["outcome"] == "successful", end
    (step,) = end["binaries"]
    assert MOST_LINKED <= step["disk"] < 2 * MOST_LINKED, "its output is its own"


def test_the_folder_of_a_dead_attempt_goes_without_its_inputs(node: Client) -> None:
    path = copy(node)
    node.launch(launch(1, binary("sleep", "300"), inputs=[entry(path)]))
    node.message(1, "start")
    assert path.stat().st_nlink == 2

    node.send("kill", attempts=[1], grace=0)
    node.end(1)

    assert path.stat().st_nlink == 1
    assert path.read_bytes() == DATA


@pytest.mark.parametrize("is_linking", [False, True])
def test_a_kill_does_not_wait_until_many_inputs_are_linked(
    tmp_path: Path, is_linking: bool
) -> None:
    (tmp_path / "raw").write_bytes(DATA)
    paths = NodePaths(os.fsencode(tmp_path / "base"))
    paths.make()
    folder = paths.attempt(1)
    work = Path(os.fsdecode(folder.work))
    work.parent.mkdir()
    raw = entry(tmp_path / "raw")
    many = [{**raw, "name": f"raw{number}"} for number in range(10 * OBEY_EVERY)]
    asked = launches.check(launch(1, binary("true"), inputs=many))

    def obey() -> None:
        if not is_linking or work.exists():
            raise Terminated

    with pytest.raises(Terminated):
        inputs.prepare(folder, asked, Slot(paths), lambda: pytest.fail("a transfer"), obey)

    assert work.exists() == is_linking
    if is_linking:
        assert len(list(work.iterdir())) == OBEY_EVERY
