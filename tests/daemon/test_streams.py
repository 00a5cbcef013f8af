"""How many streams of files there are, and what each of them has."""

from collections import Counter, defaultdict

import pytest

from d0ctl.daemon.desk import Desk
from d0ctl.daemon.in_progress import CopyJob, Transfer
from d0ctl.daemon.steps.transfers import end_stream, end_transfers, note_login
from d0ctl.daemon.streams import (
    DIRECT,
    FIRST_BYTES,
    FIRST_FILES,
    MOST_BYTES,
    MOST_FILES,
    MOST_PARTED,
    Limits,
    Pair,
    Streams,
    cut,
    parts,
)
from d0ctl.daemon.transfer_plan import TransferPlan
from d0ctl.daemon.turn import Turn
from d0ctl.model import Address
from d0ctl.nodes.carry import Copy
from d0ctl.nodes.courier import Courier
from d0ctl.nodes.courier_reports import FileFacts, LoginTried, StreamEnded, TransferEnded
from d0ctl.store.files import copies, links
from d0ctl.store.files.direct_logins import AGAIN_S
from d0ctl.store.nodes import registry
from d0ctl.store.views import file_locations
from tests.support.building import job, line, package
from tests.support.site import Site


def sizes(*sizes: int) -> list[CopyJob]:
    """Copies of files of these sizes."""
    return [CopyJob(Transfer(1, 2, 0), Copy("/a", "/b", size, "")) for size in sizes]


def test_a_pair_of_nodes_and_a_node_have_their_limits() -> None:
    streams = Streams()
    limits = Limits(per_link=2, per_node=3)
    for _ in range(2):
        assert streams.has_room(Pair(1, 2), limits)
        streams.begin(Pair(1, 2))

    assert not streams.has_room(Pair(1, 2), limits)
    assert streams.has_room(Pair(2, 1), limits)
    streams.begin(Pair(3, 1))
    assert not streams.has_room(Pair(1, 4), limits), "node 1 has three already"
    assert streams.has_room(Pair(2, 3), limits)
    streams.end(Pair(1, 2))
    assert streams.has_room(Pair(1, 4), limits)


def test_small_files_share_a_stream_and_a_large_one_has_its_own() -> None:
    batches = list(cut(sizes(*[10] * (MOST_FILES + 5), MOST_BYTES, 3 * MOST_BYTES)))

    assert [len(batch) for batch in batches] == [MOST_FILES, 5, 1, 1]
    assert batches[-1][0].copy.size == 3 * MOST_BYTES


def test_small_files_go_in_the_order_in_which_they_were_wanted_before_large_ones() -> None:
    batches = list(cut(sizes(30, DIRECT, 10, MOST_BYTES, 20)))

    assert [[job.copy.size for job in batch] for batch in batches] == [
        [30, 10, 20, DIRECT], [MOST_BYTES]
    ]  # fmt: skip


def test_the_parts_of_a_stream_grow() -> None:
    by_files = [len(part) for part in parts(sizes(*[10] * 10 * FIRST_FILES))]
    by_bytes = [len(part) for part in parts(sizes(*[FIRST_BYTES] * 6))]

    assert by_files == [FIRST_FILES, 2 * FIRST_FILES, 4 * FIRST_FILES, 3 * FIRST_FILES]
    assert by_bytes == [1, 2, 3]
    assert [len(part) for part in parts(sizes(3 * FIRST_BYTES))] == [1]
    assert [len(part) for part in parts(sizes(*[10] * (MOST_PARTED + 1)))] == [MOST_PARTED + 1]


def begun(desk: Desk, *pairs: Pair) -> int:
    """How many streams begin when there are five large files for each of these pairs."""
    turn = Turn(0.0)
    jobs: defaultdict[Pair, list[CopyJob]] = defaultdict(
        list, {pair: sizes(*[MOST_BYTES] * 5) for pair in pairs}
    )
    TransferPlan(desk, turn, Counter(), jobs, defaultdict(list)).begin_streams()
    return len(turn.afterwards)


def test_the_site_says_how_many_streams_there_are(desk: Desk) -> None:
    three = Pair(1, 2), Pair(1, 3), Pair(1, 4)
    assert (begun(desk, Pair(1, 2)), begun(desk, *three)) == (2, 4)

    with desk.store.writing():
        answer = '{"link-streams": 1, "node-streams": 2}'
        desk.store.change("keep_setting", name="defaults", value=answer)

    assert (begun(desk, Pair(1, 2)), begun(desk, *three)) == (1, 2)


