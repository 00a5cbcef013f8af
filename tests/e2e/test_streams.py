"""Files that go from one node to another without a copy on the control host."""

from pathlib import Path

from tests.support.site import Site
from tests.support.waiting import wait_until

LOCATIONS = """
select count(*)
  from location
  join file on file.id = location.file_id
  join cluster on cluster.id = location.cluster_id
 where file.name glob 'a[0-9]*' and cluster.name = ?
"""


def job(last: Path) -> str:
    """Forty files of one node, merged on the other; the last is made once a file is there."""
    return f"""\
job: gather
stages:
  - name: make
    lines:
      - for: {{i: {{range: [1, 39]}}}}
        nodes: farm
        run: "echo {{i}} > a{{i}}"
        outputs: "a{{i}}"
      - nodes: farm
        run: "until test -e {last}; do sleep 0.05; done; echo 40 > a40"
        outputs: a40
  - name: merge
    lines:
      - {{nodes: barn, run: "cat {{inputs}} | sort -n > all", inputs: {{from: make}}, outputs: all}}
"""


def test_inputs_of_a_merge_come_while_others_are_still_made(site: Site, tmp_path: Path) -> None:
    site.add("farm")
    site.add("barn", None, "--same-machine")
    site.alone()
    site.start_daemon()
    site.submit(job(tmp_path / "last"))

    def is_gathered() -> bool:
        return bool(site.ask(LOCATIONS, "barn")[0][0] == 39)

    wait_until(is_gathered, what="the files are at the node of the merge")
    assert site.phase("gather/2/1/1") == "waiting"
    (tmp_path / "last").touch()
    done = site.d0ctl("wait", "gather")

    assert done.code == 0, done
    merged = (site.home.root / "results/gather/all").read_text()
    assert merged.split() == [str(number) for number in range(1, 41)]
    assert site.ask(LOCATIONS, "control")[0][0] == 0, "a copy was made on the control host"
    assert not [path for path in (site.home.root / "cache").rglob("a[0-9]*") if path.is_file()]


def test_a_file_that_many_packages_wait_to_read_is_copied_before_they_run(
    site: Site, tmp_path: Path
) -> None:
    site.add("farm")
    site.add("barn", None, "--same-machine")
    site.alone()
    site.start_daemon()
    site.submit(f"""\
job: hot
stages:
  - {{name: geo, lines: [{{nodes: farm, run: "truncate -s 120M a0", outputs: a0}}]}}
  - name: gen
    lines:
      - {{nodes: farm, run: "until test -e {tmp_path}/go; do sleep 0.05; done; echo 1 > gen",
         outputs: gen}}
  - name: sim
    lines:
      - for: {{i: {{range: [1, 12]}}}}
        run: "cat gen > sim{{i}}; test -s a0"
        runtime: 100s
        inputs: [gen, a0]
        outputs: "sim{{i}}"
""")

    wait_until(lambda: site.ask(LOCATIONS, "barn")[0][0] == 1, what="barn has a copy of the file")
    assert site.phase("hot/3/1/1") == "waiting"
    assert "before it was needed: 12 packages" in site.d0ctl("why", "hot:a0").out
    (tmp_path / "go").touch()
    assert site.d0ctl("wait", "hot").code == 0
