"""What the author of a job file is warned of, though the job can run."""

from pathlib import Path

import pytest

from .conftest import Read, Warnings, line


def test_a_script_beside_the_job_file_that_is_no_input_is_a_warning(
    warnings: Warnings, folder: Path
) -> None:
    (folder / "sim.sh").write_text("echo")

    assert warnings(line("{for: {seed: [1, 2]}, run: './sim.sh {seed} | sort'}")) == [
        "`./sim.sh` is beside the job file, but not an input: it will not be on the node; "
        "add `inputs: sim.sh`"
    ]
    assert warnings(line("{run: [python3, raw/a.raw]}")) == [
        "`raw/a.raw` is beside the job file, but not an input: it will not be on the node; "
        "add `inputs: raw/a.raw`"
    ]


def test_a_script_that_the_inputs_lack_is_to_be_added_to_them(
    warnings: Warnings, folder: Path
) -> None:
    (folder / "sim.sh").write_text("echo")
    (folder / "cuts.txt").write_text("1")

    assert warnings(line("{run: 'sh sim.sh cuts.txt', inputs: cuts.txt}")) == [
        "`sim.sh` is beside the job file, but not an input: it will not be on the node; "
        "add `sim.sh` to its `inputs`"
    ]


def test_a_script_that_is_called_but_not_executable_is_a_warning(
    warnings: Warnings, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "sim.sh").write_text("echo")
    called = line("{for: {n: [1, 2]}, run: 'date; ./sim.sh {n} > /dev/null', inputs: sim.sh}")

    assert warnings(called) == [f"`./sim.sh` is not executable: chmod +x {folder}/sim.sh"]
    monkeypatch.chdir(folder)
    assert warnings(called) == ["`./sim.sh` is not executable: chmod +x sim.sh"]
    monkeypatch.chdir(folder.parent)
    typed = f"chmod +x {folder.name}/sim.sh"
    assert warnings(called) == [f"`./sim.sh` is not executable: {typed}"]
    for run in ("sh ./sim.sh", ["sh", "./sim.sh"]):
        assert warnings(line(f"{{run: {run}, inputs: sim.sh}}")) == []
    (folder / "bin").mkdir()
    (folder / "bin" / "sim.sh").write_text("echo")
    called_by_path = warnings(line("{run: bin/sim.sh 3, inputs: bin/sim.sh}"))
    assert called_by_path == [f"`bin/sim.sh` is not executable: {typed[:-6]}bin/sim.sh"]
    (folder / "sim.sh").chmod(0o755)
    assert warnings(called) == []


@pytest.mark.parametrize("run", ["[sim.sh, 3]", "'sim.sh 3 > /dev/null'", "'date; sim.sh | sort'"])
def test_a_script_that_is_called_without_its_folder_is_a_warning(
    warnings: Warnings, folder: Path, run: str
) -> None:
    (folder / "sim.sh").write_text("echo")
    (folder / "sim.sh").chmod(0o755)

    assert warnings(line(f"{{run: {run}, inputs: sim.sh}}")) == [
        "`sim.sh` is searched on the PATH of the node: write `./sim.sh`"
    ]


def test_a_script_that_is_an_argument_is_no_warning(warnings: Warnings, folder: Path) -> None:
    (folder / "sim.sh").write_text("echo")
    (folder / "sim.sh").chmod(0o755)

    assert warnings(line("{run: [sh, sim.sh], inputs: sim.sh}")) == []
    assert warnings(line('{run: "sh \\\\\\n sim.sh", inputs: sim.sh}')) == []


def test_a_loop_name_that_is_left_to_the_shell_is_a_warning(warnings: Warnings) -> None:
    loop = "for: {seed: [1, 2]}, outputs: 'gen-{seed}.txt'"

    assert warnings(line(f"{{{loop}, run: 'echo {{seed}} >> gen-${{seed}}.txt'}}")) == [
        "`${seed}` is left to the shell, where it is empty; write `{seed}`"
    ]


@pytest.mark.parametrize(
    "entry",
    [
        "run: 'seed={seed}; echo $seed'",
        "run: 'for seed in 1 2; do echo ${seed}; done'",
        "run: 'while read -r seed; do echo ${seed}; done'",
        "run: 'echo ${seed} $seeds', environment: {seed: '{seed}'}",
        "run: [echo, '${seed}']",
        "run: \"perl -e 'print ${seed}'\"",
    ],
)
def test_a_variable_that_has_a_value_is_no_warning(warnings: Warnings, entry: str) -> None:
    assert warnings(line(f"{{for: {{seed: [1, 2]}}, {entry}}}")) == []


