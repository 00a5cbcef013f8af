"""Importers: `d0ctl import --from NAME`."""

import pytest

from tests.plugins.conftest import Add
from tests.support.site import Site


def test_an_importer_makes_a_job_file_that_runs(site: Site) -> None:
    path = site.write("echo one\n\necho two\n", "work.txt")

    site.ok("import", "--from", "commands", path, "-o", "work.yaml")

    assert "`work` is successful: 2 packages" in site.ok("run", "work.yaml")


def test_what_an_importer_leaves_out_is_named(site: Site) -> None:
    done = site.d0ctl("import", "--from", "commands", site.write("true\nsleep 1 &\n", "work.txt"))

    assert (done.code, done.err) == (1, "left out: work.txt:2: a command in the background\n")


def test_an_importer_that_is_not_installed_is_bad_usage(site: Site) -> None:
    done = site.d0ctl("import", "--from", "command", site.write("true\n", "work.txt"))

    said = "`snakemake`, `commands` (did you mean `commands`?)"
    assert (done.code, said in done.err) == (2, True), done


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("1 / 0", "can't be imported: ZeroDivisionError"),
        ("def it(path): return path.nothing", "failed: AttributeError"),
        ("def it(path): return 'job: a'", "must return the text of a job file, and a list"),
        ("def it(path): return 'job: a', 5", "failed to make a list of what is left out"),
        ("def it(path): return 'job: a', [5]", "must return what is left out as a list of texts"),
        ("def it(path): return 'job: a', 'b'", "must return what is left out as a list of texts"),
    ],
)
def test_an_importer_that_fails_is_one_line_that_names_it(
    bare_site: Site, add: Add, code: str, said: str
) -> None:
    add("importer", "bad", code)

    done = bare_site.d0ctl("import", "--from", "bad", bare_site.write("true\n", "work.txt"))

    assert done.code == 1, done
    assert done.err.startswith("d0ctl: plug-in `bad` of package `broken` (d0ctl.importers: bad = ")
    assert said in done.err
    assert len(done.err.splitlines()) == 1
