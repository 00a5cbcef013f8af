"""The size of the short transactions of a long change."""

CHUNK_S = 0.1
"""The time that a chunk of rows should take; a writer may take at most 0.2 s."""

FIRST_CHUNK = 500
"""Lines in the first chunk, before its speed is known."""


def next_size(size: int, took: float) -> int:
    """Return the size of the next chunk, after one of that size took so many seconds."""
    return max(50, min(20_000, int(size * CHUNK_S / max(took, 0.001))))
