"""Where the files of a job come from, and the orders that cannot be."""

from pathlib import Path

import pytest

from d0ctl.jobfile.reader import KnownNames
from d0ctl.jobfile.spec import Acquire, BinarySpec, InputSpec

from .conftest import Faults, Lines, Read


def binary(lines: Lines, keys: str) -> BinarySpec:
    """Return the binary of a job of one line."""
    (line,) = lines(f"stages: [{{lines: [{{run: x, {keys}}}]}}]")
    return line.packages[0].binaries[0]


def only_input(lines: Lines, keys: str) -> InputSpec:
    """Return the input of a job of one."""
    (given,) = binary(lines, f"inputs: [{keys}]").inputs
    return given


@pytest.mark.parametrize("name", ["raw/a.raw", "./raw/a.raw"])
def test_a_relative_file_lies_beside_the_job_file(lines: Lines, folder: Path, name: str) -> None:
    assert only_input(lines, name) == InputSpec(f"{folder}/raw/a.raw", made=False, local="raw/")


def test_an_absolute_file_that_is_here_is_fetched(lines: Lines, folder: Path) -> None:
    given = only_input(lines, f"{folder}/raw/a.raw")

    assert given == InputSpec(f"{folder}/raw/a.raw", made=False, acquire=Acquire.PRE_FETCH)


def test_an_absolute_file_that_is_not_here_is_on_the_node(lines: Lines) -> None:
    given = only_input(lines, "/data/x.raw")

    assert given == InputSpec("/data/x.raw", made=False, acquire=Acquire.NONE)


def test_the_acquisition_in_the_file_is_kept(lines: Lines, folder: Path) -> None:
    assert only_input(lines, "{file: /d/x, acquire: self}").acquire is Acquire.SELF
    assert only_input(lines, "{file: raw/a.raw, acquire: none}").acquire is Acquire.NONE
    given = only_input(lines, "{file: x.raw, acquire: self, locator: 'sam:x'}")
    assert given.file == f"{folder}/x.raw"


def test_a_file_of_another_job_is_named_with_its_job(lines: Lines) -> None:
    assert only_input(lines, "mc:all.root") == InputSpec("mc:all.root")


@pytest.mark.parametrize(
    ("given", "column", "expected"),
    [
        ("mcc:x.root", 1, "there is no job `mcc`"),
        ("mc:y.root", 1, "job `mc` makes no file `y.root`"),
        ("job:x", 1, "`job:x` is a file of this job: write `x`"),
        ("root://h/x", 1, "input `root://h/x` looks like a URL: write it under `locator`"),
        (
            "raw/d.raw",
            1,
            "no package makes `raw/d.raw`, and it is not beside the job file "
            "(did you mean `raw/c.raw`?)",
        ),
        ("raw", 1, "input `raw` is a directory: write `raw/`"),
        ("raw/a.raw/", 1, "input `raw/a.raw/` is a file: write `raw/a.raw`"),
        ("./", 1, "input `./` has no name: write that of a file or directory"),
        ('"a\\nb"', 1, "the file name `a\\nb` has a control character"),
        ('""', 1, "the name of a file is empty"),
        (
            "{file: /no/x, acquire: pre-fetch}",
            8,
            "there is no file `/no/x` on this host to pre-fetch",
        ),
        ("{glob: '*.x'}", 8, "no file matches `*.x`"),
        ("{from: stage1}", 8, "stage `stage1` can't take its inputs from itself"),
        ("{file: raw/a.raw, match: b}", 19, "`match` needs `from` or `cache`"),
        (
            "{size: 4}",
            1,
            "an input needs one of `file`, `from`, `glob`, `list`, `catalogue` and "
            "`cache`, but has none",
        ),
        ("[a]", 1, "an input takes a file name or keys, not a list"),
    ],
)
def test_a_wrong_input_is_reported(faults: Faults, given: str, column: int, expected: str) -> None:
    known = KnownNames(produced=lambda job, name: None if job != "mc" else name == "x.root")

    before = "stages: [{lines: [{run: x, inputs: ["
    assert faults(f"{before}{given}]}}]}}]", known) == [f"1:{len(before) + column}: {expected}"]


