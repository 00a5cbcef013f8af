"""Faults that come with a hint, an example or a bound."""

from pathlib import Path
from random import Random

import pytest

from d0ctl.errors import MOST_FAULTS, BadJobFile
from d0ctl.jobfile import local_files
from d0ctl.jobfile.reader import KnownNames, read_text
from tests.support.mutating import in_time

from .conftest import Faults, Read


def test_a_value_of_ten_megabytes_is_shown_in_short(faults: Faults) -> None:
    answer = faults(f"job: {'x' * 10_000_000}\nstages: [{{lines: [{{run: x}}]}}]")

    assert answer[0] == "1:6: a value of 10,000,000 characters is too long (at most 1,000,000)"
    assert all(len(fault) < 300 for fault in answer)


def test_a_fault_of_many_lines_is_reported_once_with_a_count(faults: Faults) -> None:
    answer = faults(
        """\
stages:
  - lines:
      - for: {n: {range: [1, 100000]}}
        run: x
        inputs: "in{n}.raw"
        outputs: same.root
"""
    )

    assert answer == [
        "5:17: no package makes `in1.raw`, and it is not beside the job file, and 99,999 more "
        "like it",
        "6:18: packages `job/1/1/1` and `job/1/2/1` both make `same.root`: its name lacks `{n}`, "
        "and 99,998 more like it",
    ]


def test_a_file_of_several_groups_lacks_their_number(faults: Faults) -> None:
    loop = "for: {seeds: {range: [1, 4], by: 2}}"

    [fault] = faults(f"stages: [{{lines: [{{{loop}, run: 'x {{seeds}}', outputs: x.txt}}]}}]")

    assert fault.endswith("both make `x.txt`: its name lacks `{seeds.index}`")


def test_a_pattern_of_several_packages_advises_a_folder_of_each(faults: Faults) -> None:
    text = """\
stages:
  - lines:
      - for: {{n: [1, 2], e: [5]}}
        run: x{move}
        outputs: {{file: "{output}", late: yes}}
"""

    [fault] = faults(text.format(move="", output="o/fit_*.txt"))

    move, output = "&& mv o/fit_*.txt out-{n}-{e}/", "out-{n}-{e}/fit_*.txt"
    assert fault.endswith(
        "both make `o/fit_*.txt`: its name lacks `{n}` and `{e}`; "
        f"end the command with `{move}`, and name `{output}`"
    )
    assert read_text(text.format(move=f" {move}", output=output)).packages == 2


def test_no_folder_is_advised_for_a_pattern_that_matches_it(faults: Faults) -> None:
    line = 'for: {n: [1, 2]}, run: x, outputs: {file: "*", late: yes}'

    [fault] = faults(f"stages: [{{lines: [{{{line}}}]}}]")

    assert fault.endswith("its name lacks `{n}`")


def test_twenty_faults_are_printed_and_the_others_counted(faults: Faults) -> None:
    found = faults("\n".join(f"key{n}: x" for n in range(300)))
    printed = str(BadJobFile(found)).splitlines()

    assert len(found) == 301
    assert printed == [*found[:20], "and 281 more faults"]


def test_escapes_in_faults_are_removed(faults: Faults) -> None:
    answer = faults('stages: [{lines: [{run: x, "a\\x1b[31m\\n": 1, outputs: ["b\\u202e\\a"]}]}]')

    assert all(fault.isprintable() for fault in answer)
    assert answer[0] == "1:28: a line has no key `a\\x1b[31m\\n`"


def test_setting_an_unknown_parameter_is_a_fault(faults: Faults) -> None:
    text = "parameters: {energy: 1}\nstages: [{lines: [{run: x}]}]"

    answer = ["1:1: the job has no parameter `enrgy` to set (did you mean `energy`?)"]
    assert faults(text, enrgy="2") == answer


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("{seed:>5}", "`{seed:>5}`: `:>5` is not one of the formats: `:04` for leading zeros"),
        ("{seed:.2x}", "`{seed:.2x}`: `:.2x` is not one of the formats"),
        ("{seed%0}", "`{seed%0}`: `%0` divides by 0"),
        ("{seed+1:.2f}", "`{seed+1:.2f}`: `:.2f` is not one of the formats"),
        ("{word:04}", "`{word:04}`: `b.root` is not a whole number"),
        ("{word+1}", "`{word+1}`: `b.root` is not a whole number"),
        ("{word:.1f}", "`{word:.1f}`: `b.root` is not a number"),
        ("{label:04}", "`{label:04}`: `high` is not a whole number"),
    ],
)
@pytest.mark.parametrize("key", ["run", "outputs"])
def test_a_wrong_format_or_a_value_that_is_no_number_is_a_fault(
    faults: Faults, written: str, expected: str, key: str
) -> None:
    entry = {"run": "run: 'make X'", "outputs": "run: x\n    outputs: 'X'"}[key]
    loop = "{seed: [1, 2], word: [7, b.root]}"
    text = f"parameters: {{label: high}}\nstages:\n- lines:\n  - for: {loop}\n    {entry}\n"

    assert expected in faults(text.replace("X", written))[0]


