"""The stream of events of the REST interface: how many may listen."""

from contextlib import ExitStack

import httpx

from tests.e2e import test_rest
from tests.support.waiting import wait_until

server, operator = test_rest.server, test_rest.operator


def test_a_listener_too_many_is_refused_until_one_ends(operator: httpx.Client) -> None:
    def listens() -> bool:
        with operator.stream("GET", "events") as stream:
            return stream.status_code == 200

    with ExitStack() as stack:
        streams = [stack.enter_context(operator.stream("GET", "events")) for _ in range(50)]
        lines = [stream.iter_lines() for stream in streams]  # one that is dropped ends its stream
        assert {next(line) for line in lines} == {": connected"}
        refused = operator.get("events")
        assert (refused.status_code, refused.headers["retry-after"]) == (503, "10")
        assert refused.json()["error"] == "50 programs listen already: end one"

        streams[0].close()
        wait_until(listens, what="another program may listen")
