"""Use cases I, V and VII of "Grid Control Framework", each step as it is written there."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.test_mail import apply_mail, wait_for
from tests.support.archives import member, packed
from tests.support.site import Site
from tests.support.smtp import PostOffice
from tests.support.waiting import wait_until

FILES = 100

FARM = {"farm1", "farm2"}

NODES = ("farm1", "farm2", "farm3")

PROGRAMS = [
    member("bin/recoanalyze", "#!/bin/sh\nsed s/reco/analyzed/ $1 > $2\n", mode=0o755),
    member("bin/root", "#!/bin/sh\nwc -c < $1 > $2\n", mode=0o755),
]

RECO = """\
job: reco
stages:
  - lines:
      - for: {{n: {{range: [1, {half}]}}}}
        nodes: farm1
        run: echo reco {{n}} > reco-{{n}}
        outputs: [{{file: "reco-{{n}}", disposition: retain-indef}}]
      - for: {{n: {{range: [{after}, {files}]}}}}
        nodes: farm2
        run: echo reco {{n}} > reco-{{n}}
        outputs: [{{file: "reco-{{n}}", disposition: retain-indef}}]
"""

ANALYZE = """\
  - name: analyze
    lines:
      - for: {{n: {{range: [1, {number}]}}}}
        packages:
          - binaries:
              - name: recoanalyze
                software: tools/v1
                run: recoanalyze reco-{{n}} analyzed-{{n}}
                inputs: ["reco:reco-{{n}}"]
                outputs: [{{file: "analyzed-{{n}}", disposition: retain-temp}}]
                cpu: 99
              - name: root
                software: tools/v1
                run: |
                  {root}
                inputs: ["analyzed-{{n}}"]
                outputs: ["hist-{{n}}"]
                cpu: 99
"""

CONCATENATE = """\
  - name: concatenate
    lines:
      - early-start: yes
        nodes: desktop
        cpu: 5
        run: |
          exec 3< {{inputs.list}}
          while :; do
            closed=
            [ ! -e {{inputs.list}}.closed ] || closed=yes
            while read -r part <&3; do cat "$part" >> histogram; done
            [ -z "$closed" ] || break
            sleep 0.1
          done
        inputs: {{from: analyze}}
        outputs: histogram
"""

ROUND = """\
job: round-{version}
stages:
  - lines:
      - for: {{raw: {{glob: "*.raw"}}}}
        nodes: local
        run: sed s/raw/reco-{version}/ {{raw}} > {{raw.stem}}-{version}
        inputs:
          - {{file: "{{raw}}", locator: "file://{storage}/{{raw}}", disposition: retain-indef}}
        outputs: [{{file: "{{raw.stem}}-{version}", result: yes}}]
"""

BUSY = """\
job: busy
stages:
  - lines:
      - for: {{n: {{range: [1, 6]}}}}
        run: until [ -e {gate} ]; do sleep 0.05; done