def test_a_doubled_format_is_literal(job: Read) -> None:
    text = (
        "stages:\n- lines:\n  - {for: {n: [1]}, run: 'python -c \"{{n:03d}} {{n+1}} {x:3}\" {n}'}\n"
    )

    (line,) = job(text).stages[0].lines
    assert line.packages[0].binaries[0].script == 'python -c "{n:03d} {n+1} {x:3}" 1'


@pytest.mark.parametrize("value", ["1..200", "1-200", "'1 - 200'"])
def test_a_range_written_otherwise_gets_an_example(faults: Faults, value: str) -> None:
    text = f"stages:\n- lines:\n  - {{for: {{seed: {value}}}, run: x}}\n"

    assert "as in `{range: [1, 200]}`" in faults(text)[0]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("{run: x, depends_on: a}", "order comes from files, so list the files that it reads"),
        ("{run: x, needs-stage: a}", "where there is none, use `after`"),
        ("{command: x}", "has no key `command` (did you mean `run`?)"),
        ("{run: x, env: {A: b}}", "has no key `env` (did you mean `environment`?)"),
        ("{run: x, ncpus: 4}", "has no key `ncpus` (did you mean `cpus`?)"),
        ("{run: x, on: farm01}", "has no key `on` (did you mean `nodes`?)"),
        ("{run: x, retries: 3}", "has no key `retries` (did you mean `policy`?)"),
        (
            "{run: x, result: yes}",
            "in an output, as in `outputs: [{file: x, result: yes}]`",
        ),
        ("{run: x, time: 4h}", "has no key `time` (did you mean `wall-time`?)"),
        ("{run: x, inputs: sim-*.txt}", "`from: STAGE` with `match: sim-*.txt`, or `glob: sim-*"),
    ],
)
def test_keywords_of_other_programs_get_a_hint(faults: Faults, line: str, expected: str) -> None:
    assert expected in "\n".join(faults(f"stages:\n- lines:\n  - {line}\n"))


def test_the_name_of_a_job_is_its_key_job(faults: Faults) -> None:
    answer = faults("name: mc\nstages:\n- {name: sim, lines: [{run: x}]}\n")

    assert answer == ["1:1: a job has no key `name` (did you mean `job`?)"]


def test_the_researcher_of_a_job_is_its_key_originator(faults: Faults) -> None:
    answer = faults("researcher: emmy\nstages:\n- {name: sim, lines: [{run: x}]}\n")

    assert answer == ["1:1: a job has no key `researcher` (did you mean `originator`?)"]


def test_a_stage_that_is_said_to_depend_on_another_gets_a_hint(faults: Faults) -> None:
    text = "stages:\n- {depends_on: a, lines: [{run: x}]}\n- {requires: 5%, lines: [{run: x}]}\n"

    first, second = faults(text)
    assert "order comes from files" in first
    assert "did you mean `require`?" in second


def test_a_product_of_ten_ranges_is_a_fault_and_no_traceback(faults: Faults) -> None:
    names = ", ".join(f"n{i}: {{range: [1, 100]}}" for i in range(10))

    (answer,) = faults(f"stages:\n- lines:\n  - {{for: {{{names}}}, run: x}}\n")
    assert "100,000,000,000,000,000,000 packages are more than a job may have" in answer


@pytest.mark.parametrize(
    "entry", ["for: {n: {glob: '/**/**/**/*'}}", "inputs: {glob: '/**/**/**/*'}"]
)
def test_a_glob_over_the_whole_machine_ends_with_a_fault(
    faults: Faults, entry: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_files, "MAX_ENTRIES", 10_000)
    (answer,) = faults(f"stages:\n- lines:\n  - run: x\n    {entry}\n")
    assert "the glob `/**/**/**/*` is too wide" in answer
    assert "begin it in a smaller folder" in answer


