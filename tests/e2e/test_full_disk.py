"""A disk that fills while packages and transfers use it: all are done in the end."""

import re
import shutil
from pathlib import Path

from tests.support.site import Site
from tests.support.users import mounted, needs_root

JOB = """\
job: full
policy: {disk-full: {tries: 100, delay: 1s}}
stages:
  - name: make
    lines:
      - {for: {n: {range: [1, 2]}}, nodes: [big], run: "head -c 20M /dev/zero > in{n}",
         outputs: ["in{n}"]}
  - name: fill
    after: [make]
    lines:
      - {for: {n: {range: [1, 3]}}, nodes: [farm], environment: {GO: GO-FILE},
         run: "head -c 48M /dev/zero > big; until [ -e $GO ]; do sleep 0.1; done; wc -c < big"}
  - name: read
    lines:
      - {for: {n: {range: [1, 2]}}, nodes: [farm], inputs: ["in{n}"], outputs: ["size{n}"],
         run: "wc -c < in{n} > size{n}"}
"""

PLAIN = """\
job: plain
stages:
  - lines:
      - {nodes: [farm], run: echo done}
"""


@needs_root
def test_a_node_below_its_reserve_gets_no_package_until_it_has_space(
    site: Site, tmp_path: Path
) -> None:
    with mounted(tmp_path / "disk", "100m") as disk:
        site.add("farm", None, "--dir", disk)
        site.alone()
        filler = disk / "filler"
        free = shutil.disk_usage(disk).free
        filler.write_bytes(bytes(free - 2_000_000))
        site.start_daemon()
        site.wait_node("farm", "up")
        site.submit(PLAIN)

        site.wait(lambda: "less than its reserve" in site.ok("why", "plain/1/1/1"), "a reason")
        answer = site.ok("why", "plain/1/1/1")
        assert "it waits for disk on `farm`" in answer
        assert re.search(
            r"^- node `farm` has \S+ MB of disk left, less than its reserve of 5\.\d MB$",
            answer,
            re.MULTILINE,
        ), answer
        assert site.phase("plain/1/1/1") == "ready"
        filler.unlink()
        site.ok("wait", "plain")

        assert site.counts("plain") == {"done": 1}
        assert "suspended" not in site.ok("history", "plain/1/1/1")
        site.close()


@needs_root
def test_packages_and_transfers_survive_a_disk_that_they_fill(site: Site, tmp_path: Path) -> None:
    go = tmp_path / "go"
    with mounted(tmp_path / "disk", "100m") as disk:
        site.add("farm", None, "--dir", disk, cpus=5)
        site.add("big")
        site.alone()
        text = "defaults: {patience: 30s}"
        site.ok("site", "apply", site.write(text, "site.yaml"), "--yes")
        site.start_daemon()
        site.submit(JOB.replace("GO-FILE", str(go)))

        def failures() -> list[str]:
            return [str(one["reason"]) for one in site.json("history", "full")["reasons"]]

        site.wait(lambda: failures(), "a package meets the full disk")
        assert set(failures()) == {"disk-full"}
        go.touch()
        done = site.d0ctl("wait", "full")
        assert done.code == 0, (done, site.ok("history", "full"))

        assert set(failures()) == {"disk-full"}
        assert site.counts("full") == {"done": 7}
        for path in {str(one["path"]) for one in site.json("history", "full")["failures"]}:
            facts = site.ok("why", path)
            assert re.search(r"^- it took \d+ attempts \(\d+ disk-full\)$", facts, re.MULTILINE), (
                facts
            )
        for number in (1, 2):
            assert (site.home.root / f"results/full/size{number}").read_text() == "20971520\n"
        site.close()
