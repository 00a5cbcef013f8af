"""In which slot of its node each attempt is drawn."""

import heapq
from collections.abc import Iterable

HANDOVER_S = 2.0
"""How long before the recorded end of an attempt the next one in its slot may begin: what it leaves
is still checked and delivered then.
"""


def places(times: Iterable[tuple[float, float]], most: float | None = None) -> list[int]:
    """Return a slot for each begin and end, in the order of the begins: the first free one.

    With `most` slots in use, it is the one that is about to be free, if there is one.
    """
    free: list[int] = []
    busy: list[tuple[float, int]] = []
    numbers: list[int] = []
    slots = 0
    for begin, end in times:
        while busy and busy[0][0] <= begin:
            heapq.heappush(free, heapq.heappop(busy)[1])
        if not free and most and slots >= most and busy[0][0] - begin <= HANDOVER_S:
            free.append(heapq.heappop(busy)[1])
        if free:
            slot = heapq.heappop(free)
        else:
            slot, slots = slots, slots + 1
        heapq.heappush(busy, (end, slot))
        numbers.append(slot)
    return numbers
