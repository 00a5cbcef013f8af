"""Which lines a `for:` makes."""

from pathlib import Path

import pytest

from .conftest import Faults, Lines, Read


def scripts(lines: Lines, values: str, run: str) -> list[str | None]:
    """Return what the lines of a loop run."""
    made = lines(f"stages: [{{lines: [{{for: {values}, run: '{run}'}}]}}]")
    return [line.packages[0].binaries[0].script for line in made]


def test_several_names_make_a_product_with_the_last_fastest(lines: Lines) -> None:
    made = scripts(lines, "{b: [1, 2], a: {list: [x, y]}}", "{b}{a}")

    assert made == ["1x", "1y", "2x", "2y"]


def test_zip_pairs_names_within_a_product(lines: Lines) -> None:
    values = "{n: {range: [1, 2]}, zip: {s: {list: [a, b]}, t: {range: [5, 6]}}}"

    assert scripts(lines, values, "{n}{s}{t}") == ["1a5", "1b6", "2a5", "2b6"]


@pytest.mark.parametrize(
    ("written", "values"),
    [
        ("{n:04}", ["0008", "0012"]),
        ("{n:03d}", ["008", "012"]),
        ("{n:.2f}", ["8.00", "12.00"]),
        ("{n:.1e}", ["8.0e+00", "1.2e+01"]),
        ("{n+1}", ["9", "13"]),
        ("{n - 10}", ["-2", "2"]),
        ("{n*100}", ["800", "1200"]),
        ("{n/5}", ["1", "2"]),
        ("{n%5}", ["3", "2"]),
        ("{n+1:04}", ["0009", "0013"]),
        ("{parameters.first+1:02}", ["06", "06"]),
        ("{first:03}", ["005", "005"]),
        ("x{n}-{n+1}", ["x8-9", "x12-13"]),
        ("{n+ 1 }", ["{n+ 1 }", "{n+ 1 }"]),
        ("${n:04}", ["${n:04}", "${n:04}"]),
    ],
)
def test_a_placeholder_formats_and_calculates(
    lines: Lines, written: str, values: list[str]
) -> None:
    line = f"{{for: {{n: [8, 12]}}, run: '{written}'}}"

    found = lines(f"parameters: {{first: 5}}\nstages: [{{lines: [{line}]}}]")
    made = [one.packages[0].binaries[0].script for one in found]

    assert made == values


@pytest.mark.parametrize(
    ("numbers", "values"),
    [
        ("[1, 5]", ["1", "2", "3", "4", "5"]),
        ("[3, 3]", ["3"]),
        ("[0, 10, 5]", ["0", "5", "10"]),
        ("[3, 1, -1]", ["3", "2", "1"]),
        ("[-1, 1]", ["-1", "0", "1"]),
        ("[008, 010]", ["008", "009", "010"]),
    ],
)
def test_a_range_counts_to_its_last_number(lines: Lines, numbers: str, values: list[str]) -> None:
    assert scripts(lines, f"{{n: {{range: {numbers}}}}}", "{n}") == values


def test_values_stay_the_text_that_was_written(lines: Lines) -> None:
    values = "{x: [no, on, 1e3, 012, 12:30, 1_000, 0x1F, 2024-01-01, 1.50]}"

    made = scripts(lines, values, "{x}")

    assert made == ["no", "on", "1e3", "012", "12:30", "1_000", "0x1F", "2024-01-01", "1.50"]


def test_a_glob_is_sorted_and_relative_to_the_job_file(lines: Lines) -> None:
    assert scripts(lines, "{x: {glob: 'raw/[ac]*'}}", "{x}") == ["raw/a.raw", "raw/c.raw"]


def test_a_csv_file_gives_its_columns(lines: Lines, folder: Path) -> None:
    (folder / "runs.csv").write_text('run,file name,file\n1,x,"d/a,b.raw"\n\n2,y,c.raw\n')

    made = scripts(lines, "{row: {csv: runs.csv}}", "{row.run} {row.file} {row.file.stem}")

    assert made == ["1 d/a,b.raw a,b", "2 c.raw c"]


