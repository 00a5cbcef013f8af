"""What `node drain` and `why` say of files that packages need and only the node has."""

import time

import pytest

from d0ctl.model import Address
from d0ctl.store.nodes import contact, registry
from tests.cli.conftest import Type
from tests.cli.test_standing import await_far
from tests.support.building import production
from tests.support.rows import insert, value
from tests.support.site import Site

NEEDED = "only it has 2 files, 20 B, such as `prod:gen-1`, that job `prod` still needs"
COPY = "to copy them first: `result: yes` in the job file, then d0ctl update prod"


def has_made(site: Site, cluster: str | None = None) -> None:
    """Let a node make two files of 10 bytes that another package reads."""
    registry.add(site.store, Address("far", "ssh", "far"), cpus=2, cluster=cluster)
    site.submit(production())
    for path in ("prod/1/1/1", "prod/1/2/1"):
        site.launch(path, "far")
        site.end(path)


def test_a_drain_says_which_files_packages_need_that_only_the_node_has(
    site: Site, d0ctl: Type
) -> None:
    has_made(site)

    alone = d0ctl("node", "drain", "far", "--dry-run").stdout.splitlines()
    several = d0ctl("node", "drain", "far", "localhost", "--dry-run").stdout.splitlines()
    done = d0ctl("node", "drain", "far").stdout.splitlines()
    why = d0ctl("why", "far").stdout.splitlines()

    waits = f"{NEEDED}: packages wait for them while the node is switched off; {COPY}"
    assert alone[1:3] == ["no packages are running there", waits]
    assert several[1] == f"`far`: {waits}"
    assert done == ["drained `far`", waits]
    assert f"- {waits}" in why


def test_why_of_a_node_that_is_down_says_which_files_packages_await(
    site: Site, d0ctl: Type
) -> None:
    has_made(site)
    assert "only it has" not in d0ctl("why", "far").stdout
    with site.store.writing():
        contact.down(site.store, registry.named(site.store, "far").id, "silent", now=time.time())

    why = d0ctl("why", "far").stdout

    assert f"- {NEEDED}: packages wait for them until the node answers\n" in why


def test_unneeded_files_and_those_with_other_copies_are_not_counted(
    site: Site, d0ctl: Type
) -> None:
    has_made(site)
    copied = value(site.store, "file", "id", name="gen-1")
    insert(site.store, "location", file_id=copied, cluster_id=1, path="gen-1", made=0.0)

    some = d0ctl("node", "drain", "far", "--dry-run").stdout
    d0ctl("kill", "prod", "--yes")
    none = d0ctl("node", "drain", "far", "--dry-run").stdout

    said = (
        "only it has 1 file, 10 B, `prod:gen-2`, that job `prod` still needs: packages wait for it "
        f"while the node is switched off; {COPY.replace('them', 'it')}\n"
    )
    assert said in some
    assert "only it has" not in none


def test_the_files_of_a_node_whose_cache_another_node_has_are_not_counted(
    site: Site, d0ctl: Type
) -> None:
    registry.add(site.store, Address("near", "ssh", "near"), cpus=2, cluster="farm")
    has_made(site, cluster="farm")

    assert "only it has" not in d0ctl("node", "drain", "far", "--dry-run").stdout


AGAIN = "d0ctl set-status prod/1/1/1 unscheduled"


def test_why_names_the_command_that_makes_a_file_of_a_node_that_is_down_again_elsewhere(
    site: Site, d0ctl: Type
) -> None:
    await_far(site)

    answers = [d0ctl("why", path).stdout for path in ("prod/2/1/1", "prod/2", "prod:x")]
    done = d0ctl(*AGAIN.split()[1:])

    assert [answer.count(f"{AGAIN}   # makes `x` again elsewhere") for answer in answers] == [1] * 3
    assert (done.exit_code, site.phase("prod/1/1/1")) == (0, "ready")


@pytest.mark.parametrize("command", ["hold prod", "node drain localhost"])
def test_a_file_that_would_not_be_made_again_now_has_no_such_command(
    site: Site, d0ctl: Type, command: str
) -> None:
    await_far(site)
    d0ctl(*command.split())

    answers = [d0ctl("why", path).stdout for path in ("prod/2/1/1", "prod:x")]

    assert "set-status" not in "".join(answers)
