"""Print the output of binaries byte for byte, but harmless on a terminal."""

import codecs
import sys

from d0ctl.cli.terminal.output import emit, is_terminal
from d0ctl.units import clean


class Passthrough:
    """Texts of several sources, one after another, each piece under the heading of its source."""

    def __init__(self) -> None:
        self.is_terminal = is_terminal(sys.stdout)
        self.has_first_head = False
        """Whether the first source gets a heading, too, because there are others."""
        self._source: str | None = None
        self._is_at_start = True
        self._decoders: dict[str, codecs.IncrementalDecoder] = {}

    @property
    def is_empty(self) -> bool:
        """Whether nothing was printed."""
        return self._source is None

    def write(self, source: str, piece: bytes) -> None:
        """Print a piece; a heading precedes it if the previous piece had another source."""
        if source != self._source:
            self._turn_to(source)
        self._is_at_start = piece.endswith(b"\n")
        if self.is_terminal:
            print(clean(self._decoder(source).decode(piece), lines=True), end="")
        else:
            sys.stdout.flush()
            sys.stdout.buffer.write(piece)

    def end_line(self) -> None:
        """Begin a new line if the last piece did not end one."""
        if not self._is_at_start:
            emit()
            self._is_at_start = True

    def flush(self) -> None:
        """Flush everything that was printed."""
        sys.stdout.flush()

    def _turn_to(self, source: str) -> None:
        self.end_line()
        if self._source is not None or self.has_first_head:
            emit((f"== {source} ==", "strong"))
        self._source = source

    def _decoder(self, source: str) -> codecs.IncrementalDecoder:
        if source not in self._decoders:
            self._decoders[source] = codecs.getincrementaldecoder("utf-8")("replace")
        return self._decoders[source]