def test_a_parameter_that_is_left_to_the_shell_is_a_warning(job: Read, folder: Path) -> None:
    text = "parameters: {run: 7}\nstages: [{lines: [{run: 'echo $run'}]}]\n"

    (answer,) = job(text).warnings

    assert answer.endswith(":2:31: warning: `$run` is left to the shell, where it is empty; "
                           "write `{run}`")  # fmt: skip


def test_a_warning_has_the_position_of_its_word(job: Read, folder: Path) -> None:
    (folder / "sim.sh").write_text("echo")

    (answer,) = job(line("run: time ./sim.sh")).warnings
    assert answer.startswith(f"{folder}/job.yaml:3:15: warning: `./sim.sh`")


@pytest.mark.parametrize(
    "entry",
    [
        "{run: './sim.sh 3', inputs: sim.sh}",
        "{run: 'echo > sim.sh; sh sim.sh'}",
        "{run: 'make sim.sh', outputs: sim.sh}",
        "{run: 'echo sim a.b'}",
        "{for: {f: {glob: '*.sh'}}, run: 'bash {f}', inputs: '{f}'}",
    ],
)
def test_a_file_that_a_package_makes_causes_no_warning(
    warnings: Warnings, folder: Path, entry: str
) -> None:
    (folder / "sim.sh").write_text("echo")
    (folder / "sim.sh").chmod(0o755)
    (folder / "sim").write_text("echo")

    assert warnings(line(entry)) == []


def test_an_input_that_is_read_by_its_folder_is_a_warning(warnings: Warnings) -> None:
    assert warnings(line("{run: 'cat raw/a.raw', layout: flat, inputs: raw/a.raw}")) == [
        "`raw/a.raw` is an input, which the working directory has without its folder: write `a.raw`"
    ]
    assert warnings(line("{run: 'cat a.raw', inputs: raw/a.raw}")) == [
        "`a.raw` is `raw/a.raw` in the working directory: write that, or `layout: flat`"
    ]
    assert warnings(line("{run: make, layout: flat, inputs: raw/a.raw}")) == [
        "input `raw/a.raw` is `a.raw` in the working directory, without its folder"
    ]


def test_a_file_on_the_node_may_be_read_by_its_path_there(warnings: Warnings) -> None:
    file = "{file: /data/calib.db, acquire: none}"
    assert warnings(line(f"{{run: 'cat /data/calib.db', inputs: [{file}]}}")) == []
    assert warnings(line(f"{{run: 'cat calib.db', inputs: [{file}]}}")) == []

    stored = file.replace("none}", "none, locator: /nfs/calib.db}")
    assert warnings(line(f"{{run: 'cat /data/calib.db', inputs: [{stored}]}}")) == [
        "`/data/calib.db` is an input, which the working directory has without its folder: "
        "write `calib.db`"
    ]


def test_an_output_of_a_folder_that_is_read_by_it_is_a_warning(warnings: Warnings) -> None:
    text = "{run: 'x > out/a', outputs: out/a}\n  - "
    text += "{run: 'cat out/a', layout: flat, inputs: out/a}"

    assert warnings(line(text)) == [
        "`out/a` is an input, which the working directory has without its folder: write `a`"
    ]


@pytest.mark.parametrize(
    "entry",
    [
        "{run: 'cat {inputs}', inputs: raw/a.raw}",
        "{run: 'cat raw/a.raw', inputs: raw/a.raw}",
        "{run: 'cat a.raw', layout: flat, inputs: raw/a.raw}",
        "{for: {f: {glob: 'raw/*.raw'}}, run: 'cat {f}', inputs: '{f}'}",
        "{run: 'while read f; do cat $f; done < {inputs.list}', inputs: {glob: 'raw/*'}}",
    ],
)
def test_inputs_that_are_read_by_their_base_names_cause_no_warning(
    warnings: Warnings, entry: str
) -> None:
    assert warnings(line(entry)) == []


def test_a_base_name_that_is_another_input_causes_no_warning(
    warnings: Warnings, folder: Path
) -> None:
    (folder / "a.raw").touch()

    assert warnings(line("{run: 'cat a.raw', inputs: [a.raw, raw/a.raw]}")) == []


SIMS = "stages:\n- name: sim\n  lines:\n  - {for: {n: {range: [1, 12]}}, run: 'x > sim-{n}.txt', \
outputs: 'sim-{n}.txt'}\n- name: merge\n  lines:\n"


def test_a_file_that_goes_into_two_lines_by_match_is_a_warning(warnings: Warnings) -> None:
    merge = "  - {for: {g: [1, 10]}, run: 'cat {inputs} > all-{g}', outputs: 'all-{g}', \
inputs: {from: sim, match: 'sim-MARK'}}\n"

    (answer,) = warnings(SIMS + merge.replace("MARK", "{g}*.txt"))
    assert answer == (
        "file `sim-10.txt` goes into several lines of stage `merge`: "
        "`sim-1*.txt` and `sim-10*.txt` both match it"
    )
    assert warnings(SIMS + merge.replace("MARK", "{g}.txt")) == []
    assert warnings(SIMS + merge.replace("MARK", "*.txt")) == []


