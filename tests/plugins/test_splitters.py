"""Splitters: `by: NAME` of a loop."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.plugins.conftest import Add
from tests.support.site import Site

JOB = """\
job: split
stages:
  - name: reco
    lines:
      - for: {part: {glob: "run*.raw", by: BY}}
        run: cat {part} > reco-{part.index}.txt
        inputs: "{part}"
        outputs: "reco-{part.index}.txt"
"""


@pytest.fixture
def raw(bare_site: Site) -> Iterator[Path]:
    """Files of two runs beside the job file."""
    for name in ("run7-1", "run7-2", "run7-3", "run8-1"):
        (bare_site.jobs / f"{name}.raw").write_text(f"{name}\n")
    yield bare_site.jobs


@pytest.mark.usefixtures("raw")
def test_a_splitter_makes_the_groups_of_a_loop(site: Site) -> None:
    site.ok("run", site.write(JOB.replace("BY", "run 2")))

    results = sorted((site.home.root / "results" / "split").iterdir())
    texts = [path.read_text().split() for path in results]
    assert texts == [["run7-1", "run7-2"], ["run7-3"], ["run8-1"]]


@pytest.mark.usefixtures("raw")
def test_a_misspelt_splitter_is_a_fault_that_suggests_it(site: Site) -> None:
    done = site.d0ctl("validate", site.write(JOB.replace("BY", "runs")))

    assert (done.code, "not `runs` (did you mean `run`?)" in done.err) == (2, True), done


@pytest.mark.usefixtures("raw")
def test_a_splitter_that_is_not_installed_is_a_fault(bare_site: Site) -> None:
    done = bare_site.d0ctl("validate", bare_site.write(JOB.replace("BY", "run 2")))

    assert (done.code, "not `run 2`" in done.err) == (2, True), done


FAULTS = [
    ("import nothing_of_this_name", "can't be imported: ModuleNotFoundError: No module named"),
    ("it = 5", "must be a function, not int"),
    ("raise SystemExit('no licence')", "can't be imported: SystemExit: no licence"),
    ("def it(members, argument): return 1 / 0", "failed: ZeroDivisionError"),
    ("def it(members, argument): return 5", "failed to make groups: TypeError"),
    ("def it(members, argument):\n  yield members\n  1 / 0", "failed to make groups: ZeroDiv"),
    ("def it(members, argument): return 'abc'", "must return lists of members"),
    ("def it(members, argument): return [[]]", "must return lists of members"),
    ("def it(members, argument): return [['x']]", "has `x` in a group, but it is not a member"),
    ("def it(members, argument): return [members, members[:1]]", "has `run7-1.raw` in groups tw"),
    ("def it(members, argument): return []", "made no group"),
]


@pytest.mark.usefixtures("raw")
@pytest.mark.parametrize(("code", "said"), FAULTS)
def test_a_splitter_that_fails_is_one_fault_that_names_it(
    bare_site: Site, add: Add, code: str, said: str
) -> None:
    add("splitter", "bad", code)

    done = bare_site.d0ctl("validate", bare_site.write(JOB.replace("BY", "bad")))

    assert (done.code, said in done.err) == (2, True), done
    faults = [line for line in done.err.splitlines() if "plug-in `bad`" in line]
    assert len(faults) == 1
    assert "Traceback" not in done.err


@pytest.mark.usefixtures("raw")
def test_members_that_a_splitter_leaves_out_are_counted(bare_site: Site, add: Add) -> None:
    add("splitter", "first", "def it(members, argument): return [[members[0].name]]")

    done = bare_site.d0ctl("validate", bare_site.write(JOB.replace("BY", "first")))

    assert done.code == 0
    assert "3 of 4 left out by plug-in `first`: `run7-2.raw`" in done.err


@pytest.mark.usefixtures("raw")
def test_a_splitter_of_two_packages_is_a_fault(bare_site: Site, add: Add) -> None:
    add("splitter", "twin", "def it(members, argument): return [members]", "one")
    add("splitter", "twin", "def it(members, argument): return [members]", "two")

    done = bare_site.d0ctl("validate", bare_site.write(JOB.replace("BY", "twin")))

    assert "is in package `two` as well: uninstall one of them" in done.err
