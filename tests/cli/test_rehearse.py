"""`d0ctl rehearse`."""

from pathlib import Path

import pytest

from d0ctl.store import Store
from tests.cli.conftest import Type
from tests.support.building import document
from tests.support.printed import check
from tests.support.site import Site

JOB = """
job: mc
stages:
  - name: gen
    lines:
      - {for: {n: {range: [1, 20]}}, run: "gen > gen-{n}.root", runtime: 10m,
         outputs: {file: "gen-{n}.root", size: 2GB}}
  - name: merge
    lines:
      - {run: "cat {inputs} > all.root", inputs: {from: gen}, outputs: all.root, runtime: 1h}
"""

SITE = """
nodes:
  n1: {destination: n1, cpus: 4, cluster: farm}
  n2: {destination: n2, cpus: 4, cluster: farm}
  n3: {destination: n3, cpus: 4, speed: 2}
clusters: {farm: {}}
"""


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    """A job file and a site file."""
    job, site = tmp_path / "mc.yaml", tmp_path / "site.yaml"
    job.write_text(JOB)
    site.write_text(SITE)
    return str(job), str(site)


def test_a_rehearsal_says_how_long_a_job_takes_and_what_bounds_it(
    d0ctl: Type, files: tuple[str, str]
) -> None:
    job, site = files
    answer = d0ctl("rehearse", job, "--site", site)

    assert answer.exit_code == 0
    lines = answer.stdout.splitlines()
    assert lines[0] == "rehearsed mc  21 packages on 3 nodes"
    assert "at least" in lines[2] and "35 min 00 s for the longest chain" in lines[2]
    assert "with another node like `n3`" in lines[3]


def test_another_node_saves_nothing_that_people_could_read(d0ctl: Type, tmp_path: Path) -> None:
    job, site = tmp_path / "short.yaml", tmp_path / "site.yaml"
    job.write_text(
        "stages: [{lines: [{for: {n: [1, 2, 3]}, run: x, runtime: 2h}, {run: y, runtime: 20s}]}]\n"
    )
    site.write_text("nodes: {n1: {destination: n1, cpus: 3}}\n")

    found = document(d0ctl("rehearse", str(job), "--site", str(site), "--json").stdout)
    text = d0ctl("rehearse", str(job), "--site", str(site)).stdout

    assert found["makespan"] > found["with_one_more"]["makespan"]
    assert "2 h 00 min with another node like `n1`: no less" in text


def test_the_document_has_makespan_bounds_nodes_caches_and_stages(
    d0ctl: Type, files: tuple[str, str]
) -> None:
    job, site = files
    text = d0ctl("rehearse", job, "--site", site, "--json").stdout
    check(["rehearse", "--json"], text)
    found = document(text)

    assert found["longest_chain"] == pytest.approx(35 * 60)
    assert found["work"] == pytest.approx((200 + 60) * 60 / 16)
    assert found["makespan"] >= max(found["longest_chain"], found["work"])
    assert found["with_one_more"]["makespan"] <= found["makespan"]
    assert {node["node"] for node in found["nodes"]} == {"n1", "n2", "n3"}
    assert max(cache["peak"] for cache in found["caches"]) >= 20_000_000_000
    gen, merge = found["stages"]
    assert gen["ends"] <= merge["begins"]


def test_a_rehearsal_in_which_caches_become_full_says_how_many_packages_never_run(
    d0ctl: Type, files: tuple[str, str], tmp_path: Path
) -> None:
    job, small = files[0], tmp_path / "small.yaml"
    small.write_text("nodes: {n1: {destination: n1, cpus: 4}}\nclusters: {n1: {capacity: 15GB}}\n")
    text = d0ctl("rehearse", job, "--site", str(small)).stdout

    lines = [" ".join(line.split()) for line in text.splitlines()]
    assert lines[1] == "takes 40 min 00 s for the 7 packages that run"
    assert lines[3] == (
        "never run 14 packages: no cache has room for the files of 13 of them (`n1` 15 GB)"
    )
    assert "one more" not in text
    found = document(d0ctl("rehearse", job, "--site", str(small), "--json").stdout)
    assert (found["no_room"], found["failures"]["never_run"]) == (13, 14)


