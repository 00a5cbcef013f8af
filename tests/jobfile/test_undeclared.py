"""Files of other packages that a command reads or writes without declaring them."""

from pathlib import Path

import pytest

from .conftest import Warnings, line

SIMULATION = """\
stages:
- name: sim
  lines:
  - {for: {n: [1, 2]}, run: 'echo {n} > s-{n}.txt', outputs: 's-{n}.txt'}
- name: merge
  lines:
"""


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("{run: 'cat s-*.txt > sum.txt', inputs: {from: sim}}",
         ["`sum.txt` is written, but the package has no `outputs`, so only its log is kept; add "
          "`outputs: sum.txt`"]),
        ("{run: 'curl -T s-1.txt host > /dev/null', inputs: {from: sim}}", []),
        ("{run: 'cat s-*.txt > sum.txt', inputs: {from: sim}, outputs: sum.txt}", []),
        ("{run: 'cat s-*.txt > sum.txt', outputs: sum.txt}",
         ["`s-*.txt` matches `s-1.txt`, an output of stage `sim`, but not an input: it will not be "
          "on the node; add `inputs: {from: sim}`"]),
        ("{run: 'cat s-*.txt > ./sum.txt'}",
         ["`s-*.txt` matches `s-1.txt`, an output of stage `sim`, but not an input: it will not be "
          "on the node; add `inputs: {from: sim}`",
          "`./sum.txt` is written, but the package has no `outputs`, so only its log is kept; add "
          "`outputs: sum.txt`"]),
        ("{run: 'cat ./s-1.txt /etc/x > sum.txt', inputs: /etc/x, outputs: sum.txt}",
         ["`./s-1.txt` is an output of stage `sim`, but not an input: it will not be on the node; "
          "add `{from: sim}` to its `inputs`"]),
        ("{run: 'echo > s-x.txt; cat s-*.txt', outputs: s-x.txt}", []),
        ("{run: 'echo *.txt > sum; cat *', outputs: sum}",
         ["`*.txt` matches `s-1.txt`, an output of stage `sim`, but not an input: it will not be "
          "on the node; add `inputs: {from: sim}`"]),
        ("{run: 'date; echo done'}", []),
        ("{for: {m: [1, 2]}, run: 'date > o-{m}.txt'}",
         ["`o-1.txt` is written, but the package has no `outputs`, so only its log is kept; add "
          "`outputs: o-{m}.txt`"]),
        ("{run: 'date > table; sort table'}", []),
        ("{for: {m: [1, 2]}, run: 'cat s-{m}.txt'}",
         ["`s-1.txt` is an output of stage `sim`, but not an input: it will not be on the node; "
          "add `inputs: s-{m}.txt`"]),
    ],
)  # fmt: skip
def test_files_of_a_merge_that_are_not_declared_are_a_warning(
    warnings: Warnings, entry: str, expected: list[str]
) -> None:
    assert warnings(f"{SIMULATION}  - {entry}\n") == expected


CHAIN = """\
stages:
- name: prod
  lines:
  - for: {n: [1, 2]}
    packages:
    - {run: 'echo {n} > g-{n}.txt', outputs: 'g-{n}.txt'}
"""

NOT_AN_INPUT = "an output of stage `prod`, but not an input: it will not be on the node; "


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("  - {run: 'date > ./r-{n}.txt < ./g-{n}.txt'}",
         ["`./g-1.txt` is " + NOT_AN_INPUT + "add `inputs: g-{n}.txt`",
          "`./r-1.txt` is written, but the package has no `outputs`, so only its log is kept; add "
          "`outputs: r-{n}.txt`"]),
        ("  - {run: 'cat g-{n}* > r-{n}', inputs: /etc/x, outputs: 'r-{n}'}",
         ["`g-1*` matches `g-1.txt`, " + NOT_AN_INPUT + "add `g-{n}.txt` to its `inputs`"]),
        ("- {for: {m: [1, 2]}, run: 'cat g-{m}.txt'}",
         ["`g-1.txt` is " + NOT_AN_INPUT + "add `inputs: g-{m}.txt`"]),
        ("- {run: 'cat g-*.txt > r', outputs: r}",
         ["`g-*.txt` matches `g-1.txt`, " + NOT_AN_INPUT + "move this line to a later stage, with "
          "`inputs: {from: prod}`"]),
    ],
)  # fmt: skip
def test_an_output_of_the_same_stage_is_named_in_the_inputs_as_the_job_file_writes_it(
    warnings: Warnings, entry: str, expected: list[str]
) -> None:
    assert warnings(f"{CHAIN}  {entry}\n") == expected


def test_a_misspelt_script_that_is_nearly_an_input_is_a_warning(
    warnings: Warnings, folder: Path
) -> None:
    for name in ("select.sh", "tool.c"):
        (folder / name).write_text("echo")
        (folder / name).chmod(0o755)
    told = ["`./selct.sh` is not among its inputs: did you mean `./select.sh`?"]

    assert warnings(line("{run: ./selct.sh 1, inputs: select.sh}")) == told
    assert warnings(line("{run: './select.sh 1', inputs: select.sh}")) == []
    assert warnings(line("{run: 'gcc tool.c -o tool; ./tool', inputs: tool.c}")) == []
    assert warnings(line("{run: 'cc tool.c && ./tool', inputs: tool.c}")) == []
    assert warnings(line("{run: 'cp select.sh selec.sh; ./selec.sh', inputs: select.sh}")) == []
