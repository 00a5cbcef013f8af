"""All faults of a bad job file are reported, and it leaves nothing."""

import re
import sqlite3
from contextlib import closing

import pytest

from tests.support.site import Site


@pytest.fixture
def site(newcomer: Site) -> Site:
    """A user with no home yet."""
    return newcomer


TWENTY = """\
job: 1bad
titel: twenty faults
priority: 500
hold: maybe
stages:
  - name: reco
    require: 130%
    lines:
      - for: {x: [a, "b c"]}
        run: "echo '{x}' {xx} {x.stam} {parameters.energy}"
        input: [a]
        outputs: ["/abs-{x}", "../up-{x}", "{y}.z"]
        memory: 4 GX
        runtime: soon
        cpus: 0
        nodes: [nowhere]
        cpus: 1
  - name: merge
    lines:
      - run: merge {inputs}
        inputs: {from: rico}
        outputs: all.root
      - run: other
        outputs: all.root
"""


def dump(site: Site) -> list[str]:
    """The contents of the database."""
    with closing(sqlite3.connect(f"file:{site.home.root}/d0ctl.db?mode=ro", uri=True)) as database:
        return list(database.iterdump())


def test_twenty_faults_are_twenty_lines_and_not_one_row(site: Site) -> None:
    site.ok("node", "drain", "localhost")
    job = site.write(TWENTY)
    before = dump(site)

    done = {verb: site.d0ctl(verb, job) for verb in ("validate", "submit", "run")}

    for verb, answer in done.items():
        assert (answer.code, answer.out) == (2, ""), verb
        lines = answer.err.splitlines()
        assert len(lines) == 20, answer.err
        assert all(re.match(r"\S+job\.yaml:\d+:\d+: \S", line) for line in lines), answer.err
    assert dump(site) == before


def test_a_bad_job_file_does_not_even_make_a_home(site: Site) -> None:
    assert site.d0ctl("submit", site.write(TWENTY)).code == 2
    assert site.d0ctl("run", site.jobs / "not there.yaml").code in (2, 3)

    assert not site.home.root.exists()
