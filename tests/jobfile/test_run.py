"""What a binary executes: which placeholders are replaced, and that no value can break out."""

import json
import subprocess
import tempfile
from pathlib import Path, PurePosixPath

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from d0ctl.errors import BadJobFile
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
    """Return what runs for one value."""
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


BARE = [
    "printf '%s\\n' {x}",
    "printf '%s\\n' a{x}b | sed 's/^a//; s/b$//'",
    "# it's a comment\nprintf '%s\\n' {x}",
    "cat <<EOF >/dev/null\nit's {{x}}\nEOF\nprintf '%s\\n' {x}",
    "echo \"$(echo \"it is\" '(')\" >/dev/null; printf '%s\\n' {x}",
    "y=${z:-\"it's\"}; printf '%s\\n' {x}",
    "printf '%s\\n' $'it\\'s' >/dev/null; printf '%s\\n' {x}",
    "y=$((1 << 2)); printf '%s\\n' {x}",
    "y=(a {x}); printf '%s\\n' \"${y[1]}\"",
    "y={x}; printf '%s\\n' \"$y\"",
    "f() { printf '%s\\n' \"$1\"; }; f {x}",
    "printf '%s\\n' \"$(printf '%s\\n' ok)\" >/dev/null; printf '%s\\n' {x}",
    "case a in a) printf '%s\\n' {x};; esac",
    "cat <<< {x}",
]


@pytest.mark.parametrize("run", BARE)
@pytest.mark.parametrize(
    "value", ["a b", "'", '"', "$(touch oops)", "`id`", "a\nb", ";", "\\", "é"]
)
def test_bash_sees_a_bare_value_as_it_is(tmp_path: Path, run: str, value: str) -> None:
    done = subprocess.run(
        ["bash", "-eo", "pipefail", "-c", script_of(run, value)],
        capture_output=True,
        check=True,
        cwd=tmp_path,
    )

    expected = value.replace("\n", "b\n").replace("b\n", "\n") if "sed" in run else value
    assert done.stdout.decode() == f"{expected}\n"
    assert not list(tmp_path.iterdir())


@given(st.lists(st.text(st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"])), min_size=1))
@example(["a\tb\nc", "", "-n", "~", "!x", "#", "*", "{a,b}", "'\"'", "\\'"])
@settings(max_examples=40, deadline=None)
def test_any_value_reaches_a_program_unchanged(values: list[str]) -> None:
    spec = json.dumps(
        {"stages": [{"lines": [{"for": {"x": {"list": values}}, "run": "printf '%s\\0' {x}"}]}]}
    )
    lines = read_text(spec).stages[0].lines
    script = "\n".join(line.packages[0].binaries[0].script or "" for line in lines)

    done = subprocess.run(["bash", "-c", script], capture_output=True, check=True)

    assert done.stdout.decode().split("\0")[:-1] == values


GUARDED = [
    "echo '{x}'",
    'echo "{x}"',
    'echo "$(echo "{x}")"',
    'echo "$(echo {x})"',
    "echo `echo {x}`",
    "echo ${y:-{x}}",
    "echo $(( {x} + 1 ))",
    "cat <<EOF\n{x}\nEOF",
    "cat <<'EOF'\n{x}\nEOF",
    "cat <<-EOF\n\t{x}\n\tEOF",
    "cat <<{x}\nEOF",
    "cat <<A <<B\nA\n{x}\nB",
    "echo $'{x}'",
    'echo $"{x}"',
    "echo \\{x}",
    "echo a # {x}",
    "echo 'never closed {x}",
    'echo "a" "b{x}"',
    'y=$(case a in a) echo "{x}";; esac)',
    "python3 -c 'print(\"{x}\")'",
]


@pytest.mark.parametrize("run", GUARDED)
def test_a_value_with_special_characters_is_refused_inside_quotes(run: str) -> None:
    with pytest.raises(BadJobFile, match="is inside quotes or a here-document"):
        script_of(run, "a b")

    assert "run-7.raw" in script_of(run, "run-7.raw")


def test_what_sh_reads_otherwise_than_bash_is_in_doubt_quoted() -> None:
    with pytest.raises(BadJobFile, match="is inside quotes"):
        scripts_of("echo $'it\\'s' {x}", "a b", shell="sh")

    assert scripts_of("echo {x}", "a b", shell="sh") == ["echo 'a b'"]


def test_inputs_stand_for_all_base_names_quoted(lines: Lines, folder: Path) -> None:
    (folder / "raw" / "-x y.raw").touch()
    (line,) = lines(
        "stages: [{lines: [{run: 'cat {inputs} > {outputs}', inputs: {glob: 'raw/*.raw'}, "
        "outputs: [out/o, -p]}]}]"
    )

    assert launched(line) == "cat './-x y.raw' a.raw b.raw c.raw > out/o ./-p"


def test_a_loop_value_that_is_an_input_stands_for_its_base_name(lines: Lines) -> None:
    made = lines(
        """\
stages:
  - lines:
      - for: {raw: {glob: "raw/*.raw"}, other: {list: [raw/b.raw]}}
        run: "reco {raw} {raw.parent}/{raw.name} {other}"
        inputs: ["{raw}"]
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
    words = ["cat", "a.raw", "b.raw", "c.raw", "--x=it's $HOME", "o", "{text}"]
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
def test_the_list_of_inputs_is_a_file(run: str, script: str) -> None:
    assert script_of(run) == script


def test_the_list_of_inputs_needs_a_shell_that_expands(faults: Faults) -> None:
    answer = faults(
        'stages: [{lines: [{run: "cat \'{inputs.list}\'"}, {run: [cat, "{inputs.list}"]}, '
        '{run: [cat, "-{inputs}"]}]}]'
    )

    assert answer == [
        "1:31: `{inputs.list}` can't be used where the shell does not expand variables",
        "1:62: `{inputs.list}` needs a shell: write `run` as a text",
        "1:94: `{inputs}` must be an element of its own",
    ]


def test_a_near_miss_in_a_script_is_told_where_it_stands(faults: Faults) -> None:
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


PIECES = ["'", '"', "`", "$(", "$((", "))", ")", "(", "${y:-", "}", "<<E ", "<<'E' ", "\nE\n", "\n"]
PIECES += [
    " ",
    "#",
    "\\",
    "{x}",
    " {x} ",
    "echo ",
    "$'",
    '$"',
    "<<<",
    "<<-E",
    "case a in a) ",
    ";; esac",
]
PIECES += [
    ";",
    "&&",
    "|",
    "it's",
    "$",
    "$#",
    "((",
    "[[ ",
    " ]]",
    "y=",
    "<(",
    "{ ",
    "; }",
    "\t",
    "~",
    "=",
]

NASTY = ["'; touch oops; '", '"; touch oops; "', "$(touch oops)", "`touch oops`", "\ntouch oops\n"]
NASTY += [") ; touch oops; (", "}; touch oops; {", "E\ntouch oops\n", "; touch oops #", "\\"]


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join), st.sampled_from(NASTY))
@example('echo "${y:-\'}"{x}"', NASTY[0])
@settings(max_examples=150, deadline=None)
def test_no_value_is_ever_executed(run: str, value: str) -> None:
    try:
        script = script_of("echo {x}; " + run, value)
    except BadJobFile:
        return

    with tempfile.TemporaryDirectory() as folder:
        command = ["bash", "-c", script]
        subprocess.run(
            command, capture_output=True, cwd=folder, timeout=20, stdin=subprocess.DEVNULL
        )

        assert not (Path(folder) / "oops").exists()
