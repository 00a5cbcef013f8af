"""restore-line --again: lines that packages have succeeded without."""

import re
import time
from pathlib import Path

from d0ctl.store.checks.check import faults
from d0ctl.store.files import copies
from d0ctl.store.views import browse, left_out
from tests.cli.conftest import Type
from tests.support.building import document
from tests.support.rows import read
from tests.support.site import Site

MERGED = """
job: prod
stages:
  - {name: sim, lines: [{for: {n: [1, 2]}, run: "true", outputs: "sim-{n}"}]}
  - {name: merge, lines: [{run: "true", inputs: {from: sim}, outputs: all}]}
  - {name: plot, lines: [{run: "true", inputs: [all], outputs: plot}]}
"""


def test_a_line_that_a_merge_has_succeeded_without_comes_back_and_is_merged_after_all(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    (tmp_path / "prod.yaml").write_text(MERGED)
    d0ctl("submit", str(tmp_path / "prod.yaml"))
    site.finish("prod/1/1/1")
    site.fail("prod/1/2/1")
    d0ctl("kill-line", "prod/1/2", "--drop-outputs")
    site.finish("prod/2/1/1")
    site.finish("prod/3/1/1")
    (first, *_) = read(site.store, "location", "file_id", "cluster_id", by="file_id")
    with site.store.writing():
        copies.lose(site.store, [first], now=time.time())

    answers = [document(d0ctl("why", path, "--json").stdout)
               for path in ("prod/1/2/1", "prod/1/2", "prod:sim-2")]  # fmt: skip
    refused = d0ctl("restore-line", "prod/1/2")
    (command,) = re.findall(r"to run it again with them: (d0ctl .*)", refused.stderr)
    plan = d0ctl(*command.split()[1:], "--dry-run").stdout
    done = d0ctl(*command.split()[1:]).stdout

    assert refused.exit_code == 4
    assert all(command in answer["commands"] for answer in answers), answers
    assert command == "d0ctl restore-line prod/1/2 --again"
    assert "to run again with them: 2 packages" in plan
    assert "2 packages that had succeeded without them run again" in done
    assert "1 package will run again, too, because their outputs were removed\n  prod/1/1/1" in done
    assert [site.phase(f"prod/{n}/1/1") for n in (1, 2, 3)] == ["ready", "waiting", "waiting"]
    d0ctl("retry", "prod/1/2/*:failed,canceled")
    site.finish("prod/1/1/1")
    site.finish("prod/1/2/1")
    site.finish("prod/2/1/1")
    assert site.phase("prod/3/1/1") == "ready"
    assert left_out.short_packages(site.store, browse.job(site.store, "prod").id, 9) == []
    assert faults(site.store) == []
