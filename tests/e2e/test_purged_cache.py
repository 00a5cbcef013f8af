"""A cache that a person purges by hand in the middle of a job, on a real node."""

import shutil
from pathlib import Path

from tests.support.site import Site

JOB = """\
job: purged
stages:
  - name: make
    lines:
      - {{for: {{n: [1, 2, 3]}}, run: "echo part {{n}} > part{{n}}", outputs: ["part{{n}}"]}}
  - name: long
    lines:
      - {{run: "echo run >> {record}; until [ -e {go} ]; do sleep 0.05; done"}}
  - name: merge
    lines:
      - {{run: "cat {{inputs}} > all", inputs: {{from: make}}, outputs: all}}
"""


def test_files_that_were_purged_by_hand_are_made_again_and_others_go_on(site: Site) -> None:
    record, go = site.folder / "record", site.folder / "go"
    site.add("farm", cpus=2)
    site.alone()
    site.submit(JOB.format(record=record, go=go))
    site.ok("hold", "purged/3/1/1")
    site.start_daemon()
    site.wait(
        lambda: site.counts("purged") == {"done": 3, "running": 1, "held": 1},
        "all parts are made, and the long package is running",
    )

    copies = [Path(path) for (path,) in site.ask("select path from location order by file_id")]
    for folder in {copy.parent for copy in copies}:
        shutil.rmtree(folder)
    site.ok("release", "purged/3/1/1")
    site.wait(lambda: site.counts("purged").get("done") == 4, "the merge has succeeded")

    assert len(copies) == 3
    assert site.result("purged/all") == "part 1\npart 2\npart 3\n"
    assert site.package("purged/2/1/1")["phase"] == "running"
    for number in (1, 2, 3):
        attempts = site.package(f"purged/1/{number}/1")["attempts"]
        assert [one["outcome"] for one in attempts] == ["successful"] * 2
    cause = "remake: an output is needed again, but was removed or lost"
    assert cause in site.ok("history", "purged/1/1/1")
    assert f"- it ran again after it had succeeded: {cause}\n" in site.ok("why", "purged/1/1/1")
    go.touch()
    assert site.ok("wait", "purged") == "`purged` is successful\n"
    assert record.read_text() == "run\n"
