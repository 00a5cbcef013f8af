"""Names with everything in them that a shell, a terminal or a path might take amiss."""

import json
from pathlib import Path

import pytest

from tests.support.site import Site

NAMES = (
    "plain",
    "two words",
    "it's",
    'say "hi"',
    "a;touch PWNED",
    "$(touch PWNED)",
    "`touch PWNED`",
    "${HOME}",
    "-rf",
    "--help",
    "*",
    "a&b|c>d<e",
    "back\\slash",
    "{a,b} {1..3}",
    "#no comment",
    "~",
    "!history",
    "tab\\tonly in letters",
    "äöü ∑ 日本語",
    "e\u0301 combined",
)

JOB = """\
job: names
stages:
  - name: make
    lines:
      - for: {{n: {names}}}
        run: printf '%s' {{n}} > {{outputs}}
        outputs: "{{n}}.txt"
  - name: lists
    lines:
      - for: {{n: {names}}}
        packages:
          - run: [cp, --, "{{inputs}}", "{{outputs}}"]
            inputs: "{{n}}.txt"
            outputs: "{{n}}.copy"
  - name: merge
    lines:
      - run: |
          cat {{inputs}} > all
          while IFS= read -r file; do cat "./$file"; done < {{inputs.list}} > by-list
        inputs: {{from: lists}}
        outputs: [all, by-list]
"""


def strays(site: Site) -> list[Path]:
    """What a value would have made if a shell had obeyed it."""
    return [path for path in site.folder.rglob("*PWNED*") if path.name == "PWNED"]


@pytest.mark.parametrize("shell", ["this machine", "fish"])
def test_a_loop_value_is_a_word_and_a_file_name_and_nothing_else(site: Site, shell: str) -> None:
    if shell != "this machine":
        site.add("farm", site.start_sshd("farm", shell=shell))
        site.alone()
    done = site.d0ctl("run", site.write(JOB.format(names=json.dumps(NAMES, ensure_ascii=False))))

    assert done.code == 0, done
    results = site.home.root / "results" / "names"
    wanted = sorted("".join(NAMES))
    assert sorted((results / "all").read_text()) == wanted
    assert sorted((results / "by-list").read_text()) == wanted
    assert strays(site) == []
    made = {one["file"] for n in range(1, len(NAMES) + 1) for one in outputs(site, n)}
    assert made == {f"{name}.copy" for name in NAMES}


def outputs(site: Site, line: int) -> list[dict[str, str]]:
    """The outputs of a package of the second stage."""
    found = site.package(f"names/2/{line}/1")["outputs"]
    assert isinstance(found, list)
    return found


def test_input_files_may_have_any_printable_name(site: Site) -> None:
    raw = site.jobs / "raw"
    raw.mkdir()
    names = (*NAMES, "{f}")
    for name in names:
        (raw / f"{name}.raw").write_text(f"{name}\n")
    site.add("farm", site.start_sshd("farm", shell="fish"))
    site.alone()

    site.ok(
        "run",
        site.write(
            """\
job: raws
stages:
  - lines:
      - for: {f: {glob: "raw/*.raw"}}
        run: cat {f} > {f.stem}.out
        inputs: "{f}"
        outputs: "{f.stem}.out"
"""
        ),
    )

    results = site.home.root / "results" / "raws"
    assert {path.name: path.read_text() for path in results.iterdir()} == {
        f"{name}.out": f"{name}\n" for name in names
    }
    assert strays(site) == []


@pytest.mark.parametrize(
    "name",
    ["two\nlines", "bell\x07", "escape\x1b[2J", "../up", "/etc/passwd", "a/../../b", "x" * 300],
)
def test_a_name_that_no_file_may_have_is_refused(newcomer: Site, name: str) -> None:
    text = JOB.format(names=json.dumps(["good", name]))

    done = newcomer.d0ctl("submit", newcomer.write(text))

    assert (done.code, done.out) == (2, "")
    assert "job.yaml:" in done.err
    assert all(line.isprintable() for line in done.err.splitlines())
    assert not newcomer.home.root.exists()


@pytest.mark.parametrize("quoted", ["'{n}'", '"{n}"', "`echo {n}`", "$(echo '{n}')"])
def test_an_unsafe_value_within_quotes_is_refused(site: Site, quoted: str) -> None:
    text = json.dumps(
        {"stages": [{"lines": [{"for": {"n": ["a'; touch PWNED; '"]}, "run": f"echo {quoted}"}]}]}
    )

    done = site.d0ctl("run", site.write(text))

    assert (done.code, done.out) == (2, "")
    assert strays(site) == []
