"""What a binary executes: which placeholders are replaced, and that no value can break out."""

import json
from pathlib import Path, PurePosixPath

import pytest

from d0ctl.jobfile.language.quoting import arguments_with_inputs, with_inputs
from d0ctl.jobfile.reader import read_text
from d0ctl.jobfile.spec import INPUTS

from .conftest import Faults, Lines, launched


def scripts_of(run: str, *values: str, shell: str = "bash") -> list[str]:
    """Read a job with a line for each value of `x`, and return what each runs."""
    line = {"for": {"x": {"list": list(values)}}, "run": run, "shell": shell}
    spec = read_text(json.dumps({"stages": [{"lines": [line]}]}, ensure_ascii=False))
    texts = [line.packages[0].binaries[0].script for line in spec.stages[0].lines]
    return [text for text in texts if text is not None]


def script_of(run: str, value: str = "v") -> str:
    """Return the command for one value."""
    return scripts_of(run, value)[0]


@pytest.mark.parametrize(
    ("run", "script"),
    [
        ("a {x} {x}", "a v v"),
        ("{x}{x}", "vv"),
        ("a ${x} $x", "a ${x} $x"),
        ("a ${{x}}", "a ${{x}}"),
        ("a {{x}} {{x.stem}}", "a {x} {x.stem}"),
        ("a {{other}}", "a {{other}}"),
        ("a {{{x}}}", "a {{x}}"),
        ("a {{inptus}} {{zz.Inputs}}", "a {inptus} {{zz.Inputs}}"),
        ("awk '{print $1}'", "awk '{print $1}'"),
        ("a {1,2} {a..b} {} { echo; } {x", "a {1,2} {a..b} {} { echo; } {x"),
        ("jq '{\"k\": 1}'", "jq '{\"k\": 1}'"),
        ("printf %s%% 100% {x}", "printf %s%% 100% v"),
    ],
)
def test_only_known_names_in_braces_are_replaced(run: str, script: str) -> None:
    assert script_of(run) == script


@pytest.mark.parametrize(
    ("word", "value"),
    [
        ("{x}", "raw/run.1.raw"),
        ("{x.name}", "run.1.raw"),
        ("{x.stem}", "run.1"),
        ("{x.suffix}", ".raw"),
        ("{x.parent}", "raw"),
        ("{x.stem.stem}", "run"),
        ("{x.parent.name}", "raw"),
    ],
)
def test_a_value_has_the_parts_of_a_path(word: str, value: str) -> None:
    assert script_of(word, "raw/run.1.raw") == value


@pytest.mark.parametrize("value", ["/a", "a", ".a", "a.", "/", "a/b.c/d", "a.tar.gz"])
def test_parts_are_those_of_pathlib(value: str) -> None:
    path = PurePosixPath(value)

    script = script_of("[{x.name}][{x.stem}][{x.suffix}][{x.parent}]", value)

    parts = f"[{path.name}][{path.stem}][{path.suffix}][{path.parent}]"
    assert script.replace("''", "") == parts


def test_inputs_stand_for_all_their_names_quoted(lines: Lines, folder: Path) -> None:
    (folder / "raw" / "-x y.raw").touch()
    (line,) = lines(
        "stages: [{lines: [{run: 'cat {inputs} > {outputs}', inputs: {glob: 'raw/*.raw'}, "
        "outputs: [out/o, -p]}]}]"
    )

    assert launched(line) == "cat 'raw/-x y.raw' raw/a.raw raw/b.raw raw/c.raw > out/o ./-p"


def test_a_loop_value_that_is_an_input_stands_for_its_name_in_its_folder(lines: Lines) -> None:
    made = lines(
        """\
stages:
  - lines:
      - for: {raw: {glob: "raw/*.raw"}, other: {list: [raw/b.raw]}}
        run: "reco {raw} {raw.parent}/{raw.name} {other}"
        inputs: ["{raw}"]
        layout: flat
"""
    )

    scripts = [line.packages[0].binaries[0].script for line in made]
    assert scripts[0] == "reco a.raw raw/a.raw raw/b.raw"
    assert scripts[1] == "reco b.raw raw/b.raw b.raw"


