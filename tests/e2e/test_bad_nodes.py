"""Bad nodes of a real site: a black hole, and one that hangs."""

from pathlib import Path
from typing import Any

import pytest

from tests.support.site import Site
from tests.support.waiting import wait_until

RULES = """\
bad-nodes: {pause: 1s, minimum-run: 10m, try-again: 4s, longest: 1h}
"""

JOB = """\
job: {name}
stages:
  - name: reco
    lines:
      - for: {{n: {{range: [1, {count}]}}}}
        run: 'PATH="$HOME/bin:$PATH"; reco {{n}} > {{n}}.reco'
        outputs: "{{n}}.reco"
"""

RECO = """\
#!/bin/sh
sleep 0.3
echo "$1"
"""


def install(folder: Path) -> None:
    """Put the program where packages find it."""
    program = folder / "bin" / "reco"
    program.parent.mkdir(parents=True, exist_ok=True)
    program.write_text(RECO)
    program.chmod(0o755)


@pytest.fixture
def farm(site: Site) -> Site:
    """Two machines, of which one lacks the program; this one takes nothing."""
    for name in ("good", "hole"):
        home = site.folder / f"home-{name}"
        home.mkdir()
        site.add(name, site.start_sshd(name, home=home), cpus=2 if name == "good" else 1)
    install(site.folder / "home-good")
    site.alone()
    site.ok("site", "apply", site.write(RULES, "site.yaml"), "--yes")
    return site


def tried_on(site: Site, job: str, node: str) -> list[Any]:
    """The attempts of a job on a node."""
    packages = site.json("status", f"{job}/*/*/*")["packages"]
    documents = [site.package(one["path"]) for one in packages if one["attempts"] > 1]
    return [a for one in documents for a in one["attempts"] if a["node"] == node]


def test_a_black_hole_is_drained_with_the_evidence_and_comes_back_when_it_works(
    farm: Site,
) -> None:
    farm.ok("run", farm.write(JOB.format(name="reco", count=40)))

    assert farm.counts("reco") == {"done": 40}
    assert len(list((farm.home.root / "results" / "reco").iterdir())) == 40
    failed = tried_on(farm, "reco", "hole")
    assert 3 <= len(failed) < 20, "three, those that were there by then, and those that tried it"
    assert {one["reason"] for one in failed} == {"software-missing"}
    hole = farm.listed_node("hole")
    assert hole["drained"]
    seen = hole["burnt"]["reasons"]["software-missing"]
    assert 3 <= seen <= len(failed), "failures that came in one batch are judged together"
    assert hole["burnt"]["stage"] == "reco/1"
    assert hole["burnt"]["others"]["failed"] == 0
    listed = farm.ok("node", "list")
    assert f"drained by d0ctl: {seen} attempts of `reco/1` failed here in a row" in listed
    why = farm.ok("why", "hole")
    assert "was drained by d0ctl at" in why
    assert "failed there and went elsewhere; these attempts do not count as tries" in why
    assert "d0ctl node resume hole" in why
    assert "`hole` may be the cause, so it runs elsewhere" in farm.ok("history", first_failed(hole))

    install(farm.folder / "home-hole")
    farm.start_daemon()
    farm.submit(JOB.format(name="again", count=60))

    def is_well() -> bool:
        return not farm.listed_node("hole")["drained"]

    wait_until(is_well, what="the node is taken back")
    farm.ok("wait", "again")
    assert farm.listed_node("hole")["burnt"] is None
    assert "node resume: a trial package succeeded" in farm.ok("why", "hole")


def first_failed(node: Any) -> str:
    """The first package that failed on a drained node."""
    path = node["burnt"]["packages"][0]
    assert isinstance(path, str)
    return path


FROZEN = """\
job: frozen
stages: [{lines: [{packages: [{nodes: [hung], run: sleep 600}]}]}]
"""

OTHERS = """\
job: others
stages:
  - lines:
      - for: {n: {range: [1, 60]}}
        packages: [{exclude-nodes: [hung], run: "echo {n} > {n}.txt", outputs: "{n}.txt"}]
"""


def test_a_node_that_hangs_does_not_slow_the_others(site: Site) -> None:
    for name in ("one", "two", "hung"):
        site.add(name, cpus=1)
    site.alone()
    site.start_daemon()
    site.wait_node("hung", "up")
    site.submit(FROZEN)
    site.wait_phase("frozen/1/1/1", "running")
    site.sshds["hung"].freeze()
    try:
        site.submit(OTHERS)
        site.ok("wait", "others")

        assert site.counts("others") == {"done": 60}
        assert site.package("frozen/1/1/1")["phase"] in ("running", "unreachable")
    finally:
        site.sshds["hung"].thaw()
    site.ok("kill", "frozen", "--yes")
    site.wait_phase("frozen/1/1/1", "canceled")