def test_a_node_of_this_machine_has_the_cluster_of_this_machine_also_in_a_site_file(
    d0ctl: Type, files: tuple[str, str], tmp_path: Path
) -> None:
    job, here = files[0], tmp_path / "here.yaml"
    here.write_text("nodes: {localhost: {cpus: 4}}\n")

    found = document(d0ctl("rehearse", job, "--site", str(here), "--json").stdout)

    assert [cache["cluster"] for cache in found["caches"]] == ["control"]


def test_a_rehearsal_needs_run_times_nodes_that_fit_and_their_cpus(
    d0ctl: Type, files: tuple[str, str], tmp_path: Path
) -> None:
    job, site = files
    Path(job).write_text(JOB.replace("runtime: 10m,", ""))
    answer = d0ctl("rehearse", job, "--site", site)
    assert answer.exit_code == 4
    assert "the run time of packages of `gen` is unknown" in answer.stderr

    Path(job).write_text(JOB.replace("runtime: 1h", "runtime: 1h, cpus: 9"))
    answer = d0ctl("rehearse", job, "--site", site)
    assert answer.exit_code == 4
    assert "no node can take packages of stage `merge`: `n1` is ruled out (4 CPUs, needs 9)" in (
        answer.stderr
    )

    Path(site).write_text("nodes: {n1: {destination: n1}}\n")
    answer = d0ctl("rehearse", job, "--site", site)
    assert "the site file does not give the CPUs of `n1`" in answer.stderr


def test_without_a_site_file_the_nodes_of_this_site_are_taken(
    d0ctl: Type, files: tuple[str, str]
) -> None:
    answer = d0ctl("rehearse", files[0])

    assert "21 packages on 1 node" in answer.stdout
    assert "localhost" in answer.stdout


def test_a_rehearsal_without_failures_says_how_many_earlier_attempts_failed(
    d0ctl: Type, files: tuple[str, str], tmp_path: Path, store: Store
) -> None:
    d0ctl("submit", files[0])
    hands = Site.of(store)
    for number in range(1, 20):
        hands.finish(f"mc/1/{number}/1")
    hands.fail("mc/1/20/1")
    other = tmp_path / "other.yaml"
    other.write_text(JOB)

    page = d0ctl("rehearse", str(other), "--site", files[1]).stdout

    assert "none expected: 1 of 20 earlier attempts of all jobs failed" in page


def test_failures_happen_as_often_as_before_and_their_policy_answers(
    d0ctl: Type, files: tuple[str, str], store: Store
) -> None:
    job, site = files
    d0ctl("submit", job)
    hands = Site.of(store)
    for number in range(1, 11):
        hands.finish(f"mc/1/{number}/1")
    for number in range(11, 13):
        hands.fail(f"mc/1/{number}/1")
    for number in range(13, 17):
        hands.fail(f"mc/1/{number}/1", reason="stage-in")

    page = d0ctl("rehearse", job, "--site", site).stdout
    text = d0ctl("rehearse", job, "--site", site, "--json").stdout
    check(["rehearse", "--json"], text)
    found = document(text)

    failures = found["failures"]
    assert failures["earlier_attempts"] == 16
    assert failures["tried_again"]["stage-in"] in range(5, 9)
    assert failures["failed_for_good"] == {"exit-code": 3}
    assert failures["never_run"] == 1
    assert failures["makespan_without"] == pytest.approx(3900, rel=0.5)
    assert "by 16 earlier attempts" in page
    assert "never run 1 package, whose inputs are missing then" in " ".join(page.split())

    alone = "nodes: {n1: {destination: n1, cpus: 1}}\n"
    Path(site).write_text(alone)
    found = document(d0ctl("rehearse", job, "--site", site, "--json").stdout)
    assert found["failures"]["never_run"] == 1
    assert found["work"] <= found["makespan"] * 1.000001

    policy = "policy: {exit-code: {tries: 3, delay: 1m}}\n"
    Path(site).write_text(SITE + policy)
    failures = document(d0ctl("rehearse", job, "--site", site, "--json").stdout)["failures"]
    assert (failures["failed_for_good"], failures["never_run"]) == ({}, 0)

    Path(site).write_text(SITE + policy + "throttles: {job m*: {max-running: 1}}\n")
    found = document(d0ctl("rehearse", job, "--site", site, "--json").stdout)
    assert found["makespan"] > 20 * 5 * 60


