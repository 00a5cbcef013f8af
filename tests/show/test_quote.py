"""The last lines of an output, as they are quoted."""

import pytest

from d0ctl.show.drawing.sheet import Sheet
from d0ctl.show.drawing.spans import text

TRACEBACK = """\
Traceback (most recent call last):
  File "sim.py", line 9, in <module>
    print(geometry["layer"])
          ~~~~~~~~^^^^^^^^^
"""


def test_the_lines_of_a_traceback_keep_their_indentation() -> None:
    sheet = Sheet(80, whole=True)

    sheet.quote(TRACEBACK, 10)

    assert [text(line)[4:] for line in sheet.lines] == TRACEBACK.splitlines()


ENDED = TRACEBACK + "KeyError: 'layer'\nthe job ends\n"


@pytest.mark.parametrize(
    ("most", "begin"),
    [(1, 5), (2, 4), (3, 4), (4, 4), (5, 1), (6, 0)],
)
def test_a_quotation_does_not_begin_inside_a_step_of_a_traceback(most: int, begin: int) -> None:
    sheet = Sheet(80, whole=True)

    sheet.quote(ENDED, most)

    assert [text(line)[4:] for line in sheet.lines] == ENDED.splitlines()[begin:]


@pytest.mark.parametrize("output", ["   ^^^^", "a:\n    b\n    c", '  File "x", line 3\n    y'])
def test_a_quotation_of_anything_else_has_as_many_lines_as_fit(output: str) -> None:
    sheet = Sheet(80, whole=True)

    sheet.quote(output, 2)

    assert [text(line)[4:] for line in sheet.lines] == output.splitlines()[-2:]
