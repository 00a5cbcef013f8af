"""What is known only later: late outputs, and lists that grow."""

import pytest

from d0ctl.errors import BadJobFile
from d0ctl.jobfile.reader import read_text
from d0ctl.jobfile.spec import JobSpec, PackageSpec

JOB = """\
stages:
  - name: a
    lines:
      - {{run: make, outputs: {outputs}}}
  - name: b
    lines:
      - {{{line}}}
"""


def job(outputs: str, line: str) -> JobSpec:
    """A job of two stages."""
    return read_text(JOB.format(outputs=outputs, line=line))


def faults(outputs: str, line: str) -> list[str]:
    """What is wrong with it, without the places."""
    with pytest.raises(BadJobFile) as caught:
        job(outputs, line)
    return list(caught.value.faults)


def last(spec: JobSpec) -> PackageSpec:
    """The package of the second stage."""
    return next(iter(spec.stages[1].lines)).packages[0]


def test_a_late_output_is_taken_whole_or_in_part() -> None:
    late = '[{file: "part-*", late: yes, min-count: 0}, plain]'
    (whole,) = last(job(late, "run: cat, inputs: {from: a}")).binaries
    (part,) = last(job(late, 'run: cat, inputs: {from: a, match: "*-[23]"}')).binaries
    (named,) = last(job(late, 'run: cat, inputs: "part-*"')).binaries

    assert [(input.file, input.match) for input in whole.inputs] == [
        ("part-*", None),
        ("plain", None),
    ]
    assert [(input.file, input.match) for input in part.inputs] == [("part-*", "*-[23]")]
    assert [(input.file, input.required) for input in named.inputs] == [("part-*", True)]
    made = next(iter(job(late, "run: x").stages[0].lines)).packages[0].binaries[0].outputs
    assert [(one.late, one.min_count) for one in made] == [(True, 0), (False, 1)]


@pytest.mark.parametrize(
    ("outputs", "expected"),
    [
        ('{file: "**/part", late: yes}',
         "-:4:37: late output `**/part`: `**` is not supported, use `*`"),
        ('{file: "../p*", late: yes}',
         "-:4:37: output `../p*` must not leave its directory by `..`"),
        ("{file: part, min-count: 2}", "-:4:43: `min-count` needs `late: yes`"),
        ('{file: "p*", late: yes, min-count: some}',
         "-:4:65: `min-count` takes a whole number, 0 or more, not `some`"),
        ('{file: "p*", late: yes, checksum: "adler32:00000001"}',
         "-:4:37: late output `p*` stands for several files, so it can't have a `checksum`"),
    ],
)  # fmt: skip
def test_an_impossible_late_output_is_a_fault(outputs: str, expected: str) -> None:
    assert faults(outputs, "run: x") == [expected]


def test_a_late_output_has_no_name_in_its_own_package() -> None:
    binaries = '{run: x, outputs: {file: "p*", late: yes}}, {run: y, inputs: "p*"}'

    (answer,) = faults("a", f"packages: [{{binaries: [{binaries}]}}]")

    assert "can't be an input in its own package" in answer


@pytest.mark.parametrize(
    "run",
    ['"cat {inputs} > all"', "[cat, '{inputs}']", '"for x in {inputs}; do cat $x; done"'],
)
def test_commands_can_not_name_inputs_that_come_later(run: str) -> None:
    (answer,) = faults("[p1, p2]", f"early-start: yes, run: {run}, inputs: {{from: a}}")

    at = JOB.format(outputs="", line=f"early-start: yes, run: {run}").splitlines()[-1]
    assert answer == (
        f"-:7:{at.index('{inputs}') + 1}: write `{{inputs.list}}` instead of `{{inputs}}`: "
        "a package that starts early gets its inputs one by one"
    )


def test_commands_can_name_the_list_and_the_first_inputs() -> None:
    chain = "{run: cut, inputs: p1, outputs: c}, {run: 'cat {inputs}', inputs: c}"
    assert job("p1", "early-start: yes, run: 'merge {inputs.list}', inputs: {from: a}")
    assert job("p1", f"early-start: yes, packages: [{{binaries: [{chain}]}}]")
    assert job("p1", "early-start: yes, packages: [{run: x}, {run: 'cat {inputs}', inputs: p1}]")
