"""Whether the cost of something grows with its size, or with its square."""

import time
from collections.abc import Callable

SIZE, GROWTH = 20_000, 16
"""The smaller of two sizes, and how many times larger the other is."""


def assert_linear(at_size: Callable[[int], Callable[[], object]]) -> None:
    """Compare the CPU time of what is made for two sizes.

    A square would cost 256 times as much. The least of three ratios is taken, each with the most
    of three small runs, so that a busy machine changes nothing.
    """
    small, large = at_size(SIZE), at_size(SIZE * GROWTH)
    _cpu(small)
    ratios: list[float] = []
    while len(ratios) < 3 and (not ratios or min(ratios) >= GROWTH * 2):
        ratios.append(_cpu(large) / max(_cpu(small) for _ in range(3)))
    assert min(ratios) < GROWTH * 2


def _cpu(run: Callable[[], object]) -> float:
    begun = time.process_time()
    run()
    return time.process_time() - begun