@pytest.mark.parametrize(
    "keys", ["layout: flat, inputs: [raw/a.raw, a.raw, ./a.raw]",
             "inputs: [raw/a.raw, {file: a.raw, as: raw/}]",
             "inputs: [{file: raw/a.raw, as: a.raw}, ./a.raw]"],
)  # fmt: skip
def test_two_inputs_of_one_name_are_reported(faults: Faults, folder: Path, keys: str) -> None:
    (folder / "a.raw").touch()

    answer = faults(f"stages: [{{lines: [{{run: x, {keys}}}]}}]")

    both = f"inputs `{folder}/raw/a.raw` and `{folder}/a.raw`"
    name = "raw/a.raw" if "raw/}" in keys else "a.raw"
    assert answer == [f"1:19: {both} of a package are both `{name}`; rename one by `as: NAME`"]


def test_a_file_where_another_input_needs_a_folder_is_reported(
    faults: Faults, folder: Path
) -> None:
    (folder / "a.raw").touch()

    answer = faults("stages: [{lines: [{run: x, inputs: [{file: a.raw, as: raw}, raw/b.raw]}]}]")

    assert answer == [
        f"1:19: input `{folder}/a.raw` of a package is a file where input `{folder}/raw/b.raw` "
        "needs a folder"
    ]


@pytest.mark.parametrize(
    ("entry", "local"),
    [
        ("raw/a.raw", "raw/"),
        ("raw/../raw/a.raw", "raw/"),
        ("{file: raw/a.raw, as: x}", "x"),
        ("{file: raw/a.raw, as: x/y}", "x/y"),
        ("{file: raw/a.raw, as: x/y/}", "x/y/"),
        ("{file: raw/a.raw, as: a.raw}", None),
        ("{file: mc:sub/all.root}", "sub/"),
        ("/data/x.raw", None),
        ("../data/x.raw", None),
        ("{glob: raw/a*}", "raw/"),
    ],
)
def test_an_input_keeps_its_path_below_the_working_directory(
    lines: Lines, folder: Path, entry: str, local: str | None
) -> None:
    (folder / "../data").mkdir(exist_ok=True)
    (folder / "../data/x.raw").touch()

    assert only_input(lines, entry).local == local


@pytest.mark.parametrize("name", ["/x", "../x", "x/../../y", "''", "x/.."])
def test_an_input_is_not_renamed_to_outside_of_the_working_directory(
    faults: Faults, name: str
) -> None:
    (answer,) = faults(
        f"stages: [{{lines: [{{run: x, inputs: {{file: raw/a.raw, as: {name}}}}}]}}]"
    )

    shown = name.strip("'")
    assert answer == (
        f"1:58: `as` takes a relative path without `..`; a folder has `/` at its end, not `{shown}`"
    )


def test_the_same_file_may_be_an_input_of_two_binaries(lines: Lines) -> None:
    (line,) = lines(
        "stages: [{lines: [{binaries: [{run: x, inputs: raw/a.raw}, "
        "{run: y, inputs: ['./raw/a.raw', raw/a.raw]}]}]}]"
    )

    assert [len(binary.inputs) for binary in line.packages[0].binaries] == [1, 1]


def test_an_output_may_not_overwrite_an_input(faults: Faults, folder: Path) -> None:
    answer = faults("stages: [{lines: [{run: x, inputs: {file: raw/a.raw, as: x}, outputs: ./x}]}]")

    assert answer == [
        f"1:19: output `./x` would overwrite input `{folder}/raw/a.raw`, which has the same name"
    ]


def test_outputs_are_named_without_detours(lines: Lines) -> None:
    outputs = binary(lines, "outputs: [./a, b//c, d/./e, '.f', 'g h', '12:30']").outputs

    assert [output.file for output in outputs] == ["a", "b/c", "d/e", ".f", "g h", "12:30"]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("/a", "output `/a` must be a relative path"),
        ("a/../b", "output `a/../b` must not leave its directory by `..`"),
        ("'.'", "output `.` is the whole working directory"),
        ("mc:x/", "output `mc:x/` looks like a file of another job, `JOB:NAME`"),
        ("mc:x", "output `mc:x` looks like a file of another job, `JOB:NAME`"),
        ("x" * 256, f"the file name `{'x' * 80}...` is too long"),
        ('"a\\u0007"', "the file name `a\\x07` has a control character"),
    ],
)
def test_a_wrong_output_is_reported(faults: Faults, name: str, expected: str) -> None:
    assert faults(f"stages: [{{lines: [{{run: x, outputs: {name}}}]}}]") == [f"1:37: {expected}"]


