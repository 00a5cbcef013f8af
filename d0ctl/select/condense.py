"""Few selectors for many packages, lines, stages or jobs."""

from collections.abc import Iterable, Sequence

from d0ctl.select import Selector
from d0ctl.select.selector import Span


def condense(paths: Iterable[str]) -> list[Selector]:
    """Select the same packages, lines, stages or jobs by few selectors: neighbours form ranges."""
    jobs: dict[str, None] = {}
    rows: dict[tuple[str, ...], set[int]] = {}
    for path in paths:
        *front, last = path.split("/")
        if front:
            rows.setdefault(tuple(front), set()).add(int(last))
        else:
            jobs[last] = None
    alike: dict[tuple[tuple[str, ...], tuple[Span, ...]], set[int]] = {}
    selectors = [Selector(job) for job in jobs]
    for (*above, last), numbers in rows.items():
        spans = tuple(_spans(numbers))
        if above:
            alike.setdefault((tuple(above), spans), set()).add(int(last))
        else:
            selectors += [Selector(last, span, depth=2) for span in spans]
    for ((job, *stage), spans), numbers in alike.items():
        pairs = [(span, last) for span in _spans(numbers) for last in spans]
        if stage:
            its_stage = Span(int(stage[0]), int(stage[0]))
            selectors += [Selector(job, its_stage, line, last, depth=4) for line, last in pairs]
        else:
            selectors += [Selector(job, span, last, depth=3) for span, last in pairs]
    return selectors


def by_state(packages: Sequence[tuple[str, str]], most: int) -> list[str]:
    """Select packages by path; of more, all in these states of their jobs: (path, state)."""
    if len(packages) <= most:
        return [path for path, _ in packages]
    jobs: dict[str, set[str]] = {}
    for path, state in packages:
        jobs.setdefault(path.partition("/")[0], set()).add(state)
    return [f"{job}:{','.join(sorted(states))}" for job, states in jobs.items()]


def _spans(numbers: Iterable[int]) -> list[Span]:
    spans: list[Span] = []
    for number in sorted(numbers):
        if spans and spans[-1].last == number - 1:
            spans[-1] = Span(spans[-1].first, number)
        else:
            spans.append(Span(number, number))
    return spans
