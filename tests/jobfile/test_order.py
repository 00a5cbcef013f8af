"""Which packages read what other packages make, and the orders that cannot be."""

import pytest

from d0ctl.jobfile.spec import InputSpec

from .conftest import Faults, Lines, Read, launched


def test_a_package_may_read_what_its_earlier_binary_makes(lines: Lines) -> None:
    (line,) = lines(
        """\
stages:
  - lines:
      - binaries:
          - {run: "gen {outputs}", outputs: sub/x.gen}
          - {run: "sim {inputs}", inputs: sub/x.gen, outputs: x.sim}
"""
    )

    second = line.packages[0].binaries[1]
    assert second.inputs == (InputSpec("sub/x.gen"),)
    assert launched(line, 1) == "sim sub/x.gen"


def test_a_package_may_not_read_what_a_later_binary_makes(faults: Faults) -> None:
    answer = faults(
        "stages: [{lines: [{binaries: [{run: a, inputs: x}, {run: b, outputs: x}]}, "
        "{run: c, inputs: y, outputs: y}]}]"
    )

    assert answer == [
        "1:48: `x` is read before its own package makes it",
        "1:93: `y` is read before its own package makes it",
    ]


def test_from_takes_the_outputs_that_its_stage_does_not_read(job: Read) -> None:
    spec = job(
        """\
stages:
  - name: merge
    lines:
      - {run: "merge {inputs}", inputs: {from: chain}, outputs: all}
      - {run: "logs {inputs}", inputs: [{from: chain, match: "*.log", required: yes}]}
  - name: chain
    lines:
      - for: {n: {range: [1, 2]}}
        packages:
          - {run: gen, outputs: ["{n}.gen", "logs/{n}.log"]}
          - {run: sim, inputs: "{n}.gen", outputs: "{n}.sim"}
"""
    )

    merge, logs = spec.stages[0].lines
    assert launched(merge) == "merge logs/1.log 1.sim logs/2.log 2.sim"
    assert logs.packages[0].binaries[0].inputs == (
        InputSpec("logs/1.log", local="logs/"),
        InputSpec("logs/2.log", local="logs/"),
    )


def test_each_line_may_take_its_own_part_of_a_stage(lines: Lines) -> None:
    made = lines(
        """\
stages:
  - name: reco
    lines:
      - for: {run: {range: [1, 11]}, part: [b, a]}
        run: reco
        outputs: "{run}_{part}.reco"
  - lines:
      - for: {run: {range: [1, 11]}}
        run: "merge {inputs}"
        inputs: [{from: reco, match: "{run}_*.reco"}]
"""
    )

    scripts = [launched(line) for line in made]
    assert scripts == [f"merge {n}_b.reco {n}_a.reco" for n in range(1, 12)]


def test_a_file_that_is_named_and_taken_is_an_input_once(lines: Lines) -> None:
    (line,) = lines(
        "stages: [{name: s, lines: [{run: x, outputs: [a, b]}]}, "
        "{lines: [{run: 'y {inputs}', inputs: [{from: s}, b]}]}]"
    )

    (binary,) = line.packages[0].binaries
    assert binary.inputs == (InputSpec("a", required=False), InputSpec("b", required=True))


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("{from: on}", "2:38: there is no stage `on` (did you mean `one`?)"),
        ("{from: one, match: '*.y'}", "2:38: no output of stage `one` matches `*.y`"),
        (
            "{from: none}",
            "2:38: stage `none` has no output that other stages can read: "
            "its packages have no `outputs`",
        ),
        (
            "{from: chain}",
            "2:38: stage `chain` has no output that other stages can read: `b` is "
            "read in the stage itself, and its other packages have no `outputs`",
        ),
    ],
)
def test_from_a_stage_without_outputs_is_reported(
    faults: Faults, given: str, expected: str
) -> None:
    text = (
        "stages: [{name: one, lines: [{run: x, outputs: a.x}]}, {name: none, lines: [{run: y}]},"
        "{name: chain, lines: [{packages: [{run: x, outputs: b}, {run: y, inputs: b}]}]},\n"
        f"  {{lines: [{{run: 'z', inputs: {given}}}]}}]"
    )

    assert faults(text) == [expected]


def test_packages_that_wait_for_each_other_are_named(faults: Faults) -> None:
    answer = faults(
        """\
stages:
  - lines:
      - for: {n: {range: [1, 3]}}
        packages:
          - {run: a, inputs: "{n}.c", outputs: "{n}.a"}
          - {run: b, outputs: "{n}.b"}
      - for: {n: {range: [1, 3]}}
        packages:
          - {run: c, inputs: "{n}.b", outputs: "{n}.c"}
          - {run: d, inputs: "{n}.a"}
"""
    )

    assert answer == [
        "5:13: packages `job/1/1/1`, `job/1/1/2`, `job/1/4/1` wait for each other in a circle, "
        "and 2 more like it"
    ]


def test_a_line_may_come_after_one_that_has_no_packages_because_of_a_fault(
    faults: Faults,
) -> None:
    text = "stages: [{name: a, lines: [{packages: []}]}, {lines: [{run: x, after: a/1}]}]"

    assert faults(text) == ["1:39: `packages` takes a list of entries, not an empty list"]


def test_stages_may_be_written_in_any_order(job: Read) -> None:
    spec = job(
        "stages: [{lines: [{run: c, inputs: b}]}, {lines: [{run: b, inputs: a, outputs: b}]}, "
        "{lines: [{run: a, outputs: a}]}]"
    )

    assert spec.packages == 3


def test_a_chain_of_many_packages_is_ordered_without_recursion(job: Read) -> None:
    spec = job(
        """\
stages:
  - lines:
      - {run: last, inputs: "{parameters.n}.x", outputs: end}
      - {run: first, outputs: 0.x}
      - for: {zip: {n: {range: [1, 20000]}, m: {range: [0, 19999]}}}
        run: step
        inputs: "{m}.x"
        outputs: "{n}.x"
parameters: {n: 20000}
"""
    )

    assert spec.packages == 20_002
