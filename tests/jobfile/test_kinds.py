"""Lines that stand for all lines of a stage, and the names of outputs, which are made once."""

from collections.abc import Iterable, Iterator
from typing import Any

import pytest

from d0ctl.jobfile.reader import read_text
from d0ctl.jobfile.spec import LineSpec, StageSpec
from d0ctl.store.nodes.fitting import space, wants

JOB = """
stages:
  - name: make
    lines: [{{run: "make {{outputs}}", outputs: [a.dat, b.dat]}}]
  - name: use
    lines:
      - for: {{n: {{range: [1, 20]}}, disk: [1MB, 2MB]}}
        packages:
          - {package}
            binaries:
              - run: "use {{n}} {{disk}}"
                outputs: ["{{n}}-{{disk}}.x", {{file: "{{n}}-{{disk}}.y", {output}}}]
                {binary}
              - run: more
                inputs: [{{{input}}}]
                outputs: ["{{n}}-{{disk}}.z"]
"""


def stage(
    package: str = "cpus: 1",
    binary: str = "cpu: 100",
    output: str = "checksum: null",
    input: str = "file: a.dat",
) -> StageSpec:
    """The second stage of the job, with a field of each level."""
    text = JOB.format(package=package, binary=binary, output=output, input=input)
    return read_text(text.replace(", checksum: null", "")).stages[1]


def asked(lines: Iterable[LineSpec]) -> Iterator[Any]:
    """What the packages of lines ask of a node."""
    for line in lines:
        for package in line.packages:
            fixed = (
                package.cpus,
                package.memory,
                package.platform,
                package.nodes,
                package.exclude_nodes,
            )
            yield (*fixed, space(package), *wants(package))


def test_lines_with_equal_requests_share_one_representative() -> None:
    found = stage()

    assert len(list(found.lines)) == 40
    assert found.kinds is not None
    assert len(list(found.kinds)) == 1


@pytest.mark.parametrize(
    "fields",
    [
        {"package": 'cpus: "{n}"'},
        {"package": 'memory: "{disk}"'},
        {"package": 'nodes: ["n{n}"]'},
        {"package": 'platform: "p{n}"'},
        {"package": 'disk: "{disk}"'},
        {"binary": 'work-size: "{disk}"'},
        {"binary": 'needs: ["s{n}"]'},
        {"output": 'size: "{disk}"'},
        {"input": 'file: a.dat, size: "{disk}"'},
        {"input": 'from: make, match: "[{n}a]*", size: 1 MB'},
    ],
)
def test_the_representatives_cover_all_requests(fields: dict[str, str]) -> None:
    found = stage(**fields)

    assert found.kinds is not None
    assert set(asked(found.kinds)) == set(asked(found.lines))


def test_outputs_have_the_names_that_the_check_has_made() -> None:
    found = stage(package='cpus: "{n}"')

    names = [
        [output.file for binary in line.packages[0].binaries for output in binary.outputs]
        for line in found.lines
    ]

    assert names == [
        [f"{n}-{disk}.{end}" for end in "xyz"] for n in range(1, 21) for disk in ("1MB", "2MB")
    ]


def test_lines_without_loops_are_made_once() -> None:
    explicit = ", ".join(f"{{run: go {n}, outputs: '{n}'}}" for n in range(3))

    (stage,) = read_text(f"stages: [{{lines: [{explicit}]}}]").stages

    first, again = list(stage.lines), list(stage.lines)
    assert [line.packages[0].binaries[0].outputs[0].file for line in first] == ["0", "1", "2"]
    assert [id(line) for line in again] == [id(line) for line in first]
    assert stage.kinds is None