def test_a_list_runs_without_a_shell(lines: Lines) -> None:
    (line,) = lines(
        """\
parameters: {text: "it's"}
stages:
  - lines:
      - run: [cat, "{inputs}", "--x={text} $HOME", "{outputs}", "{{text}}"]
        inputs: {glob: "raw/*.raw"}
        outputs: o
"""
    )

    binary = line.packages[0].binaries[0]
    words = ["cat", "raw/a.raw", "raw/b.raw", "raw/c.raw", "--x=it's $HOME", "o", "{text}"]
    assert launched(line) == words
    assert binary.script is None


@pytest.mark.parametrize(
    ("run", "script"),
    [
        ("merge @{inputs.list}", 'merge @"$D0CTL_INPUTS"'),
        ('merge "@{inputs.list}"', 'merge "@${D0CTL_INPUTS}"'),
        ("cat <<EOF\n{inputs.list}\nEOF", "cat <<EOF\n${D0CTL_INPUTS}\nEOF"),
    ],
)
def test_the_list_of_inputs_is_a_file(lines: Lines, run: str, script: str) -> None:
    (line,) = lines(json.dumps({"stages": [{"lines": [{"run": run, "inputs": "raw/a.raw"}]}]}))

    assert line.packages[0].binaries[0].script == script


def test_the_list_of_inputs_needs_a_shell_that_expands(faults: Faults) -> None:
    answer = faults(
        "stages: [{lines: [{run: \"cat '{inputs.list}'\", inputs: raw/a.raw}, "
        '{run: [cat, "{inputs.list}"], inputs: raw/a.raw}, '
        '{run: [cat, "-{inputs}"], inputs: raw/a.raw}]}]'
    )

    assert answer == [
        "1:31: `{inputs.list}` can't be used where the shell does not expand variables",
        "1:81: `{inputs.list}` needs a shell: write `run` as a text",
        "1:132: `{inputs}` must be an element of its own",
    ]


def test_a_near_miss_in_a_script_is_reported_with_its_position(faults: Faults) -> None:
    answer = faults(
        """\
stages:
  - lines:
      - for: {raw: [1]}
        run: |
          set -u
          reco {raw} {rwa}
          reco {Raw} {row} {wholly_different}
"""
    )

    meant = "is not a known name (did you mean `raw`?"
    assert answer == [
        f"6:22: `{{rwa}}` {meant} `{{{{rwa}}}}` gives a literal `{{rwa}}`)",
        f"7:16: `{{Raw}}` {meant} `{{{{Raw}}}}` gives a literal `{{Raw}}`)",
        f"7:22: `{{row}}` {meant} `{{{{row}}}}` gives a literal `{{row}}`)",
    ]


def test_inputs_are_named_no_sooner_than_at_launch() -> None:
    script = f"merge {INPUTS} > a.x.out\nls {INPUTS}"

    named = with_inputs(script, ["a.x", "b c.x"])

    assert named == "merge a.x 'b c.x' > a.x.out\nls a.x 'b c.x'"
    arguments = ("merge", INPUTS, "-o", "x")
    assert arguments_with_inputs(arguments, ["-a", "d"]) == ["merge", "./-a", "d", "-o", "x"]


@pytest.mark.parametrize("text", ["a %s {x} 5%%", "{x}{y} {p}", "{q} {x.stem}", "100 % of {p}"])
@pytest.mark.parametrize("is_list", [False, True])
def test_a_value_is_put_in_alike_whether_or_not_others_of_its_loop_need_quotes(
    text: str, is_list: bool
) -> None:
    plain, others = ["v", "1.5", "a=b,c"], ["-x", "a b", "raw/a'b", "", "100%"]

    alone, together = _runs(text, plain, is_list), _runs(text, [*plain, *others], is_list)

    assert alone == together[: len(plain)]
    assert len(set(together)) == (len(plain) + len(others) if "{x" in text else 1)


def _runs(text: str, values: list[str], is_list: bool) -> list[object]:
    """Return the command for each of the values as `x`, with `y: 7`."""
    run = text.split() if is_list else text
    line = {"for": {"x": values, "y": [7]}, "run": run}
    job = {"parameters": {"p": "100%", "q": "it's"}, "stages": [{"lines": [line]}]}
    binaries = [line.packages[0].binaries[0] for line in read_text(json.dumps(job)).stages[0].lines]
    return [binary.argv or binary.script for binary in binaries]


def test_plain_values_are_put_into_quotes_as_they_are() -> None:
    assert scripts_of("\"{x}\" '{x}' 5%", "v", "w") == ["\"v\" 'v' 5%", "\"w\" 'w' 5%"]
