"""What reading costs grows with the size of a file, not with its square."""

from collections.abc import Callable
from functools import partial

import pytest

from d0ctl.errors import BadJobFile
from d0ctl.jobfile.reader import read_text
from d0ctl.jobfile.yaml.document import Scalar
from d0ctl.jobfile.yaml.faults import Position
from tests.support.growth import assert_linear


class Counted(str):
    """A text that counts the characters that are searched."""

    searched = 0

    def find(self, part: str, begin: int = 0) -> int:  # type: ignore[override]
        """Find as any text does."""
        found = super().find(part, begin)
        self.searched += (len(self) if found < 0 else found) - begin
        return found

    def count(self, part: str, begin: int = 0, end: int | None = None) -> int:  # type: ignore[override]
        """Count as any text does."""
        end = len(self) if end is None else end
        self.searched += end - begin
        return super().count(part, begin, end)


def test_positions_of_many_parts_are_found_in_one_pass() -> None:
    text = "".join(f"{{w{n % 7}}}\n" for n in range(5000))
    written, source = Counted(text), Counted(f'"{text}')
    scalar = Scalar(Position(3, 10), written, False, source)
    at = [n * 5 for n in range(5000)]

    found = [scalar.position_at(text[begin : begin + 4], begin) for begin in at]

    assert found == [Position(3, 11), *(Position(3 + n, 1) for n in range(1, 5000))]
    assert written.searched + source.searched < 4 * len(text)


def test_a_position_is_found_again_and_before_the_last_one() -> None:
    scalar = Scalar(Position(2, 5), "{a} {b} {a}", False, '"{a} {b} {a}"')

    asked = [("{a}", 8), ("{a}", 8), ("{b}", 4), ("{a}", 0), ("{a}", 8)]

    assert [scalar.position_at(*one).column for one in asked] == [14, 14, 10, 6, 14]


def test_a_part_that_is_written_otherwise_has_the_position_of_its_text() -> None:
    scalar = Scalar(Position(2, 5), "{a} {b}", False, r'"\x7ba} {b}"')

    assert scalar.position_at("{a}", 0) == Position(2, 5)


def times(count: int, text: str) -> str:
    return "".join(text.replace("%", str(n)) for n in range(count))


def run(words: str, before: str = "", line: str = "") -> str:
    return f'{before}stages:\n- lines:\n  - {line}run: "{words}"\n'


def parameters(count: int) -> str:
    return "parameters:\n" + times(count, "  p%x: 1\n")


def lines(text: str, before: str = "") -> str:
    return f"{before}stages:\n- lines:\n{text}"


SHAPES: dict[str, Callable[[int], str]] = {
    "unknown words": lambda size: run(times(size // 12, "{qq%zz} "), parameters(20)),
    "misspelt words": lambda size: run(times(size // 24, "{p%y} "), parameters(size // 24)),
    "texts and parameters": lambda size: lines(
        times(size // 50, '  - run: "{p5x}"\n'), parameters(size // 24)
    ),
    "wrong parameters": lambda size: run(times(size // 20, "{parameters.a%} "), parameters(2)),
    "substitutions": lambda size: run(
        "$(x " * (size // 8) + "{n} " * (size // 8), line="for: {n: [1]}\n    "
    ),
    "merged mappings": lambda size: lines(
        f"  - <<: [{'*a,' * (size // 15)}*a]\n" + times(size // 24, "    key%: 1\n"),
        "x: &a {q: 1}\n",
    ),
    "groups of one stage": lambda size: (
        "stages:\n- name: a\n  lines: [{for: {n: {range: [1, 300]}}, run: x, outputs: '{n}'}]\n"
        + "- name: b\n  lines:\n"
        + times(size // 70, "  - {for: {p: {from: a, match: '1', by: 1}}, run: 'x {p} %'}\n")
    ),
}


def answer(text: str) -> None:
    try:
        read_text(text)
    except BadJobFile as error:
        assert error.faults


@pytest.mark.parametrize("shape", SHAPES)
def test_the_cost_grows_with_the_size(shape: str) -> None:
    assert_linear(lambda size: partial(answer, SHAPES[shape](size)))


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (
            "".join(f"%TAG !t{n}! tag:x\n" for n in range(101)) + "---\njob: a\n",
            "101 lines begin with `%`",
        ),
        (lines(f"  - for: {{{times(101, 'n%: [1], ')}}}\n    run: x\n"), "`for` has 101 names"),
        (lines("  - binaries:\n" + "    - run: x\n" * 1001), "a package has 1,001 binaries"),
        (run("{inputs} " * 101), "101 lists of files"),
    ],
    ids=["directives", "names", "binaries", "lists"],
)
def test_work_that_grows_with_the_square_has_a_limit(text: str, fault: str) -> None:
    with pytest.raises(BadJobFile, match=fault):
        read_text(text)
