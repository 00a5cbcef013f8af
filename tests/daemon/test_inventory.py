"""Caches that others change, noticed by inventories of a real relay."""

import os
import time
from pathlib import Path

import pytest

from d0ctl.actions import apply, request
from d0ctl.actions.nodes.node_accept_loss import LossPlan
from d0ctl.daemon.desk import Desk
from d0ctl.daemon.in_progress import Transfer
from d0ctl.daemon.steps import inventory, rereading
from d0ctl.doctor.node_files import caches_in_doubt
from d0ctl.doctor.orphans import AFTER_JOB, UNKNOWN, unknown_files
from d0ctl.errors import Refused
from d0ctl.jobfile.spec import Disposition, OutputSpec
from d0ctl.nodes.inventory import Survey
from d0ctl.select import parse
from d0ctl.show.why.file import file as why_file
from d0ctl.show.why.node import node as why_node
from d0ctl.store import Store
from d0ctl.store.clusters.doubt import MissingCopies
from d0ctl.store.files import inventory as store_inventory
from d0ctl.store.files.copies import Arrival
from d0ctl.store.views import file_locations
from d0ctl_wrapper.protocol.paths import NodePaths
from d0ctl_wrapper.relay import listing
from tests.daemon.contact import list_again, listed, turn, turn_until
from tests.support.acting import act
from tests.support.jobs import job, phases, simple, submitted
from tests.support.rows import delete, read, value

MANY = 30
"""More files than are missed without doubt."""

ELSEWHERE = ("another-node",)


def made(desk: Desk, *, is_read: bool) -> Path:
    """Let a package make `f`, which another one is to read; return the path of the copy."""
    output = OutputSpec(
        "f", dispositions=frozenset() if is_read else frozenset({Disposition.RETAIN_INDEF})
    )
    readers = [simple(inputs=["f"], nodes=ELSEWHERE)] if is_read else []
    submitted(desk.store, job("job", [simple("echo f > f", outputs=[output]), *readers]))
    turn_until(desk, lambda: read(desk.store, "location", "path", by="path"))
    turn_until(desk, lambda: listed(desk))
    return Path(value(desk.store, "location", "path"))


def many_copies(desk: Desk) -> list[Path]:
    """Let a package make many files, which one that is held is to read; return their copies."""
    names = [f"f{number:02}" for number in range(MANY)]
    kept = frozenset({Disposition.RETAIN_INDEF})
    outputs = [OutputSpec(name, dispositions=kept) for name in names]
    maker = simple(f"for f in {' '.join(names)}; do echo 1 > $f; done", outputs=outputs)
    submitted(desk.store, job("job", [maker, simple("cat f00", inputs=["f00"])]))
    change(desk, "hold")
    turn_until(desk, lambda: phases(desk.store)["job/1/1/1"] == "done")
    turn_until(desk, lambda: listed(desk))
    return [Path(path) for (path,) in read(desk.store, "location", "path", by="path")]


def change(desk: Desk, verb: str) -> None:
    """Hold or release the reader."""
    apply(desk.store, request(verb, parse("job/1/2/1")), actor="eve", note=None, now=time.time())


def unmounted(desk: Desk) -> tuple[Path, Path]:
    """Move the whole cache away, as a disk that is not mounted, and let the reader go on."""
    cache = many_copies(desk)[0].parents[1]
    away = cache.with_name("away")
    cache.rename(away)
    list_again(desk)
    change(desk, "release")
    turn(desk)
    return cache, away


def why(desk: Desk, name: str = "f") -> str:
    """Everything that is said of the file."""
    found_file = file_locations.in_job(desk.store, "job", name)
    explained = why_file(desk.store, found_file, time.time())
    return "\n".join([explained.answer, *explained.facts])


def test_old_findings_are_forgotten_in_slices(store: Store) -> None:
    old = [store_inventory.CacheFinding(1, f"old-{n}", "vanished", None, 0.0) for n in range(1500)]
    with store.writing():
        store_inventory.keep(
            store, [*old, store_inventory.CacheFinding(1, "new", "vanished", None, 10**9)]
        )

        assert [store_inventory.forget_old(store, now=10**9) for _ in range(3)] == [1000, 500, 0]

    assert read(store, "cache_finding", "path", by="path") == [("new",)]


