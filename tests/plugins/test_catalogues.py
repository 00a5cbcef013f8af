"""Catalogues: `{catalogue: NAME QUERY}` of a loop."""

import pytest

from tests.plugins.conftest import Add
from tests.support.site import Site

JOB = """\
job: chosen
stages:
  - lines:
      - for: {n: {catalogue: list 7 LIST}}
        run: echo {n.file} {n.events} > {n.file}.txt
        outputs: "{n.file}.txt"
  - lines:
      - for: {part: {catalogue: list 7 LIST, by: 100 events}}
        run: echo {part} > part-{part.index}.txt
        inputs: "{part}"
        outputs: "part-{part.index}.txt"
"""


def job(site: Site) -> str:
    """A job with the files of a run, each alone and in groups."""
    for name in "abcd":
        (site.jobs / name).write_text(name)
    path = site.folder / "files"
    path.write_text("7 60 a\n8 60 b\n7 40 c\n7 60 d\n")
    return JOB.replace("LIST", str(path))


def test_rows_of_a_catalogue_are_values_and_make_groups(site: Site) -> None:
    site.ok("run", site.write(job(site)))

    results = (site.home.root / "results" / "chosen").iterdir()
    found = {path.name: path.read_text().strip() for path in results}
    assert found == {
        "a.txt": "a 60", "c.txt": "c 40", "d.txt": "d 60",
        "part-1.txt": "a c", "part-2.txt": "d",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("list 9 LIST", "catalogue `list` has nothing for `9 "),
        ("lists 7 LIST", "no installed package has a catalogue `lists` (did you mean `list`?)"),
        ("list 7", "failed to make rows: ValueError: not enough values to unpack"),
    ],
)
def test_a_query_without_rows_is_a_fault(site: Site, words: str, said: str) -> None:
    text = job(site).replace("list 7 " + str(site.folder / "files"), words)

    done = site.d0ctl("validate", site.write(text.replace("LIST", str(site.folder / "files"))))

    assert (done.code, said in done.err) == (2, True), done


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("1 / 0", "can't be imported: ZeroDivisionError"),
        ("def it(query): return 5", "failed to make rows: TypeError"),
        ("def it(query): return ['a']", "must return mappings of columns to values"),
        ("def it(query): return [{'a': 1}, {'b': 1}]", "has other columns in row 2 than in"),
        ("def it(query): return [{}]", "has other columns in row 1 than in the first"),
    ],
)
def test_a_catalogue_that_fails_is_a_fault(bare_site: Site, add: Add, code: str, said: str) -> None:
    add("catalogue", "bad", code)

    done = bare_site.d0ctl("validate", bare_site.write(JOB.replace("list 7 LIST", "bad x")))

    assert (done.code, said in done.err) == (2, True), done
    assert "plug-in `bad` of package `broken`" in done.err
