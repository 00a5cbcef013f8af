"""Jobs that read files of another job, whose job file no longer has lines of it."""

import json
from pathlib import Path

from tests.cli.conftest import Type
from tests.support.site import Site

PROD = """\
job: made
stages:
  - {name: sim, lines: [{for: {n: [1, 2, 3]}, run: "true", outputs: "s-{n}"}]}
"""
GROUPS = """\
job: read
stages:
  - name: use
    lines:
      - for: {part: {from: made/sim, by: 2}}
        run: cat {part} > use-{part.index}
        inputs: "{part}"
        outputs: "use-{part.index}"
      - {run: "cat {inputs} > third", inputs: "made:s-3", outputs: third}
"""


def test_jobs_leave_out_the_files_of_lines_that_the_job_file_of_another_no_longer_has(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    made, reader = tmp_path / "made.yaml", tmp_path / "read.yaml"
    made.write_text(PROD)
    d0ctl("submit", str(made))
    for line in (1, 2, 3):
        site.finish(f"made/1/{line}/1")
    reader.write_text(GROUPS)
    assert d0ctl("submit", str(reader)).exit_code == 0
    site.finish("read/1/1/1")
    made.write_text(PROD.replace("[1, 2, 3]", "[2, 3]"))
    d0ctl("update", "made")

    before = d0ctl("update", "read", "--dry-run").stdout
    reader.write_text(GROUPS.replace("job: read", "job: new"))
    new = d0ctl("submit", str(reader))
    made.write_text(PROD)
    d0ctl("update", "made")
    reader.write_text(GROUPS)
    restored = d0ctl("update", "read", "--dry-run").stdout

    # s-2 and s-3 are a group; the file that is named is read in any case
    assert "1 package out of date, run with another recipe or other inputs: 1 successful" in before
    assert "1 package removed, no longer in the job file" in before
    assert new.exit_code == 0
    inputs = [[file["file"] for file in json.loads(d0ctl("status", f"new/1/{line}/1", "--json")
               .stdout)["inputs"]] for line in (1, 2)]  # fmt: skip
    assert inputs == [["s-2", "s-3"], ["s-3"]]
    same = "would update `read`: it reads the same files as before\n"
    assert restored == f"{same}unchanged: 3 packages\n"
