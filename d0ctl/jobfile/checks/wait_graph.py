"""Search for packages that wait for each other in a cycle."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from itertools import chain


class WaitGraph:
    """Which package waits for which: pairs of package numbers in flat arrays.

    Numbers go up along lines and stages. If every maker has a lower number than its consumer,
    there is no cycle and no search is needed.
    """

    def __init__(self) -> None:
        self._makers = array("I")
        self._consumers = array("I")
        self._groups: list[tuple[list[range], list[range]]] = []
        self._backward = False

    def add(self, maker: int, consumer: int) -> None:
        """Record that `consumer` waits for `maker`."""
        self._makers.append(maker)
        self._consumers.append(consumer)
        if maker >= consumer:
            self._backward = True

    def add_group(self, makers: list[range], consumers: list[range]) -> None:
        """Record that all of some packages wait for all of others."""
        if makers and consumers:
            self._groups.append((makers, consumers))
            last, first = max(part.stop for part in makers), min(part.start for part in consumers)
            if last > first:
                self._backward = True

    def cycles(self, packages: int, follows: bytearray) -> Iterator[list[int]]:
        """Find cycles, each package in one at most.

        `follows[n]` says that package n follows n - 1 in its line and so waits for it too. A
        number of `packages` or more stands for a group that waits for another.
        """
        if not self._backward:
            return
        for before, behind in self._groups:
            for maker in chain.from_iterable(before):
                self.add(maker, packages)
            for consumer in chain.from_iterable(behind):
                self.add(packages, consumer)
            packages += 1
            follows = follows + b"\0"
        starts, makers = self._by_consumer(packages, follows)
        left = self._left(packages, follows)
        yield from _walk(left, starts, makers)

    def _pairs(self, packages: int, follows: bytearray) -> Iterator[tuple[int, int]]:
        yield from zip(self._makers, self._consumers, strict=True)
        for number in range(packages):
            if follows[number]:
                yield number - 1, number

    def _by_consumer(self, packages: int, follows: bytearray) -> tuple[array[int], array[int]]:
        """Group the makers by their consumers: those of n are at starts[n] to starts[n + 1]."""
        return _grouped(((c, m) for m, c in self._pairs(packages, follows)), packages)

    def _left(self, packages: int, follows: bytearray) -> bytearray:
        """Flag the packages that remain when those that can run are removed repeatedly."""
        starts, consumers = _grouped(self._pairs(packages, follows), packages)
        waits = array("I", bytes(4 * packages))
        for consumer in consumers:
            waits[consumer] += 1
        free = [number for number in range(packages) if not waits[number]]
        left = bytearray(b"\x01") * packages
        while free:
            number = free.pop()
            left[number] = 0
            for consumer in consumers[starts[number] : starts[number + 1]]:
                waits[consumer] -= 1
                if not waits[consumer]:
                    free.append(consumer)
        return left


def _grouped(pairs: Iterator[tuple[int, int]], packages: int) -> tuple[array[int], array[int]]:
    """Group the second numbers of pairs by the first, in flat arrays."""
    firsts, seconds = array("I"), array("I")
    for first, second in pairs:
        firsts.append(first)
        seconds.append(second)
    starts = array("I", bytes(4 * (packages + 1)))
    for first in firsts:
        starts[first + 1] += 1
    for number in range(packages):
        starts[number + 1] += starts[number]
    fill, grouped = starts[:], array("I", bytes(4 * len(firsts)))
    for first, second in zip(firsts, seconds, strict=True):
        grouped[fill[first]] = second
        fill[first] += 1
    return starts, grouped


def _walk(left: bytearray, starts: array[int], makers: array[int]) -> Iterator[list[int]]:
    """Follow each remaining package to one that it waits for, until the path meets itself."""
    for begin in range(len(left)):
        path: list[int] = []
        index: dict[int, int] = {}
        number: int | None = begin if left[begin] else None
        while number is not None and number not in index:
            index[number] = len(path)
            path.append(number)
            before = makers[starts[number] : starts[number + 1]]
            number = next((maker for maker in before if left[maker]), None)
        if number is not None:
            yield path[index[number] :]
        for visited in path:
            left[visited] = 0
