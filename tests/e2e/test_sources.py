"""Inputs from stages of other jobs, from the cache of a node, and from catalogues."""

import sqlite3
from contextlib import closing

from tests.support.site import Site

MC = """\
job: mc
stages:
  - name: gen
    lines:
      - for: {n: {range: [1, 3]}}
        run: "echo {n} > out/{n}.txt"
        outputs: {file: "out/{n}.txt", disposition: retain-temp}
  - name: split
    lines:
      - run: touch p-1 p-2 q-1
        outputs:
          - {file: "p-*", late: yes, disposition: retain-temp}
          - {file: q-1, disposition: retain-temp}
"""

MERGE = """\
job: merge
stages:
  - name: merge
    lines:
      - {run: "cat {inputs} > all", inputs: {from: mc/1, match: "out/*"}, outputs: all}
      - {run: "ls {inputs} > late", inputs: {from: mc/split, match: "p-*"}, outputs: late}
      - for: {part: {from: mc/gen, by: 2}}
        run: "cat {part} > part{part.index}"
        inputs: "{part}"
        outputs: part{part.index}
"""

CACHE = """\
job: cache
stages:
  - name: merge
    lines:
      - for: {part: {cache: localhost, match: "mc:out/*", by: 2}}
        run: "cat {part} > merged{part.index}"
        inputs: [{file: "{part}", disposition: deletable}]
        outputs: merged{part.index}
      - {run: "ls {inputs} > rest", inputs: {cache: localhost, unread: yes}, outputs: rest}
      - run: "ls {inputs} > good"
        inputs: {catalogue: sqlite runs.db select file from runs where good}
        outputs: good
      - for: {row: {catalogue: csv runs.csv energy > 10}}
        run: "cat {row.file} > {row.energy}.txt"
        inputs: "{row.file}"
        outputs: "{row.energy}.txt"
"""


def test_catalogues_stages_of_other_jobs_and_caches_are_sources_of_inputs(site: Site) -> None:
    site.write("file,energy\na,7\nb,13\nc,100\n", "runs.csv")
    for name in "abc":
        site.write(f"{name}\n", name)
    with closing(sqlite3.connect(site.jobs / "runs.db")) as runs:
        runs.execute("create table runs (file, good)")
        runs.execute("insert into runs values ('a', 1), ('b', 0), ('c', 1)")
        runs.commit()

    site.submit(MC)
    site.submit(MERGE)
    site.ok("run", "merge")
    site.ok("run", "mc")
    site.submit(CACHE)
    site.ok("run", "cache")

    found = {
        path.name: path.read_text().split()
        for job in ("merge", "cache")
        for path in (site.home.root / "results" / job).iterdir()
    }
    assert found == {
        "all": ["1", "2", "3"], "late": ["p-1", "p-2"], "part1": ["1", "2"], "part2": ["3"],
        "merged1": ["1", "2"], "merged2": ["3"], "rest": ["q-1"], "good": ["a", "c"],
        "13.txt": ["b"], "100.txt": ["c"],
    }  # fmt: skip
    assert site.ok("file", "list", "mc:out/*").count("purged") == 3