def test_a_copy_that_was_removed_by_hand_is_made_again_before_its_reader_misses_it(
    desk: Desk,
) -> None:
    former = made(desk, is_read=True)

    former.unlink()
    with desk.store.writing():
        desk.store.change("keep_setting", name="defaults", value='{"inventory-every": 0.05}')
    desk.inventory_due.clear()
    turn_until(
        desk, lambda: read(desk.store, "location", "path", by="path") not in ([], [(str(former),)])
    )

    assert read(desk.store, "cache_finding", "path", "finding", by="path") == [
        (str(former), "vanished")
    ]
    assert f"its copy {former} on `localhost` was removed, but not by d0ctl" in why(desk)
    assert [row[0] for row in read(desk.store, "attempt", "outcome")] == ["successful"] * 2


def test_a_copy_that_was_changed_by_hand_is_made_again(desk: Desk) -> None:
    former = made(desk, is_read=True)

    former.chmod(0o600)
    former.write_text("other contents\n")
    list_again(desk)
    turn_until(
        desk, lambda: read(desk.store, "location", "path", by="path") not in ([], [(str(former),)])
    )

    assert "was changed, but not by d0ctl" in why(desk)
    facts = why_node(desk.store, "localhost", time.time()).facts
    assert any(fact.startswith("1 copy was changed, but not by d0ctl") for fact in facts), facts


def test_a_file_that_is_put_back_is_taken_in_by_its_name_and_checksum(desk: Desk) -> None:
    former = made(desk, is_read=False)
    text = former.read_text()

    former.unlink()
    list_again(desk)
    assert read(desk.store, "file", "present") == [(0,)]
    assert "its last copy vanished or was changed" in why(desk)
    former.parent.mkdir(exist_ok=True)
    former.write_text(text)
    list_again(desk)
    turn_until(desk, lambda: read(desk.store, "location", "path", by="path"))

    assert read(desk.store, "file", "present") == [(1,)]
    assert read(desk.store, "cache_finding", "path", by="path") == []
    assert phases(desk.store) == {"job/1/1/1": "done"}
    assert read(desk.store, "attempt", "outcome") == [("successful",)]


def test_a_file_that_a_transfer_is_about_to_replace_is_not_taken_in(desk: Desk) -> None:
    former = made(desk, is_read=False)
    text = former.read_text()
    columns = ("file_id", "cluster_id", "node_id")
    ((file, cluster, node),) = read(desk.store, "location", *columns, by="path")
    former.unlink()
    list_again(desk)
    desk.transfers[Transfer(file, cluster, 0)] = node

    former.parent.mkdir(exist_ok=True)
    former.write_text(text)
    list_again(desk)
    turn_until(desk, lambda: not desk.hashes)
    assert read(desk.store, "location", "path", by="path") == []

    desk.transfers.clear()
    list_again(desk)
    turn_until(desk, lambda: read(desk.store, "location", "path", by="path"))


def test_the_record_of_a_copy_outlives_an_inventory_that_was_older(desk: Desk) -> None:
    made(desk, is_read=False)
    columns = ("file_id", "cluster_id", "node_id", "path", "mtime")
    ((file, cluster, node, path, mtime),) = read(desk.store, "location", *columns, by="path")
    size, checksum = read(desk.store, "file", "size", "checksum")[0]

    older = Arrival(file, cluster, 0, path, node, size, checksum, inode=1, mtime=mtime - 1)
    desk.begin_hash("look", older)
    answer = {"kind": "hash", "id": "look", "ok": True, "size": size, "checksum": checksum}
    with desk.store.writing():
        rereading.end(desk, node, answer, time.time())

    assert read(desk.store, "location", "mtime", by="path") == [(mtime,)]


def test_a_file_put_into_a_cache_is_reported_when_two_inventories_do_not_know_it(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inventory, "AGAIN_S", 0.0)
    beside = made(desk, is_read=False).with_name("mine")
    beside.write_text("my notes\n")
    cache = next(path for path in beside.parents if path.name == "cache")
    ((file,),) = read(desk.store, "file", "id")
    earlier = cache / f"in/{file}/earlier"  # it is removed with its job, which needs nobody
    earlier.parent.mkdir(parents=True)
    earlier.touch()

    list_again(desk)

    found = {finding.subject: (finding.detail, finding.advice)
             for finding in unknown_files(desk.store, ())}  # fmt: skip
    name = f"localhost:cache/{beside.relative_to(cache)}"
    why = "d0ctl why --node localhost"
    assert found == {name: (UNKNOWN, why),
                     f"localhost:cache/in/{file}/earlier": (AFTER_JOB, "")}  # fmt: skip
    assert beside.exists()
    assert list(unknown_files(desk.store, ("localhost",))) == []
    beside.unlink()
    earlier.unlink()
    list_again(desk)
    assert list(unknown_files(desk.store, ())) == []


