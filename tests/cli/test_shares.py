"""Shares and the researchers that they name."""

import time
from pathlib import Path

from d0ctl.store.attempts.history import share_usage
from d0ctl.store.nodes import placement
from tests.cli.conftest import Type
from tests.cli.test_standing import drive
from tests.support.building import document
from tests.support.jobs import job, simple
from tests.support.site import Site

FILE = """
researchers:
  emmy: {mail: e.noether@example.org}
  ole:
shares:
  physics: {share: 2, researchers: [emmy, "e.noether@*"]}
  guests: {share: 1, researchers: [olga, "o*@lab"]}
  rest: 1
"""


def test_a_share_that_names_nobody_known_is_a_warning_of_site_check(
    d0ctl: Type, tmp_path: Path
) -> None:
    file = tmp_path / "site.yaml"
    file.write_text(FILE)

    done = d0ctl("site", "check", str(file))

    assert done.exit_code == 0
    assert "`olga` is not one of the `researchers`" in done.stderr
    assert "emmy" not in done.stderr and "o*@lab" not in done.stderr


def test_a_throttle_of_no_node_of_the_file_is_a_warning_of_site_check(
    d0ctl: Type, tmp_path: Path
) -> None:
    file = tmp_path / "site.yaml"
    file.write_text(
        "nodes: {farm01: {destination: a}, farm02: {destination: b}}\n"
        "throttles: {node farm: {max-running: 2}, 'node farm*': {max-running: 3}}\n"
    )

    done = d0ctl("site", "check", str(file))

    assert done.exit_code == 0
    (warning,) = [line for line in done.stderr.splitlines() if "no node of this file" in line]
    assert warning.endswith("is `farm`, so nothing is limited: did you mean `node farm*`?")


def test_a_share_takes_the_jobs_of_a_researcher_by_the_id(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    file = tmp_path / "site.yaml"
    file.write_text(FILE)
    assert d0ctl("site", "apply", str(file), "--yes").exit_code == 0
    site.up(cpus=4)
    site.submit(job("mc", [simple()], originator="emmy@lab01"))
    site.submit(job("other", [simple()], originator="eve@lab01"))

    fair = share_usage.standing(site.store, placement.nodes(site.store), now=time.time())
    found = document(d0ctl("researcher", "list", "--json").stdout)["researchers"]

    assert fair is not None and sorted(fair.paths.values()) == ["physics", "rest"]
    assert {one["researcher"]: one["shares"] for one in found} == {
        "emmy": ["physics"], "ole": ["rest"], "eve@lab01": ["rest"],
    }  # fmt: skip
    assert "share: physics" in d0ctl("researcher", "list").stdout


def test_why_of_a_package_without_a_share_says_what_the_shares_leave(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    file = tmp_path / "site.yaml"
    file.write_text("shares: {physics: {jobs: 'mc*'}}\n")
    assert d0ctl("site", "apply", str(file), "--yes").exit_code == 0
    drive(site)
    site.up(cpus=3)
    site.submit(job("mc", [simple()]))
    site.submit(job("other", [simple() for _ in range(3)]))
    site.launch("other/1/1/1")
    site.launch("other/1/2/1")

    answer = " ".join(d0ctl("why", "other/1/3/1").stdout.split())

    assert "jobs without a share have 2 CPUs, and the shares leave 2.0 for them" in answer
