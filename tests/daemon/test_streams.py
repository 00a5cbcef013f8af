"""How many streams of files there are, and what each of them has."""

from collections import Counter, defaultdict

from d0ctl.daemon.desk import CopyJob, Desk, Transfer
from d0ctl.daemon.steps.transfers import _Planner
from d0ctl.daemon.streams import MOST_BYTES, MOST_FILES, Limits, Pair, Streams, cut
from d0ctl.daemon.turn import Turn
from d0ctl.nodes.carry import Copy


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


def begun(desk: Desk, *pairs: Pair) -> int:
    """How many streams begin when there are five large files for each of these pairs."""
    turn = Turn(0.0)
    jobs: defaultdict[Pair, list[CopyJob]] = defaultdict(
        list, {pair: sizes(*[MOST_BYTES] * 5) for pair in pairs}
    )
    _Planner(desk, turn, Counter(), jobs).begin_streams()
    return len(turn.afterwards)


def test_the_site_says_how_many_streams_there_are(desk: Desk) -> None:
    three = Pair(1, 2), Pair(1, 3), Pair(1, 4)
    assert (begun(desk, Pair(1, 2)), begun(desk, *three)) == (2, 4)

    with desk.store.writing():
        answer = '{"link-streams": 1, "node-streams": 2}'
        desk.store.change("keep_setting", name="defaults", value=answer)

    assert (begun(desk, Pair(1, 2)), begun(desk, *three)) == (1, 2)
