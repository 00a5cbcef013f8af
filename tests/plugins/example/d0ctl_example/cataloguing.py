"""A catalogue: a file of the lab with the run, the number of events and the name of each file."""

from collections.abc import Iterator
from pathlib import Path


def listed(query: str) -> Iterator[dict[str, str]]:
    """Yield the files of a run; the query is the run, and the file with the list."""
    run, path = query.split()
    for line in Path(path).read_text().splitlines():
        number, events, file = line.split()
        if number == run:
            yield {"file": file, "events": events}
