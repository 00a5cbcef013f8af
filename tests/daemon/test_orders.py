"""Orders to nodes: how many of them there are."""

from d0ctl.daemon.desk import Desk
from d0ctl.daemon.steps.courier_reports import act_on_reports
from d0ctl.daemon.steps.orders import ORDER_AGAIN_S, PURGE_AGAIN_S, PURGE_EVERY_S, send_orders
from d0ctl.daemon.turn import Turn
from d0ctl.nodes.courier_reports import Received
from d0ctl.nodes.transports.transport import Address
from d0ctl.store.nodes import registry
from tests.support.jobs import job, simple, submitted
from tests.support.rows import change, insert, read
from tests.support.site import Site


class Asked:
    """A courier that keeps the orders it is given."""

    is_up = True
    silence_s = 0.0

    def __init__(self, node: int) -> None:
        self.node = node
        self.orders: list[dict[str, object]] = []

    def order(self, frame: dict[str, object]) -> None:
        self.orders.append(frame)


def send(desk: Desk, now: float) -> None:
    """One turn of orders at this time."""
    turn = Turn(now)
    with desk.store.writing():
        send_orders(desk, turn)
    for action in turn.afterwards:
        action()


def answer(desk: Desk, node: int, paths: list[str], now: float) -> None:
    """The node says that it has removed these."""
    frame = {"kind": "forgotten", "attempts": [], "paths": paths}
    turn = Turn(now, reports=[Received(node, frame)])
    with desk.store.writing():
        act_on_reports(desk, turn)
    for action in turn.afterwards:
        action()


def resuming(desk: Desk) -> Asked:
    """The courier of a node with a running package that was asked to pause, and then to resume."""
    site = Site.of(desk.store, cpus=1)
    submitted(desk.store, job("one", [simple()]))
    node = site.node("localhost")
    site.schedule()
    site.hand_out(node)
    site.order(node)
    site.deliver(node, node.spool)
    with desk.store.writing():
        change(desk.store, "package", {"id": 1}, request="resume")
    asked = Asked(node.id)
    desk.couriers[node.id] = asked  # type: ignore[assignment]
    return asked


def request(desk: Desk) -> object:
    ((found,),) = read(desk.store, "package", "request")
    return found


def test_silence_settles_a_resume_only_if_the_node_was_heard_after_the_order(desk: Desk) -> None:
    asked = resuming(desk)
    send(desk, now=1000.0)

    asked.silence_s = 2 * ORDER_AGAIN_S
    send(desk, now=1001.0 + ORDER_AGAIN_S)
    assert (len(asked.orders), request(desk)) == (2, "resume")

    asked.silence_s = 0.0
    send(desk, now=1002.0 + 2 * ORDER_AGAIN_S)
    assert request(desk) is None
    desk.couriers.clear()


def test_an_order_is_sent_again_at_once_when_a_node_is_back(desk: Desk) -> None:
    asked = resuming(desk)
    send(desk, now=1000.0)
    ((attempt,),) = read(desk.store, "package", "attempt_id")

    desk.forget_orders([attempt + 1])
    send(desk, now=1001.0)
    assert len(asked.orders) == 1
    desk.forget_orders([attempt])
    send(desk, now=1001.0 + ORDER_AGAIN_S)

    assert (len(asked.orders), request(desk)) == (2, "resume")
    desk.couriers.clear()


def test_files_to_be_removed_are_gathered_for_a_while(desk: Desk) -> None:
    node = registry.add(desk.store, Address("n1", destination="n1"), cpus=1)
    asked = Asked(node)
    desk.couriers[node] = asked  # type: ignore[assignment]

    def purge(path: str) -> None:
        with desk.store.writing():
            insert(desk.store, "purge", node_id=node, path=path)

    purge("/base/cache/1/a")
    send(desk, now=1000.0)
    answer(desk, node, ["/base/cache/1/a"], now=1000.1)
    purge("/base/cache/2/b")
    purge("/base/cache/3/c")
    for later in (0.2, 0.5, 0.9 * PURGE_EVERY_S):
        send(desk, now=1000.0 + later)

    assert [frame["paths"] for frame in asked.orders] == [["/base/cache/1/a"]]
    send(desk, now=1000.0 + PURGE_EVERY_S)
    assert asked.orders[1]["paths"] == ["/base/cache/2/b", "/base/cache/3/c"]
    send(desk, now=1000.0 + 3 * PURGE_EVERY_S)
    assert len(asked.orders) == 2, "the first order was not answered"
    send(desk, now=1001.0 + PURGE_EVERY_S + PURGE_AGAIN_S)
    assert len(asked.orders) == 3
    assert len(read(desk.store, "purge", "id")) == 2
    desk.couriers.clear()
