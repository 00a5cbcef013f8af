"""What is said of packages that fit on no node, before the scheduler has looked at them."""

import time
from pathlib import Path

from d0ctl.model import Address
from d0ctl.store.nodes import placement, registry
from tests.cli.conftest import Type
from tests.support.building import production
from tests.support.site import Site


def test_what_adds_the_software_or_node_that_packages_run_again_without_is_said(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    site.up()
    registry.add(site.store, Address("farm", "ssh", "farm"), cpus=4)
    d0ctl("software", "add", "reco/v1", "--script", "true")
    file = tmp_path / "prod.yaml"
    file.write_text("job: prod\nstages: [{name: a, lines: [{software: reco/v1, outputs: x},"
                    " {run: 'true', nodes: farm}]}]\n")  # fmt: skip
    d0ctl("submit", str(file))
    for path in ("prod/1/1/1", "prod/1/2/1"):
        site.finish(path)
    with site.store.writing():
        placement.end_jobs(site.store, now=time.time())
    for gone in (["software", "remove", "reco/v1"], ["node", "remove", "farm"]):
        assert d0ctl(*gone, "--yes").exit_code == 0

    again = ["set-status", "prod", "unscheduled"]
    plan, done = d0ctl(*again, "--dry-run").stdout, d0ctl(*again).stdout

    begin = "no node can take it yet: stage `a`: `localhost` is ruled out "
    assert done.splitlines()[1:] == [
        f"{begin}(no software reco/v1 for platform linux-x86_64): "
        "d0ctl software add reco/v1 --archive FILE",
        f"{begin}(not in its node list): d0ctl node add farm [user@]host",
    ]
    assert plan.splitlines()[-2:] == done.splitlines()[-2:]


def test_packages_that_run_again_without_any_node_are_said_to_need_one(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production(lines=1))
    site.finish("prod/1/1/1")
    registry.forget(site.store, "localhost", now=time.time())

    said = d0ctl("set-status", "prod/1/1/1", "unscheduled").stdout

    assert said.splitlines()[-1] == (
        "no node can take it yet: stage `make`: there are no nodes: d0ctl node add NAME [user@]host"
    )


def test_what_no_node_can_take_is_said_while_it_still_waits_for_its_inputs(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    site.up()
    file = tmp_path / "prod.yaml"
    file.write_text(
        "job: prod\nstages:\n"
        "- {name: make, lines: [{run: 'true', outputs: x}]}\n"
        "- {name: wide, lines: [{run: 'true', inputs: x}, {run: 'true', inputs: x, cpus: 64}]}\n"
    )
    d0ctl("submit", str(file), "--force")

    said = {path: d0ctl("why", path).stdout for path in (
        "prod", "prod/1", "prod/2", "prod/2/1", "prod/2/2", "prod/2/2/1")}  # fmt: skip
    d0ctl("edit", "prod/2/2/1", "--cpus", "4")
    after = d0ctl("why", "prod").stdout

    fact = "no node can take it yet: stage `wide`: `localhost` is ruled out (4 CPUs, needs 64)"
    counts = {path: text.count(fact) for path, text in said.items()}
    assert counts == {"prod": 1, "prod/1": 0, "prod/2": 1, "prod/2/1": 0, "prod/2/2": 1,
                      "prod/2/2/1": 1}  # fmt: skip
    assert "$ d0ctl why prod/2/2/1" in said["prod"]
    assert "$ d0ctl edit prod/2/2/1 --cpus 4 " in said["prod/2/2/1"]
    assert fact not in after
