"""On which nodes `why` says that a command is missing."""

from d0ctl.model import Address
from d0ctl.store.nodes import registry
from tests.cli.conftest import Type
from tests.support.building import job, line, package
from tests.support.site import Site

STDERR = "/tmp/attempts/1.sh: line 1: geant9: command not found"


def lack(site: Site, path: str, node: str, stderr: str = STDERR) -> None:
    """Let a package fail on a node because a command is missing there."""
    site.launch(path, node)
    site.end(path, "failed", reason="software-missing", binary=1, exit_code=127, stderr=stderr,
             detail="binary 1 (sim) ended with exit code 127 (command not found)")  # fmt: skip


def submitted(site: Site) -> None:
    """A job of four packages that are not tried again, and two more nodes."""
    for name in ("far", "near"):
        registry.add(site.store, Address(name, "ssh", name), cpus=2)
    lines = [line(package(name)) for name in "abcd"]
    site.submit(job(("make", lines), name="prod", policy={"software-missing": {"tries": 0}}))


def test_all_nodes_on_which_it_is_missing_are_named(site: Site, d0ctl: Type) -> None:
    submitted(site)
    lack(site, "prod/1/1/1", "localhost")
    lack(site, "prod/1/2/1", "far")

    for name in ("prod", "prod/1/1/1"):
        answer = d0ctl("why", name).stdout
        assert "`geant9` is not on the PATH of nodes `far` and `localhost`: install it" in answer


def test_a_node_on_which_the_stage_succeeded_since_or_lacks_another_one_is_not(
    site: Site, d0ctl: Type
) -> None:
    submitted(site)
    lack(site, "prod/1/1/1", "localhost")
    lack(site, "prod/1/2/1", "far")
    lack(site, "prod/1/3/1", "near", STDERR.replace("geant9", "geant8"))
    site.launch("prod/1/4/1", "far")
    site.end("prod/1/4/1")

    answer = d0ctl("why", "prod/1/1/1").stdout

    assert "`geant9` is not on the PATH of node `localhost`: install it" in answer
