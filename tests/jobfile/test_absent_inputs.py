"""Which names are proposed in place of an input that is nowhere."""

import pytest

from .conftest import Faults

LINES = """\
stages:
  - lines:
      - {{for: {{n: [14, 15]}}, run: x, outputs: "{0}-{{n}}.root"}}
  - lines:
      - for: {{n: [14, 15]}}
        packages:
          - {{run: x, outputs: "{1}-{{n}}.root"}}
          - {{run: x, inputs: "gen-{{n}}.root", outputs: "gem-{{n}}.root"}}
          - {{run: x, outputs: "geo-{{n}}.root"}}
"""


@pytest.mark.parametrize(
    ("first", "earlier", "hint"),
    [
        ("raw_hits", "digits", ""),
        ("ge", "digits", " (did you mean `ge-14.root`?)"),
        ("raw_hits", "ge", " (did you mean `ge-14.root`?)"),
    ],
    ids=["none can be read", "of an earlier stage", "earlier in the line"],
)
def test_only_outputs_that_are_there_before_are_proposed(
    faults: Faults, first: str, earlier: str, hint: str
) -> None:
    absent = "8:30: no package makes `gen-14.root`, and it is not beside the job file"

    assert faults(LINES.format(first, earlier)) == [f"{absent}{hint}, and 1 more like it"]