"""


@pytest.fixture
def post() -> Iterator[PostOffice]:
    """The mail server of the laboratory."""
    with PostOffice() as post:
        yield post


def up(site: Site, *names: str) -> None:
    """Nodes behind sshds, and a daemon."""
    site.alone()
    for name in names:
        site.add(name)
    site.start_daemon()
    for name in names:
        site.wait_node(name, "up")


def shelve(site: Site, folder: Path, *versions: str) -> None:
    """Put versions of the programs into the catalogue."""
    for version in versions:
        archive = packed(folder / f"tools-{version}.tar.gz", PROGRAMS)
        site.ok("software", "add", f"tools/{version}", "--archive", archive)


def copies(site: Site, name: str) -> set[str]:
    """The nodes whose caches have files of this name."""
    query = """select cluster.name from location join file on file.id = file_id
               join cluster on cluster.id = cluster_id where file.name glob ?"""
    return {row[0] for row in site.ask(query, name)}


def where(site: Site, title: str) -> set[str]:
    """The nodes that have software."""
    found = site.json("software", "where")["software"]
    return {
        one["node"]
        for one in found
        if one["software"] == title and one["last_order"]["message"] == "installed"
    }


def test_case_1_small_output_is_concatenated_at_the_desktop_of_the_researcher(
    site: Site, tmp_path: Path, post: PostOffice
) -> None:
    gate = site.folder / "gate"
    apply_mail(site, post, security="none")
    shelve(site, tmp_path, "v1")
    up(site, "farm1", "farm2", "desktop")

    # the reco files lie on two clusters, and a former job has left some analyzed files there
    site.submit(RECO.format(half=FILES // 2, after=FILES // 2 + 1, files=FILES))
    site.ok("wait", "reco")
    former = ANALYZE.format(number=10, root="root analyzed-{n} hist-{n}")
    site.submit(f"job: former\nstages:\n{former}")
    site.ok("wait", "former")

    # a list of files, a chain of two binaries for each, and a concatenation at the desktop
    last = f"[ {{n}} -lt {FILES} ] || until [ -e {gate} ]; do sleep 0.05; done"
    root = last + "; root analyzed-{n} all; sed s/^/{n}:/ all > hist-{n}"
    analyze = ANALYZE.format(number=FILES, root=root)
    site.submit(
        "job: case1\noriginator: emmy@lab.example\nmail: everything\nstages:\n"
        f"{analyze}{CONCATENATE.format()}"
    )
    site.wait(lambda: site.counts("case1").get("done") == FILES - 1, "all but the last")

    # it has started although an input is missing, and she can look at what it has so far
    site.wait_phase("case1/2/1/1", "running")
    wait_until(lambda: site.d0ctl("peek", "case1/2/1/1", "histogram").out)
    assert "it waits for file `hist-100` of `case1/1/100/1`" in site.ok("why", "case1/2/1/1")
    gate.touch()
    assert site.ok("wait", "case1") == "`case1` is successful\n"
    rows = sorted(int(row.split(":")[0]) for row in site.result("case1/histogram").splitlines())
    assert rows == list(range(1, FILES + 1))
    wait_for(post, "emmy@lab.example", "case1: successful, 101 packages")

    # chains began with what the former job had left; only small files are gone from the caches
    middle = "select count(*) from attempt where began = 2"
    assert 0 < site.ask(middle)[0][0] <= 10
    site.wait(lambda: not copies(site, "hist-*") & FARM, "the small files are purged")
    assert copies(site, "analyzed-*") >= FARM
    assert copies(site, "reco-*") == FARM


def test_case_5_raw_data_stay_on_the_local_cluster_from_round_to_round(site: Site) -> None:
    up(site, "local", "other")
    for number in range(6):
        (site.jobs / f"{number}.raw").write_text(f"raw {number}\n")

    def stamps() -> dict[str, tuple[int, int]]:
        """Inode and time of each copy of a raw file on a node."""
        found = {}
        for path in site.folder.glob("*/**/cache/**/*.raw"):
            status = path.stat()
            found[str(path)] = (status.st_ino, status.st_mtime_ns)
        return found

    kept = []
    for version in ("v1", "v2", "v3"):
        site.submit(ROUND.format(version=version, storage=site.jobs))
        assert site.ok("wait", f"round-{version}") == f"`round-{version}` is successful\n"
        assert site.result(f"round-{version}/5-{version}") == f"reco-{version} 5\n"
        kept.append(stamps())
    assert len(kept[0]) == 6
    assert all("/local/" in path for path in kept[0])
    assert kept == [kept[0]] * 3
    assert set(site.ask("select node_name, outcome from attempt")) == {("local", "successful")}


def test_case_7_obsolete_software_is_purged_from_the_nodes_of_an_edited_list(
    site: Site, tmp_path: Path
) -> None:
    gate = site.folder / "gate"
    shelve(site, tmp_path, "v1", "v2")
    up(site, *NODES)
    for version in ("v1", "v2"):
        site.ok("software", "push", f"tools/{version}")

    # every CPU is in use: a removal does not wait for one
    site.submit(BUSY.format(gate=gate))
    site.wait(lambda: site.look().get("running") == 2 * len(NODES), "no CPU is free")

    # the list of nodes that have it, from which the code authority takes one
    assert where(site, "tools/v1") >= set(NODES)
    edited = ("--node", "farm1", "--node", "farm2")
    report = site.json("software", "purge", "tools/v1", *edited)["nodes"]

    assert [(one["node"], one["message"]) for one in report] == [
        ("farm1", "removed"), ("farm2", "removed")
    ]  # fmt: skip
    assert site.look()["running"] == 2 * len(NODES)
    assert where(site, "tools/v1") & set(NODES) == {"farm3"}
    assert where(site, "tools/v2") >= set(NODES)
    bins = site.folder.glob("*/**/software/tools/v1/*/bin/root")
    assert {path.relative_to(site.folder).parts[0] for path in bins} - {"home"} == {"farm3"}
    gate.touch()
    site.ok("wait", "busy")
