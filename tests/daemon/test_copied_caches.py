"""Copies that were copied to their paths once more, as after a move to another disk."""

import shutil
import time
from pathlib import Path

from msgspec.structs import replace

from d0ctl.daemon.desk import Desk
from d0ctl.doctor.node_files import belongings
from d0ctl.nodes.inventory import Survey
from d0ctl.store.nodes import registry
from d0ctl_wrapper.protocol.paths import NodePaths
from d0ctl_wrapper.relay import listing
from tests.daemon.contact import list_again, turn_until
from tests.daemon.test_inventory import MANY, change, made, many_copies
from tests.support.jobs import phases
from tests.support.rows import read


def copied_again(path: Path) -> None:
    """Replace a file by a copy of it with another time and inode."""
    aside = path.with_name("aside")
    shutil.copyfile(path, aside)
    aside.replace(path)


def problems(desk: Desk) -> list[str]:
    """What the doctor finds on the node."""
    node = registry.find(desk.store, "localhost")
    assert node and node.base
    survey = Survey()
    for part in listing.survey(NodePaths(node.base.encode()), {"id": "1", "checksums": False}):
        survey.take([{"checksum": None, **entry} for entry in part["entries"]])
    return [finding.detail for finding in belongings(desk.store, node, survey)]


def test_a_copy_with_its_contents_counts_whatever_its_time_and_inode_are(desk: Desk) -> None:
    path = made(desk, is_read=True)
    copied_again(path)
    assert problems(desk) == ["was changed since it was copied there"]

    list_again(desk)

    assert read(desk.store, "location", "path", by="path") == [(str(path),)]
    assert read(desk.store, "cache_finding", "path", by="path") == []
    assert len(read(desk.store, "attempt", "outcome")) == 1
    assert problems(desk) == []


def test_a_restored_cache_that_was_copied_without_its_times_is_not_in_doubt(desk: Desk) -> None:
    paths = many_copies(desk)
    desk.site = replace(desk.site, restored=time.time())
    for path in paths:
        copied_again(path)

    list_again(desk)

    assert read(desk.store, "node", "doubted", "drained") == [(None, 0)]
    assert len(read(desk.store, "location", "path", by="path")) == MANY
    change(desk, "release")
    turn_until(desk, lambda: phases(desk.store)["job/1/2/1"] == "done")
    assert len(read(desk.store, "attempt", "outcome")) == 2


def test_a_copy_of_the_same_size_with_other_contents_is_lost(desk: Desk) -> None:
    path = made(desk, is_read=False)
    path.chmod(0o600)
    path.write_text("g\n")

    list_again(desk)

    assert read(desk.store, "location", "path", by="path") == []
    assert read(desk.store, "cache_finding", "finding", by="path") == [("changed",)]