def test_large_streams_between_remote_nodes_may_be_direct_unless_the_site_forbids_it(
    desk: Desk,
) -> None:
    store = desk.store
    with store.writing():
        nodes = [registry.add(store, Address(name, "ssh", name), cpus=1) for name in ("n1", "n2")]
    for node, kind in ((1, "local"), *((node, "ssh") for node in nodes)):
        desk.couriers[node] = Courier(
            node, Address(str(node), kind), desk.site, deliver=lambda *_: None,
            report=desk.report,
        )  # fmt: skip
    planner = TransferPlan(desk, Turn(1e6), Counter(), defaultdict(list), defaultdict(list))
    remote, large = Pair(*nodes), sizes(DIRECT - 1, 1)

    assert planner._callers(remote, large) == nodes
    assert planner._callers(remote, large[:1]) == []
    assert planner._callers(Pair(1, nodes[0]), large) == []
    with store.writing():
        note_login(desk, LoginTried(nodes[0], nodes[1], "timed out"), 1e6)
    assert planner._callers(remote, large) == nodes[1:]
    with store.writing():
        note_login(desk, LoginTried(nodes[1], nodes[0], ""), 1e6)
    planner = TransferPlan(
        desk, Turn(1e6 + AGAIN_S + 1), Counter(), defaultdict(list), defaultdict(list)
    )
    assert planner._callers(remote, large) == nodes[::-1]
    with store.writing():
        store.change("keep_setting", name="defaults", value='{"direct-streams": false}')
    assert planner._callers(remote, large) == []
    desk.couriers.clear()


def test_streams_and_single_transfers_show_how_fast_a_link_is(desk: Desk) -> None:
    with desk.store.writing():
        north, south = (registry.add(desk.store, Address(name, "ssh", name), cpus=1)
                        for name in ("north", "south"))  # fmt: skip
        end_stream(desk, StreamEnded(south, north, 20_000_000, 4.0, 10), now=100.0)
        copy = sizes(10_000_000)[0].copy
        done = CopyJob(Transfer(1, 99, 0), copy)
        end_transfers(desk, [TransferEnded(south, done, None, facts=FileFacts(10_000_000, "x"),
                                           took_s=1.0)], now=100.0)  # fmt: skip
        found = links.speeds(desk.store)
        first, other = (registry.named(desk.store, name).cluster_id for name in ("north", "south"))

    (rate, file_s), (single_rate, single_s) = found[first, other], found[1, other]
    assert 20e6 / rate + 10 * file_s == pytest.approx(4.0)
    assert 10e6 / single_rate + single_s == pytest.approx(1.0)


class Ready(Courier):
    """A courier whose node is up, without a connection."""

    @property
    def is_up(self) -> bool:
        """It is."""
        return True


def test_a_file_comes_from_the_node_that_has_the_fewest_streams(desk: Desk) -> None:
    site = Site.of(desk.store)
    with desk.store.writing():
        nodes = [registry.add(desk.store, Address(name, "ssh", name), cpus=1)
                 for name in ("n1", "n2")]  # fmt: skip
    for number, name in enumerate(("n1", "n2")):
        site.up(name, machine_id=name)
        desk.couriers[nodes[number]] = Ready(
            nodes[number], Address(name, "ssh"), desk.site, deliver=lambda *_: None,
            report=desk.report,
        )  # fmt: skip
    site.submit(job(("make", [line(package("f"))])))
    site.launch("prod/1/1/1", "n1")
    site.end("prod/1/1/1")
    file = file_locations.in_job(desk.store, "prod", "f").id
    cluster = registry.named(desk.store, "n2").cluster_id
    with desk.store.writing():
        copies.arrive(desk.store, [copies.Arrival(file, cluster, 0, "/f", nodes[1], 10,
                                                  "sha256:00")], now=1.0)  # fmt: skip
    planner = TransferPlan(desk, Turn(1.0), Counter(), defaultdict(list), defaultdict(list))

    def source() -> str:
        found = planner._source(Transfer(file, 99, 0))
        assert found is not None
        return str(found.node)

    assert source() == "n1", "where it was made"
    planner.streams[Pair(nodes[0], 99)] = []
    assert source() == "n2"
    desk.streams.begin(Pair(nodes[1], 98))
    desk.streams.begin(Pair(98, nodes[1]))
    assert source() == "n1"
    desk.couriers.clear()
