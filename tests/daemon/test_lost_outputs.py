"""Lost outputs that were put back into a cache: d0ctl removes none of them."""

import time
from pathlib import Path

from d0ctl.daemon.desk import Desk
from d0ctl.doctor.orphans import PERHAPS_LOST, WITH_JOB, orphans
from d0ctl.nodes.inventory import Survey
from d0ctl.store.nodes import registry
from d0ctl_wrapper.protocol.paths import NodePaths
from d0ctl_wrapper.relay import listing
from tests.daemon.contact import list_again, turn, turn_until
from tests.daemon.test_inventory import made
from tests.support.rows import change, read


def contact(desk: Desk, path: Path) -> None:
    """Let a new contact with the node list the folder of its cache that has a file."""
    desk.set_unswept(1, (int(path.parent.name),))
    turn_until(desk, lambda: not desk.unswept.get(1))
    turn_until(desk, lambda: read(desk.store, "purge", "path") == [])


def put_back_after_loss(desk: Desk) -> Path:
    """Lose an output, and put it back, beside a file of a person."""
    former = made(desk, is_read=False)
    text = former.read_text()
    former.unlink()
    list_again(desk)
    former.parent.mkdir(exist_ok=True)
    former.write_text(text)
    former.with_name("mine").touch()
    return former


def test_a_lost_output_that_was_put_back_survives_a_contact_before_an_inventory(desk: Desk) -> None:
    former = put_back_after_loss(desk)

    contact(desk, former)
    assert former.exists()
    list_again(desk)
    turn_until(desk, lambda: read(desk.store, "location", "path", by="path"))

    assert read(desk.store, "file", "present") == [(1,)]


def test_doctor_says_that_an_inventory_takes_a_lost_output_in(desk: Desk) -> None:
    put_back_after_loss(desk)
    node = registry.find(desk.store, "localhost")
    assert node and node.base
    survey = Survey()
    for part in listing.survey(NodePaths(node.base.encode()), {"id": "1", "checksums": False}):
        survey.take(part["entries"])

    found = {row.subject.rpartition("/")[2]: row for row in orphans(desk.store, node, survey)}

    assert (found["f"].detail, found["f"].advice) == (PERHAPS_LOST, "")
    assert (found["mine"].detail, found["mine"].advice) == (WITH_JOB, "")


def test_a_folder_of_an_output_that_d0ctl_removed_is_removed_at_the_next_contact(
    desk: Desk,
) -> None:
    former = put_back_after_loss(desk)
    change(desk.store, "file", removed=time.time())

    contact(desk, former)

    turn(desk)
    assert not former.exists()
