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
