"""The parts of a script are those that real shells see."""

import shlex
import subprocess

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from d0ctl.jobfile.language.shell import Context, contexts
from tests.support.waiting import PATIENCE_S

MARK = "{v}"
HOSTILE = "a\necho OUT\n'; echo OUT; \"\necho OUT\n$(echo OUT >&2)`echo OUT >&2`"
"""A value that runs `echo OUT` wherever it is not kept together by the quotes around it."""

pieces = st.sampled_from([
    "'", '"', "\\", "$", "`", "${x:-", "${x#", "}", "$(", "$((", "((", ")", "(", " ", "\n", "\t",
    "#", " # ", "<<EOF\n", "<<'EOF'\n", "<<-EOF\n", "\nEOF\n", "\n\tEOF\n", "\n EOF\n", "EOF",
    "<<<", "echo ", "printf %s ", ": ", "x=1", ";", "|", "&&", "$'", "1+2", "[ a ]", "case x in x)",
    ";;", "esac", "{ ", "; }", "if :; then ", "; fi", MARK, MARK,
])  # fmt: skip


def marks_of(text: str) -> list[tuple[int, int]]:
    """Where the marks are; one behind `$` is the shell's own."""
    starts = [at for at in range(len(text)) if text.startswith(MARK, at)]
    return [(at, at + len(MARK)) for at in starts if text[at - 1 : at] != "$"]


def run(shell: str, script: str) -> str:
    """All that a shell prints of a script; nothing that is not built in is found."""
    done = subprocess.run(
        [f"/bin/{shell}", "-c", script], env={"PATH": "/nowhere"}, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, errors="replace", timeout=PATIENCE_S,
    )  # fmt: skip
    return done.stdout + done.stderr


def filled(text: str, shell: str) -> str | None:
    """The script with a hostile value, quoted, at each mark; None if a mark is not bare."""
    marks = marks_of(text)
    found = contexts(text, marks, shell)
    assert len(found) == len(marks)
    if not marks or any(context is not Context.BARE for context in found):
        return None
    for begin, end in reversed(marks):
        text = text[:begin] + shlex.quote(HOSTILE) + text[end:]
    return text


@pytest.mark.parametrize("shell", ["bash", "sh"])
@given(text=st.lists(pieces, min_size=1, max_size=14).map("".join))
@example(text="\"${x:-'" + MARK + "'}\"")
@example(text=": <<EOF\n EOF\n" + MARK + "\nEOF\n")
@example(text=": <<-EOF\n\tEOF\n" + MARK)
@example(text="echo \"${x:-$(echo '" + MARK + "')}\"")
@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
def test_an_unquoted_value_never_becomes_a_command(shell: str, text: str) -> None:
    if (script := filled(text, shell)) is None:
        return

    printed = run(shell, script)

    assert "OUT" not in [line.strip() for line in printed.splitlines()], script


@pytest.mark.parametrize("shell", ["bash", "sh"])
@pytest.mark.parametrize(
    ("text", "context"),
    [
        ("echo {v}", Context.BARE),
        ("echo \"{v}\" '{v}'", None),
        ("\"${x:-'{v}'}\"", Context.EXPANDING),
        (": <<EOF\n EOF\n{v}\nEOF\n", Context.EXPANDING),
        (": <<'EOF'\n{v}\nEOF\n", Context.LITERAL),
        (": <<-EOF\n\tEOF\necho {v}", Context.BARE),
        ("echo a # {v}", Context.LITERAL),
        ("echo $(( {v} ))", Context.EXPANDING),
        ("echo $(echo {v})", Context.BARE),
    ],
)
def test_the_place_of_a_mark_is_reported(shell: str, text: str, context: Context | None) -> None:
    found = contexts(text, marks_of(text), shell)

    expected = [context] if context else [Context.EXPANDING, Context.LITERAL]
    assert found == expected
