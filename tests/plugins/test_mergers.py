"""Mergers: commands of plug-ins for `merge: yes`."""

import pytest

from tests.plugins.conftest import Add
from tests.support.site import Site

JOB = """\
job: merged
stages:
  - name: fill
    lines:
      - for: {n: {range: [1, 3]}}
        run: printf 'a 1\\nb {n}\\n' > h{n}.hist
        outputs: "h{n}.hist"
  - name: merge
    lines:
      - merge: yes
        inputs: {from: fill}
        outputs: all.hist
"""


def test_files_are_merged_by_the_command_of_a_plugin(site: Site) -> None:
    site.ok("run", site.write(JOB))

    text = (site.home.root / "results" / "merged" / "all.hist").read_text()
    assert sorted(text.splitlines()) == ["a 3", "b 6"]


def test_the_command_of_the_site_counts_more(site: Site) -> None:
    (site.jobs / "site.yaml").write_text("merge: {.hist: 'cat {inputs} >{output}'}\n")
    site.ok("site", "apply", "site.yaml", "--yes")

    site.ok("run", site.write(JOB))

    text = (site.home.root / "results" / "merged" / "all.hist").read_text()
    assert len(text.splitlines()) == 6


def test_without_a_plugin_the_type_can_not_be_merged(bare_site: Site) -> None:
    done = bare_site.d0ctl("validate", bare_site.write(JOB))

    assert (done.code, "is not of a type that can be merged" in done.err) == (2, True), done


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("it = 5", "must be a command as text, not int"),
        ("it = 'cat {inputs}'", "has a fault: `.hist` needs `{output}`"),
        ("it = 'cat \"{inputs}\" >{output}'", "has a fault: `{inputs}` is inside quotes"),
        ("1 / 0", "can't be imported: ZeroDivisionError: division by zero"),
    ],
)
def test_a_merger_that_fails_is_one_fault_that_names_it(
    bare_site: Site, add: Add, code: str, said: str
) -> None:
    add("merger", ".hist", code)

    done = bare_site.d0ctl("validate", bare_site.write(JOB))

    assert (done.code, said in done.err) == (2, True), done
    assert "plug-in `.hist` of package `broken`" in done.err
    assert bare_site.d0ctl("plugins").code == 1