KNOWN = KnownNames(
    nodes=("farm1", "localhost"), transfer={"root": {"fetch": "x"}, "sam": {"store": "x"}}
)


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (
            "inputs: {file: a, locator: 'farm:/x'}",
            "there is no node `farm` (did you mean `farm1`?)",
        ),
        ("outputs: {file: a, locator: 'Z:/x'}", "there is no node `Z`"),
        (
            "outputs: {file: a, locator: 'file:/x'}",
            "there is no node `file`: a URL begins with `file://`",
        ),
        (
            "inputs: {file: a, locator: 'foo://x/y'}",
            "the site has no command to fetch `foo:` files",
        ),
        ("inputs: {file: a, locator: 'sam:y'}", "the site has no command to fetch `sam:` files"),
        ("outputs: {file: a, locator: 'root://x/y'}", "no command to store `root:` files"),
    ],
)
def test_a_locator_that_the_site_cannot_serve_is_a_fault(
    faults: Faults, entry: str, expected: str
) -> None:
    assert expected in "\n".join(faults(f"stages:\n- lines:\n  - {{run: a, {entry}}}\n", KNOWN))


@pytest.mark.parametrize(
    "entry",
    [
        "inputs: {file: a, locator: 'farm1:/x'}",
        "inputs: {file: a, locator: 'root://x/y'}",
        "inputs: {file: a, locator: 'https://x/y'}",
        "inputs: {file: a, locator: 'own://x/y', acquire: self}",
        "outputs: {file: a, locator: 'sam:y'}",
        "outputs: {file: a, locator: /nfs/a}",
    ],
)
def test_a_locator_that_the_site_can_serve_is_accepted(job: Read, entry: str) -> None:
    assert job(f"stages:\n- lines:\n  - {{run: a, {entry}}}\n", KNOWN).packages == 1


def test_a_list_file_names_inputs_one_per_line(lines: Lines, folder: Path) -> None:
    (folder / "files.txt").write_text("raw/a.raw\n\n  mc:all.root \n/data/{x}.raw\n")

    inputs = binary(lines, "inputs: {list: files.txt, as: in/}").inputs

    assert inputs == (
        InputSpec(f"{folder}/raw/a.raw", made=False, local="in/"),
        InputSpec("mc:all.root", local="in/"),
        InputSpec("/data/{x}.raw", made=False, acquire=Acquire.NONE, local="in/"),
    )


@pytest.mark.parametrize(
    ("entry", "fault"),
    [
        ("{list: no}", "there is no file `no` beside the job file"),
        ("{list: empty.txt}", "`empty.txt` has no lines"),
        (
            "{list: wrong.txt}",
            "no package makes `gone.raw`, which `wrong.txt` names, and it is not beside the job "
            "file",
        ),
        ("{list: empty.txt, match: x}", "`match` can't be combined with `list`"),
        ("{list: [a]}", "`list` takes a text, not a list"),
    ],
)
def test_a_list_file_that_can_not_be_read_is_a_fault(
    faults: Faults, folder: Path, entry: str, fault: str
) -> None:
    (folder / "empty.txt").write_text("\n")
    (folder / "wrong.txt").write_text("gone.raw\n")

    answer = faults(f"stages: [{{lines: [{{run: x, inputs: {entry}}}]}}]")

    assert fault in {one.partition(": ")[2] for one in answer}


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ("stdin: raw/", "`stdin` takes one file, not `raw/`"),
        ("stdin: nothing", "no package makes `nothing`, and it is not beside the job file"),
        ("stdin: 'a*'", "`stdin` takes one file, and `a*` is a late output"),
        ("stdin: b, early-start: yes", "a package that starts early can't get its stdin from"),
    ],
)
def test_a_wrong_stdin_is_reported(faults: Faults, keys: str, expected: str) -> None:
    makers = "{run: a, outputs: {file: 'a*', late: yes}}, {run: b, outputs: b}"

    (answer,) = faults(f"stages: [{{lines: [{makers}, {{run: x, {keys}}}]}}]")

    assert expected in answer