def test_a_glob_that_finds_a_name_with_a_line_end_is_a_fault(faults: Faults, folder: Path) -> None:
    (folder / "a\nb.x").touch()

    assert faults("stages:\n- lines:\n  - {run: x, inputs: {glob: '*.x'}}\n") == [
        "3:29: the file name `a\\nb.x` has a control character"
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("wall-time: 0", "`wall-time`: `0` is not a time of more than 0"),
        ("environment: {D0CTL_X: '1'}",
         "`D0CTL_X` can't be set: d0ctl sets the variables `D0CTL_*` itself"),
    ],
)  # fmt: skip
def test_impossible_requests_are_a_fault(faults: Faults, text: str, expected: str) -> None:
    (fault,) = faults(f"job: j\nstages: [{{name: a, lines: [{{run: 'true', {text}}}]}}]\n")

    assert fault.endswith(expected)


@pytest.mark.parametrize(
    "wrong",
    [
        "run: 'go {paramter%d}'",
        "run: 'go {parameters.paramter%d}'",
        "run: go, after: parameters/paramter%d",
        "run: go, inputs: parameter%d.tx, outputs: parameter%d.txt",
        "run: go, nodes: paramter%d",
    ],
)
def test_words_are_compared_with_names_for_the_first_faults_only(folder: Path, wrong: str) -> None:
    names = [f"parameter{number}" for number in range(1000)]
    lines = ", ".join(f"{{{wrong.replace('%d', str(number))}}}" for number in range(300))
    named = ", ".join(f"{{name: {name}, run: x}}" for name in names)
    text = (
        f"parameters: {{{', '.join(f'{name}: x' for name in names)}}}\n"
        f"stages: [{{lines: [{lines}]}}, {{name: parameters, lines: [{named}]}}]"
    )

    with pytest.raises(BadJobFile) as refused:
        read_text(text, directory=folder, known=KnownNames(nodes=tuple(names)))

    suggested = [fault for fault in refused.value.faults if "did you mean" in fault]
    assert MOST_FAULTS <= len(suggested) <= 70


def test_a_wrong_name_that_is_repeated_is_always_found(faults: Faults) -> None:
    names = ", ".join(f"parameter{number}: x" for number in range(1000))
    lines = ", ".join("{run: 'go {paramter1}'}" for _ in range(300))

    found = faults(f"parameters: {{{names}}}\nstages: [{{lines: [{lines}]}}]")

    assert len(found) == 300


def test_a_misspelt_placeholder_is_found_after_many_other_braces(faults: Faults) -> None:
    names = ", ".join(f"parameter{number}: x" for number in range(1000))
    lines = ", ".join(f"{{run: 'awk {{qjkx{number}}}'}}" for number in range(100))
    last = "{run: 'go {seeed}'}"

    (found,) = faults(f"parameters: {{{names}, seed: x}}\nstages: [{{lines: [{lines}, {last}]}}]")

    assert "`{seeed}` is not a known name (did you mean `seed`?" in found


def test_a_misspelt_placeholder_is_found_among_any_number_of_names(faults: Faults) -> None:
    names = ", ".join(f"parameter{number}: x" for number in range(5000))

    (found,) = faults(
        f"parameters: {{{names}, seed: x}}\nstages: [{{lines: [{{run: 'go {{seeed}}'}}]}}]"
    )

    assert "`{seeed}` is not a known name" in found


def test_too_many_words_and_names_are_refused_instead_of_compared(faults: Faults) -> None:
    random = Random(7)
    names, words = (
        ["".join(random.choices("abcdefghijklm", k=100)) for _ in range(2000)] for _ in range(2)
    )
    parameters = ", ".join(f"{name}: x" for name in names)
    runs = " ".join(f"{{{word}}}" for word in words)

    with in_time():  # all comparisons would take more than twice as long
        found = faults(f"parameters: {{{parameters}}}\nstages: [{{lines: [{{run: '{runs}'}}]}}]")

    assert len(found) == 2000


def test_a_word_with_the_letters_of_too_many_names_to_compare_is_a_fault(faults: Faults) -> None:
    names = ", ".join(f"parameter{number}: x" for number in range(1000, 1200))
    text = "parameters: {%s}\nstages: [{lines: [{run: 'awk {retemarap1}'}]}]"

    (found,) = faults(text % names)

    assert "`{retemarap1}` is not a known name (`{{retemarap1}}` gives" in found