def test_a_file_that_goes_into_two_lines_by_glob_is_a_warning(warnings: Warnings) -> None:
    text = "{for: {g: ['[ab]', '[bc]']}, run: 'cat {inputs}', inputs: {glob: 'raw/{g}.raw'}}"

    (answer,) = warnings(line(text))
    assert (
        "b.raw` goes into several lines of stage `stage1`: `raw/[ab].raw` and `raw/[bc]" in answer
    )


def test_an_output_that_run_does_not_name_is_a_warning(warnings: Warnings) -> None:
    assert warnings(line("{for: {n: [1, 2]}, run: 'sim {n}', outputs: 'other-{n}.txt'}")) == [
        "output `other-1.txt` is not named in `run`; the package fails if it is not made"
    ]


@pytest.mark.parametrize(
    "run",
    ["gen > a.txt", "gen -o {outputs}", "gen -o a", "for i in a b; do gen > $i.txt; done",
     "gen --out=sub/a.txt", "gen > {c,a}.txt"],
)  # fmt: skip
def test_an_output_that_run_may_name_causes_no_warning(warnings: Warnings, run: str) -> None:
    expected = 1 if run == "gen -o a" else 0

    assert len(warnings(line(f"{{run: '{run}', outputs: a.txt}}"))) == expected


@pytest.mark.parametrize(
    ("size", "meant"), [("2", "2GB"), ("4096", "4096MB"), ("2GB", None), ("500kB", None)]
)
def test_a_size_in_which_no_program_fits_is_a_warning(
    warnings: Warnings, size: str, meant: str | None
) -> None:
    found = warnings(line(f"{{run: x, memory: {size}}}"))

    assert found == ([f"`memory` is {size} bytes: did you mean `{meant}`?"] if meant else [])


@pytest.mark.parametrize(
    ("entry", "warning"),
    [
        ("work-size: 3", "`work-size` is 3 bytes: did you mean `3GB`?"),
        ("outputs: {file: x, size: 250}", "`size` is 250 bytes: did you mean `250MB`?"),
        ("policy: {never: {memory: 8}}", "`memory` is 8 bytes: did you mean `8GB`?"),
        ("looping: 10", "`looping` is 10 seconds: did you mean `10m`?"),
        ("policy: {never: {attempt: 3}}", "`attempt` is 3 seconds: did you mean `3h`?"),
        (
            "policy: {never: {all-attempts: 36}}",
            "`all-attempts` is 36 seconds: did you mean `36m`?",
        ),
        ("outputs: {file: x, min-size: 1}", None),
        ("policy: {never: {memory: no, attempt: no}}", None),
        ("work-size: 3MB, outputs: {file: x, size: 100kB}", None),
    ],
)
def test_other_sizes_and_times_without_a_unit_are_warnings_too(
    warnings: Warnings, entry: str, warning: str | None
) -> None:
    found = warnings(line(f"{{run: touch x, {entry}}}"))

    assert found == [warning] * bool(warning)


@pytest.mark.parametrize(("time", "meant"), [("1", "1h"), ("30", "30m"), ("1s", ""), ("90", "")])
def test_a_short_wall_time_without_a_unit_is_a_warning(
    warnings: Warnings, time: str, meant: str
) -> None:
    found = warnings(line(f"{{run: x, wall-time: {time}}}"))

    assert [text.rpartition(": ")[2] for text in found] == [f"did you mean `{meant}`?"] * bool(
        meant
    )


def test_a_requirement_that_no_stage_can_meet_is_a_warning(warnings: Warnings) -> None:
    text = "stages:\n- {name: a, require: 50%, lines: [{run: 'x > f', outputs: f}]}\n"

    assert warnings(text) == ["`require` has no effect: no line of this stage reads a file of "
                              "another stage"]  # fmt: skip
    more = "- {name: b, require: 50%, lines: [{run: 'y {inputs}', inputs: WAY}]}\n"
    for way in ("f", "{from: a}"):
        assert warnings(text.replace(", require: 50%", "") + more.replace("WAY", way)) == []


def test_a_parameter_that_nothing_can_use_is_a_warning(warnings: Warnings) -> None:
    text = "parameters: {energy: 13, cuts: {low: 1}}\n" + line("run: echo {energy}")

    assert warnings(text) == ["parameter `cuts` is not a text, so no placeholder can use it"]
