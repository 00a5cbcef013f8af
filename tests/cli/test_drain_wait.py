"""`node drain --wait`: it ends when no packages are left on the nodes."""

import signal
import subprocess
import sys
import time
from pathlib import Path

from d0ctl.model import Address
from d0ctl.store.nodes import contact, draining, registry
from tests.cli.conftest import Type
from tests.cli.test_standing import drive
from tests.support.building import production
from tests.support.rows import insert, value
from tests.support.site import Site
from tests.support.waiting import PATIENCE_S

PROGRAM = Path(sys.executable).with_name("d0ctl")


def waiting(*names: str) -> "subprocess.Popen[str]":
    """A drain of the real program that waits, once it has said so."""
    words = [str(PROGRAM), "node", "drain", *names, "--wait"]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    assert process.stderr.readline().startswith("to undo: d0ctl node resume ")
    return process


def busy(site: Site) -> None:
    """A daemon, and a package that runs on `localhost`; `n2` has none."""
    drive(site)
    site.up()
    registry.add(site.store, Address("n2", "ssh", "n2"), cpus=2)
    site.submit(production())
    site.launch("prod/1/1/1")


def test_it_ends_once_the_last_package_has_ended(site: Site) -> None:
    busy(site)
    process = waiting("localhost", "n2")

    site.end("prod/1/1/1")
    out, err = process.communicate(timeout=PATIENCE_S)

    assert (process.returncode, err) == (0, "")
    assert out == (
        "drained `localhost`: 1 package still there\ndrained `n2`\n"
        "no packages are left on `localhost` and `n2`\n"
    )


def test_it_waits_also_for_a_node_that_is_drained(site: Site, d0ctl: Type) -> None:
    busy(site)
    site.send("prod/1/2/1", "localhost")
    d0ctl("node", "drain", "localhost")

    late = d0ctl("node", "drain", "localhost", "--wait", "--timeout", "1s")
    with_other = d0ctl("node", "drain", "*", "--wait", "--timeout", "1s")

    assert (late.exit_code, late.stdout) == (1, "`localhost` is already drained\n")
    assert late.stderr == "`localhost` still has 2 packages: d0ctl why localhost\n"
    assert with_other.exit_code == 1
    assert with_other.stdout == "drained `n2`\n`localhost` is already drained\n"


WAITS = (
    "only it has 1 file, 10 B, `prod:gen-2`, that job `prod` still needs: packages wait for it "
    "while the node is switched off; to copy it first: `result: yes` in the job file, then "
    "d0ctl update prod"
)


def test_it_says_at_the_end_which_files_only_the_nodes_have(site: Site, d0ctl: Type) -> None:
    busy(site)
    site.up("n2")
    site.launch("prod/1/2/1", "n2")
    process = waiting("n2")

    site.end("prod/1/2/1")
    out, _ = process.communicate(timeout=PATIENCE_S)
    again = d0ctl("node", "drain", "n2", "--wait").stdout
    site.end("prod/1/1/1")
    both = d0ctl("node", "drain", "*", "--wait").stdout

    assert out.splitlines()[1:] == ["no packages are left on `n2`", WAITS]
    assert again.splitlines() == ["`n2` is already drained", "no packages are left on `n2`", WAITS]
    assert both.splitlines()[-2:] == ["no packages are left on `localhost` and `n2`",
                                      f"`n2`: {WAITS}"]  # fmt: skip


def test_files_on_their_way_to_results_are_not_to_be_copied(site: Site, d0ctl: Type) -> None:
    busy(site)
    site.launch("prod/1/2/1", "n2")
    site.end("prod/1/2/1")
    file = value(site.store, "file", "id", name="gen-2")
    insert(site.store, "transfer", file_id=file, cluster_id=1, result=1, wanted=0.0)

    assert WAITS.partition(";")[0] + "\n" in d0ctl("node", "drain", "n2", "--dry-run").stdout


def test_it_ends_if_the_node_is_resumed(site: Site) -> None:
    busy(site)
    process = waiting("localhost")

    draining.resume(site.store, 1)
    _, err = process.communicate(timeout=PATIENCE_S)

    assert process.returncode == 1
    assert err == (
        "`localhost` is not drained any more, and still has 1 package: d0ctl why localhost\n"
    )


def test_it_says_that_a_node_is_down_or_no_daemon_is_running(site: Site, d0ctl: Type) -> None:
    site.up()
    site.submit(production())
    site.launch("prod/1/1/1")
    with site.store.writing():
        contact.down(site.store, 1, "no route to host", now=time.time())

    late = d0ctl("node", "drain", "localhost", "--wait", "--timeout", "1s")

    assert late.exit_code == 1
    assert "`localhost` is down with 1 package: d0ctl why localhost\n" in late.stderr
    assert late.stderr.count("no daemon is running") == 1


def test_an_interrupted_wait_leaves_the_node_drained(site: Site, d0ctl: Type) -> None:
    busy(site)
    process = waiting("localhost")

    process.send_signal(signal.SIGINT)
    process.communicate(timeout=PATIENCE_S)

    assert process.returncode == 130
    assert registry.named(site.store, "localhost").drained


def test_a_timeout_needs_a_wait_and_a_rehearsal_does_not_wait(site: Site, d0ctl: Type) -> None:
    busy(site)

    refused = d0ctl("node", "drain", "localhost", "--timeout", "1s")
    planned = d0ctl("node", "drain", "localhost", "--wait", "--dry-run")

    assert (refused.exit_code, "--timeout needs --wait" in refused.stderr) == (2, True)
    assert (planned.exit_code, "would drain `localhost`" in planned.stdout) == (0, True)
    assert d0ctl("node", "drain", "nowhere", "--wait").exit_code == 3