def test_a_text_file_gives_its_lines(lines: Lines, folder: Path) -> None:
    (folder / "list.txt").write_text("one\n\ntwo words\r\nthree")

    assert scripts(lines, "{x: {lines: list.txt}}", "{x}") == ["one", "'two words'", "three"]


def test_loop_values_may_fill_every_field_of_a_line(lines: Lines, folder: Path) -> None:
    (folder / "runs.csv").write_text("run,size,time,node\n7,2GB,3h,n1\n")

    (line,) = lines(
        """\
stages:
  - lines:
      - for: {row: {csv: runs.csv}}
        name: "run {row.run}"
        run: "x {parameters.r}"
        parameters: {r: "{row.run}", all: [{n: "{row.node}"}]}
        memory: "{row.size}"
        runtime: "{row.time}"
        nodes: ["{row.node}"]
        environment: {RUN: "{row.run}"}
        outputs: [{file: "{row.run}.root", size: "{row.size}"}]
"""
    )

    (package,) = line.packages
    (binary,) = package.binaries
    assert (line.name, package.memory, package.nodes) == ("run 7", 2 * 10**9, ("n1",))
    assert package.environment == {"RUN": "7"}
    assert binary.parameters == {"r": "7", "all": [{"n": "n1"}]}
    assert (binary.script, binary.runtime) == ("x 7", 10800)
    assert (binary.outputs[0].file, binary.outputs[0].size) == ("7.root", 2 * 10**9)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ("[1]", "1:25: `for` takes names with their values, as in `for: {n: [1, 2]}`"),
        ("{}", "1:25: `for` has no names"),
        (
            "{n: 3}",
            "1:29: `n` takes one of `glob:`, `list:`, `range:`, `csv:`, `lines:`, `catalogue:`, "
            "as in `{range: [1, 5]}`",
        ),
        ("{n: []}", "1:29: `list` takes values, as in `list: [10, 20]`"),
        (
            "{n: {rang: [1, 2]}}",
            "1:30: `rang` is not one of `glob:`, `list:`, `range:`, `csv:`, `lines:`, `catalogue:` "
            "(did you mean `range`?)",
        ),
        (
            "{n: {range: [1, x]}}",
            "1:37: `range` takes the first and the last number, as in `[1, 5]`",
        ),
        ("{n: {range: [1, 5, 0]}}", "1:37: the range `[1, 5, 0]` is empty"),
        (
            "{n: {range: [1, 1000000000000]}}",
            "1:37: the range has 1,000,000,000,000 numbers (at most 10,000,000)",
        ),
        ("{n: {glob: 'x*'}}", "1:36: no file matches `x*`"),
        ("{n: {lines: no.txt}}", "1:37: there is no file `no.txt` beside the job file"),
        (
            "{n: {lines: runs.cvs}}",
            "1:37: there is no file `runs.cvs` beside the job file (did you mean `runs.csv`?)",
        ),
        ("{n: {csv: runs.csv}}", "1:35: `runs.csv`: line 3 has 1 values, but the header has 2"),
        ("{n-x: [1]}", "1:26: the loop name `n-x` must be made of letters, digits and `_`"),
        ("{inputs: [1]}", "1:26: `inputs` is a reserved word and can't be a loop name"),
        ("{n: [1], zip: {n: [2]}}", "1:40: the loop name `n` is used twice"),
        ("{zip: [1]}", "1:26: `zip` takes names with their values, as in `zip: {a: .., b: ..}`"),
    ],
)
def test_a_wrong_loop_is_reported(faults: Faults, folder: Path, values: str, expected: str) -> None:
    (folder / "runs.csv").write_text("a,b\n1,2\n3\n")

    assert faults(f"stages: [{{lines: [{{for: {values}, run: x}}]}}]") == [expected]


