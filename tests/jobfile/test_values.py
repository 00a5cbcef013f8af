"""Values in scripts: they reach the program as they are, and none is executed."""

import json
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from d0ctl.errors import BadJobFile
from d0ctl.jobfile.reader import read_text
from tests.jobfile.test_run import script_of, scripts_of
from tests.support.waiting import PATIENCE_S

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
def test_bash_reads_a_plain_value_unchanged(tmp_path: Path, run: str, value: str) -> None:
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


def test_values_that_sh_and_bash_read_differently_are_quoted() -> None:
    with pytest.raises(BadJobFile, match="is inside quotes"):
        scripts_of("echo $'it\\'s' {x}", "a b", shell="sh")

    assert scripts_of("echo {x}", "a b", shell="sh") == ["echo 'a b'"]


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
            command, capture_output=True, cwd=folder, timeout=PATIENCE_S, stdin=subprocess.DEVNULL
        )

        assert not (Path(folder) / "oops").exists()
