"""The last lines of an output, as they are quoted."""

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