def test_a_row_needs_the_name_of_a_column(faults: Faults, folder: Path) -> None:
    (folder / "runs.csv").write_text("run,energy\n1,2\n")

    answer = faults("stages: [{lines: [{for: {r: {csv: runs.csv}}, run: '{r} {r.enrgy}'}]}]")

    assert answer == [
        "1:53: `{r}` needs a column, one of `run`, `energy`",
        "1:57: `{r.enrgy}` needs a column, one of `run`, `energy` (did you mean `energy`?)",
    ]


def test_a_job_with_too_many_packages_is_refused_at_once(faults: Faults) -> None:
    values = "{a: {range: [1, 10000]}, b: {range: [1, 10000]}}"

    answer = faults(f"stages: [{{lines: [{{for: {values}, run: x}}]}}]")

    assert answer == ["1:19: 100,000,000 packages are more than a job may have (10,000,000)"]


def test_a_loop_value_that_no_field_can_hold_is_reported_once(faults: Faults) -> None:
    answer = faults(
        "stages: [{lines: [{for: {m: [1GB, x, y]}, run: x, memory: '{m}', name: 'a/{m}'}]}]"
    )

    name = "`name` takes a name without `/`, line ends and control characters"
    assert answer == [
        "1:59: `memory` takes a size such as `200MB`, `1.5 GiB` or `4096`, not `x`, "
        "and 1 more like it",
        f"1:72: {name}, not `a/1GB`, and 2 more like it",
    ]


def test_the_lines_of_a_large_job_are_not_held(job: Read) -> None:
    spec = job("stages: [{lines: [{for: {n: {range: [1, 100000]}}, run: 'x {n}'}]}]")

    first = next(iter(spec.stages[0].lines))

    assert (spec.packages, first.packages[0].binaries[0].script) == (100_000, "x 1")


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("{for: {seed: {range: [7, 8]}}, run: x}", ["seed=7", "seed=8"]),
        ("{for: {e: [1], zip: {a: [x, y], b: [p, q]}}, run: x}", ["e=1 a=x b=p", "e=1 a=y b=q"]),
        ("{for: {raw: {glob: 'raw/[ab].raw'}}, run: x}", ["raw=a.raw", "raw=b.raw"]),
        (
            "{for: {f: [1/AOD, 2/AOD, 2/AOD], d: [3/]}, run: x}",
            ["f=1/AOD d=3", "f=2/AOD d=3", "f=2/AOD d=3"],
        ),
        ("{for: {row: {csv: runs.csv}}, run: x}", ["energy=13 seed=1"]),
        ("{for: {row: {csv: files.csv}}, run: x}", ["file=1/x e=5", "file=2/x e=5"]),
        ("{for: {n: [1, 2]}, name: 'run {n}', run: x}", ["run 1", "run 2"]),
        ("{run: x}", ["1"]),
    ],
)
def test_a_line_is_named_by_its_loop_values(
    lines: Lines, folder: Path, line: str, names: list[str]
) -> None:
    (folder / "runs.csv").write_text("energy,seed\n13,1\n")
    (folder / "files.csv").write_text("file,e\n1/x,a/5\n2/x,a/5\n")

    assert [line.name for line in lines(f"stages: [{{lines: [{line}]}}]")] == names


@pytest.mark.parametrize(
    ("package", "names"),
    [
        ("run: for i in 1 2; do echo; done", ["gen"]),
        ("binaries: [{run: echo}, {run: cat, name: own}]", ["gen-1", "own"]),
        ("packages: [{name: fit, run: echo}]", ["fit"]),
        ("packages: [{name: 'fit-{n}', run: echo}]", ["gen"]),
        ("run: 1, software: reco/v1", ["reco"]),
    ],
)
def test_a_binary_is_named_by_its_package_or_stage(
    lines: Lines, package: str, names: list[str]
) -> None:
    (line,) = lines(f"stages: [{{name: gen, lines: [{{for: {{n: [1]}}, {package}}}]}}]")

    assert [binary.name for binary in line.packages[0].binaries] == names