def test_a_cache_that_vanishes_as_a_whole_is_in_doubt_until_its_files_are_back(desk: Desk) -> None:
    cache, away = unmounted(desk)

    assert len(read(desk.store, "location", "path", by="path")) == MANY
    assert phases(desk.store) == {"job/1/1/1": "done", "job/1/2/1": "ready"}
    explained = why_node(desk.store, "localhost", time.time())
    assert "the cache of node `localhost` has been in doubt since" in explained.answer
    assert f"{MANY} of {MANY} copies are missing in its cache, all at once" in explained.facts
    assert "whose cache is in doubt: d0ctl why --node localhost" in why(desk, "f00")
    (finding,) = caches_in_doubt(desk.store)
    assert finding.advice.startswith("d0ctl node accept-loss localhost")
    with pytest.raises(Refused, match="can't be resumed"):
        act(desk.store, "node resume", "localhost", actor="eve", note=None, now=time.time())

    away.rename(cache)
    list_again(desk)

    assert read(desk.store, "cache_finding", "path", by="path") == []
    assert read(desk.store, "node", "doubted", "drained") == [(None, 0)]
    assert len(read(desk.store, "location", "path", by="path")) == MANY
    turn_until(desk, lambda: phases(desk.store)["job/1/2/1"] == "done")
    assert len(read(desk.store, "attempt", "outcome")) == 2


def test_a_cache_stays_in_doubt_while_copies_of_it_are_removed_as_unneeded(desk: Desk) -> None:
    unmounted(desk)
    with desk.store.writing():
        for (path,) in read(desk.store, "location", "path", by="path")[2:]:
            delete(desk.store, "location", path=path)
    list_again(desk)

    assert read(desk.store, "node", "drained") == [(1,)], "the disk is still not mounted"
    assert phases(desk.store)["job/1/1/1"] == "done"


def test_the_loss_of_a_cache_in_doubt_is_accepted_by_a_person(desk: Desk) -> None:
    unmounted(desk)

    planned = act(
        desk.store, "node accept-loss", "localhost", actor="eve", note=None, now=time.time()
    )

    assert isinstance(planned, LossPlan)
    assert planned.missing == MissingCopies(MANY, 2 * MANY, MANY)
    assert phases(desk.store) == {"job/1/1/1": "ready", "job/1/2/1": "waiting"}
    turn_until(desk, lambda: phases(desk.store)["job/1/2/1"] == "done")
    with pytest.raises(Refused, match="not in doubt"):
        act(desk.store, "node accept-loss", "localhost", actor="eve", note=None, now=time.time())


def test_many_copies_of_a_large_cache_that_vanish_are_lost_without_doubt(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_inventory, "PAGE", 10)
    paths = many_copies(desk)

    for path in paths[: MANY // 2]:
        path.unlink()
    list_again(desk)

    assert read(desk.store, "node", "doubted", "drained") == [(None, 0)]
    found = read(desk.store, "cache_finding", "finding", by="path")
    assert found == [("vanished",)] * (MANY // 2)


def test_a_folder_that_cannot_be_listed_makes_no_copy_vanish(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = NodePaths(os.fsencode(tmp_path))
    (tmp_path / "cache" / "1").mkdir(parents=True)
    scandir = os.scandir

    def failing(folder: bytes) -> object:
        if folder.endswith(b"/cache/1"):
            raise OSError(5, "Input/output error", folder)
        return scandir(folder)

    monkeypatch.setattr("d0ctl_wrapper.relay.listing.os.scandir", failing)
    *parts, last = listing.survey(paths, {"id": "1", "checksums": False})

    assert parts == []
    assert last["kind"] == "fault"
    assert "cache/1`: Input/output error" in last["message"]
    assert Survey().files == {}
