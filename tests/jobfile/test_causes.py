"""Mistakes in YAML, and the cause that is named for each."""

import pytest

from .conftest import Faults

FILE = """job: toy
stages:
  - stage: gen
    lines:
      - loop: {s: 1..4}
        script: gen.sh {s}
        outputs: gen-{s}.txt
        memory: 1 GB
  - stage: sum
    inputs: [a.txt, b.txt]
"""

INDENTED = "is it indented like the lines above that it belongs to?"
LACKS = "does it lack `: ` or `- `, each with its space, or is it indented too little?"
ABOVE = "does the line above lack `: `, with its space, or is this one indented too much?"
PARTLY_QUOTED = 'does a value have quotes around a part of it only, or is a " missing above?'
ESCAPED = r"in double quotes, write `\\` for `\`; or use single quotes"


def quotes(begin: str) -> str:
    """Say that a text that begins so needs quotes."""
    return f"a text that begins with `{begin}` needs quotes"


MISTAKES = [
    ("        outputs: gen-", "       outputs: gen-", 7, INDENTED),
    ("        outputs: gen-{s}.txt", "       outputs: [gen-{s}.txt]", 7, INDENTED),
    ("        outputs: gen-", "         outputs: gen-", 7, INDENTED),
    ("    lines:", "   lines:", 4, INDENTED),
    ("  - stage: sum", "   - stage: sum", 9, INDENTED),
    ("  - stage: sum", "    - stage: sum", 9, INDENTED),
    ("job: toy", " job: toy", 2, INDENTED),
    ("  - stage: gen", "  \u2013 stage: gen", 4,
     "line 3 begins with \u2013: type a plain -"),
    ("    lines:", "\u00a0\u00a0\u00a0\u00a0lines:", 9,
     "line 4 begins with a no-break space: type a plain space"),
    ("        outputs: gen-", "\toutputs: gen-", 7, "indent with spaces, not with tabs"),
    ("memory: 1 GB", "memory 1 GB", 8, LACKS),
    ("    lines:", "    lines", 4, LACKS),
    ("script: gen.sh", "script:gen.sh", 6, LACKS),
    ("job: toy", "job:toy", 2, ABOVE),
    ("job: toy", "job toy", 2, ABOVE),
    ("- loop: {s: 1..4}", "- run:gen.sh 1", 6, ABOVE),
    ("- stage: gen", "- stage gen", 4, ABOVE),
    ("outputs: gen-{s}.txt", "outputs: gen-{s}\n          .txt\n         cpus: 2", 9, ABOVE),
    ("- stage: sum", "-stage: sum", 9, "a `-` needs a space after it"),
    ("gen-{s}.txt", '"gen-{s}.txt', 7, "the quote that begins here is never closed"),
    ("gen-{s}.txt", "'gen-{s}.txt", 7, "the quote that begins here is never closed"),
    ("gen-{s}.txt", '"gen"-{s}.txt', 7, PARTLY_QUOTED),
    ("gen-{s}.txt", '"gen-{s}.txt\n        title: "x"', 8, PARTLY_QUOTED),
    ("gen-{s}.txt", r'"gen\d.txt"', 7, ESCAPED),
    ("b.txt]", "b.txt\n    cpus: 2", 11, "does the `[` in line 10 lack a comma or its `]`?"),
    ("1..4}", "1..4", 6, "does the `{` in line 5 lack a comma or its `}`?"),
    ("b.txt]", "b.txt]]", 10, "this `]` closes nothing"),
    ("[a.txt, b.txt]", "[a.txt,, b.txt]", 10, "is there a comma too many?"),
    ("[a.txt, b.txt]", "[a-{s}.txt, b.txt]", 10, "a text with `{` inside `[]` needs quotes"),
    ("[a.txt, b.txt]", "[{s}.txt, b.txt]", 10, quotes("{")),
    ("gen-{s}.txt", "{s}.txt", 7, quotes("{")),
    ("gen-{s}.txt", "{s:03}.txt", 7, quotes("{")),
    ("gen-{s}.txt", "[ab]*.txt", 7, quotes("[")),
    ("gen-{s}.txt", "*.txt", 7, quotes("*")),
    ("gen-{s}.txt", "&& x", 7, quotes("&")),
    ("gen-{s}.txt", "%x", 7, quotes("%")),
    ("gen-{s}.txt", "@x", 7, quotes("@")),
    ("gen-{s}.txt", "| sort", 7, quotes("|")),
    ("gen-{s}.txt", "- x", 7, quotes("- ")),
    ("gen-{s}.txt", "[ -f x ] && echo y", 7, quotes("[")),
    ("gen-{s}.txt", "[[ {s} = 5 ]] || echo y", 7, quotes("[")),
    ("job: toy", "job: toy, title: x", 1, "a text with `: ` in it needs quotes"),
    ("loop: {s: 1..4}", "loop: s: 1..4", 5,
     "a text with `: ` in it needs quotes, a mapping in one line braces: `loop: {s: ...}`"),
    ("gen.sh {s}", "echo a: {s}", 6, "a text with `: ` in it needs quotes"),
]  # fmt: skip


@pytest.mark.parametrize(("right", "wrong", "line", "cause"), MISTAKES)
def test_a_mistake_in_yaml_is_reported_with_its_cause(
    faults: Faults, right: str, wrong: str, line: int, cause: str
) -> None:
    (fault,) = faults(FILE.replace(right, wrong))

    assert "this is not YAML: " in fault
    assert fault.startswith(f"{line}:")
    assert fault.endswith(f" ({cause})")