def test_failures_that_happen_everywhere_are_on_all_nodes_alike(
    d0ctl: Type, files: tuple[str, str], store: Store
) -> None:
    job, site = files
    one = '      - {for: {n: {range: [1, 2000]}}, run: "sim {n}", runtime: 10m}\n'
    Path(job).write_text(f"job: mc\nstages:\n  - name: sim\n    lines:\n{one}")
    names = [f"n{number}" for number in range(30)]
    Path(site).write_text(
        "nodes:\n" + "".join(f"  {n}: {{destination: {n}, cpus: 5}}\n" for n in names)
    )
    d0ctl("submit", job)
    hands = Site.of(store)
    for number in range(1, 10):
        hands.finish(f"mc/1/{number}/1")
    hands.fail("mc/1/10/1")

    found = document(d0ctl("rehearse", job, "--site", site, "--json").stdout)["failures"]

    assert found["failed_for_good"]["exit-code"] in range(190, 211)
    assert (found["drained"], found["excluded"]) == ({}, [])


def test_sizes_that_the_job_file_does_not_say_are_those_of_earlier_runs(
    d0ctl: Type, files: tuple[str, str], store: Store
) -> None:
    job, site = files
    Path(job).write_text(JOB.replace(", size: 2GB", ""))
    d0ctl("submit", job)
    hands = Site.of(store)
    binary = {"binary": 1, "started": None, "ended": None, "exit_code": 0, "signal": None,
              "cpu": 1.0, "rss": 1 << 20, "gap": 0.0}  # fmt: skip
    for number in range(1, 21):
        hands.launch(f"mc/1/{number}/1")
        hands.end(f"mc/1/{number}/1", binaries=[binary])

    found = document(d0ctl("rehearse", job, "--site", site, "--json").stdout)

    assert max(cache["peak"] for cache in found["caches"]) in range(150, 250)


CHAINS = """
job: mc
stages:
  - name: gen
    lines:
      - {for: {n: {range: [1, 20]}}, run: "gen > gen-{n}", runtime: 10m,
         outputs: {file: "gen-{n}", size: 1GB, disposition: DISPOSITION}}
  - name: reduce
    lines:
      - {for: {n: {range: [1, 20]}}, run: "wc < gen-{n} > size-{n}", runtime: 10m,
         inputs: "gen-{n}", outputs: {file: "size-{n}", size: 1GB, disposition: DISPOSITION}}
"""


@pytest.mark.parametrize(("disposition", "least", "most"), [("deletable", 20, 26),
                                                            ("retain-temp", 40, 41)])  # fmt: skip
def test_files_leave_the_caches_as_their_dispositions_say(
    d0ctl: Type, files: tuple[str, str], disposition: str, least: int, most: int
) -> None:
    job, site = files
    Path(job).write_text(CHAINS.replace("DISPOSITION", disposition))
    Path(site).write_text("nodes: {n1: {destination: n1, cpus: 4}}")

    (cache,) = document(d0ctl("rehearse", job, "--site", site, "--json").stdout)["caches"]

    assert least * 10**9 <= cache["peak"] < most * 10**9
