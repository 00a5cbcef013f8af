"""In which slot of its node each attempt is drawn."""

import heapq
from collections.abc import Iterable


def places(times: Iterable[tuple[float, float]]) -> list[int]:
    """Return a slot for each begin and end, in the order of the begins: the first free one."""
    free: list[int] = []
    busy: list[tuple[float, int]] = []
    numbers: list[int] = []
    slots = 0
    for begin, end in times:
        while busy and busy[0][0] <= begin:
            heapq.heappush(free, heapq.heappop(busy)[1])
        if free:
            slot = heapq.heappop(free)
        else:
            slot, slots = slots, slots + 1
        heapq.heappush(busy, (end, slot))
        numbers.append(slot)
    return numbers
