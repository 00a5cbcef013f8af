"""What jobs come to, and that nothing which was not made counts as a success."""

import time
from pathlib import Path

import pytest

from d0ctl.errors import DatabaseUnavailable
from d0ctl.model import Address
from d0ctl.store.nodes import contact, leases, placement, registry
from d0ctl.store.views import awaited
from tests.cli.conftest import Type
from tests.support.building import document, job, line, package, production
from tests.support.rows import change, count
from tests.support.site import Site


def test_a_job_with_a_killed_part_is_canceled(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.finish("prod/1/1/1")

    d0ctl("kill", "prod", "--reason", "wrong geometry")

    waited = d0ctl("wait", "prod")
    assert (waited.exit_code, waited.stdout) == (1, "`prod` is canceled: 1 of 8 packages done\n")
    assert document(d0ctl("status", "prod", "--json").stdout)["status"] == "canceled"
    why = d0ctl("why", "prod").stdout
    assert "job `prod` is canceled: 1 of 8 packages done, 7 canceled" in why
    assert "wrong geometry" in why
    assert "d0ctl retry 'prod:canceled'" in why


@pytest.mark.parametrize("verb", ["finish prod", "kill prod", "set-status prod/2/1/1 canceled"])
def test_no_verb_that_cancels_leaves_a_success(site: Site, d0ctl: Type, verb: str) -> None:
    site.submit(job(("a", [line(package("a"))]), ("b", [line(package("b", needs=["a"]))])))
    site.finish("prod/1/1/1")

    d0ctl(*verb.split(), "--yes")

    assert d0ctl("wait", "prod").exit_code == 1
    assert "canceled" in d0ctl("status", "prod").stdout.splitlines()[1]


def test_lines_that_were_dropped_on_purpose_do_not_count(site: Site, d0ctl: Type) -> None:
    site.submit(job(("a", [line(package("a")), line(package("b"))])))
    site.finish("prod/1/1/1")

    d0ctl("kill-line", "prod/1/2", "--drop-outputs", "--yes")

    waited = d0ctl("wait", "prod")
    assert (waited.exit_code, waited.stdout) == (0, "`prod` is successful\n")
    assert document(d0ctl("status", "prod", "--json").stdout)["dropped"] == 1


IMPOSSIBLE = """
job: res
stages:
  - name: wide
    lines: [{run: "true", cpus: 640}]
  - name: vax
    lines: [{run: "true", platform: vax}]
  - name: sam
    lines: [{run: "true", needs: SAM}, {run: "true"}]
  - name: none
    lines: [{run: "true", nodes: localhost, exclude-nodes: localhost}]
"""


@pytest.mark.parametrize("verb", ["submit", "run", "submit --dry-run", "run --dry-run"])
def test_work_that_no_node_can_ever_take_is_refused_with_the_reason(
    site: Site, d0ctl: Type, tmp_path: Path, verb: str
) -> None:
    site.up()
    file = tmp_path / "res.yaml"
    file.write_text(IMPOSSIBLE)

    result = d0ctl(*verb.split(), str(file))

    assert result.exit_code == 4
    first, *reasons, last = result.stderr.splitlines()
    assert first == "d0ctl: no node can ever take some of its packages"
    assert sorted(reasons) == [
        "  stage `none`: `localhost` is ruled out (excluded by the package)",
        "  stage `sam`: `localhost` is ruled out (no service SAM)",
        "  stage `vax`: `localhost` is ruled out (platform linux-x86_64, not vax)",
        "  stage `wide`: `localhost` is ruled out (4 CPUs, needs 640)",
    ]
    assert last == "`d0ctl node list` shows the nodes; with `--force` the job is submitted anyway"
    assert d0ctl("status", "res").exit_code == 3
    assert count(site.store, "package") == 0


def test_impossible_work_is_accepted_with_allow_unfit(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    site.up()
    file = tmp_path / "res.yaml"
    file.write_text(IMPOSSIBLE)

    planned = d0ctl("submit", str(file), "--force", "--dry-run").stdout
    result = d0ctl("submit", str(file), "--force", "--json")
    cloned = [d0ctl("clone", "res", "--force", *more).stdout for more in (["--dry-run"], [])]

    assert result.exit_code == 0
    answer = document(result.stdout)
    assert [row["stage"] for row in answer["no_node"]] == ["wide", "vax", "sam", "none"]
    assert answer["no_node"][0]["nodes"] == {"localhost": "4 CPUs, needs 640"}
    for said in (planned, result.stderr, *cloned):
        assert "no node can take it yet: stage `wide`: " in said


def test_unknown_facts_of_a_node_refuse_nothing(site: Site, d0ctl: Type, tmp_path: Path) -> None:
    registry.add(site.store, Address("farm", "ssh", "farm"), cpus=None)
    file = tmp_path / "res.yaml"
    file.write_text(
        "job: res\nstages: [{name: a, lines: [{run: 'true', cpus: 64, platform: vax}]}]\n"
    )

    assert d0ctl("submit", str(file)).exit_code == 0


def test_without_any_node_nothing_is_refused(site: Site, d0ctl: Type, tmp_path: Path) -> None:
    site.submit(production())
    registry.forget(site.store, "localhost", now=time.time())
    file = tmp_path / "res.yaml"
    file.write_text("job: res\nstages: [{name: a, lines: [{run: 'true', cpus: 64}]}]\n")

    assert d0ctl("submit", str(file)).exit_code == 0
    waited = d0ctl("wait", "res")
    assert (waited.exit_code, waited.stdout) == (1, "`res` stands still: there are no nodes\n")


def test_waiting_ends_when_no_node_can_ever_take_the_remaining_packages(
    site: Site, d0ctl: Type
) -> None:
    site.submit(job(("a", [line(package("a", cpus=64)), line(package("b"))])))
    site.up()
    site.finish("prod/1/2/1")

    waited = d0ctl("wait", "prod")

    assert waited.exit_code == 1
    assert waited.stdout == (
        "`prod` stands still: 1 package is ready, and no node can take it: "
        "`localhost` is ruled out (4 CPUs, needs 64)\n"
    )
    assert waited.stderr.splitlines()[-1] == "d0ctl why prod"


def test_nodes_beyond_the_first_that_can_take_nothing_are_counted(site: Site, d0ctl: Type) -> None:
    site.submit(job(("a", [line(package("a", cpus=64)), line(package("b", cpus=64))])))
    for name in ("n1", "n2", "n3"):
        registry.add(site.store, Address(name, "ssh", name), cpus=2)

    said = d0ctl("wait", "prod").stdout

    assert said.startswith("`prod` stands still: 2 packages are ready, and no node can take them: ")
    assert said.endswith(" and 1 more node\n")


def test_waiting_ends_when_every_fitting_node_is_drained(site: Site, d0ctl: Type) -> None:
    site.submit(job(("a", [line(package("a"))])))
    site.up()
    d0ctl("node", "drain", "localhost", "--reason", "new disks")

    waited = d0ctl("wait", "prod")

    assert waited.exit_code == 1
    assert "`localhost` is drained (new disks)" in waited.stdout


def test_a_node_that_is_down_is_waited_for_as_long_as_the_site_says(
    site: Site, d0ctl: Type
) -> None:
    site.submit(job(("a", [line(package("a"))])))
    site.up()
    with site.store.writing():
        contact.down(site.store, 1, "no route to host", now=time.time() - 600)

    assert d0ctl("wait", "prod", "--timeout", "0.2s").exit_code == 1
    with site.store.writing():
        change(site.store, "node", since=time.time() - 86400)

    waited = d0ctl("wait", "prod")
    assert waited.exit_code == 1
    assert "`localhost` has been down for" in waited.stdout
    assert "no route to host" in waited.stdout


def test_waiting_ends_when_the_job_that_makes_an_input_is_held(site: Site, d0ctl: Type) -> None:
    site.submit(job(("a", [line(package("x"))]), name="raw", hold=True))
    site.submit(job(("a", [line(package("y", needs=["raw:x"]))])))
    site.up()

    waited = d0ctl("wait", "prod")

    assert waited.exit_code == 1
    assert "it waits for files of `raw`, which is held or paused" in waited.stdout
    assert "d0ctl why raw" in d0ctl("why", "prod").stdout


def test_waiting_can_end_after_a_time(site: Site, d0ctl: Type) -> None:
    site.submit(production())

    waited = d0ctl("wait", "prod", "--timeout", "0.3s")

    assert waited.exit_code == 1
    assert waited.stderr.splitlines() == [
        "no daemon is running, so nothing new starts: `d0ctl daemon start`, or `d0ctl run prod`",
        "`prod` has not ended after 0.3 s (submitted): d0ctl why prod",
    ]
    assert d0ctl("wait", "prod", "--timeout", "soon").exit_code == 2


@pytest.mark.parametrize("command", ["wait late", "submit {file} --wait --force"])
def test_waiting_ends_when_no_daemon_comes(
    site: Site, d0ctl: Type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    monkeypatch.setattr(awaited, "NO_DAEMON_S", 0.1)
    file = tmp_path / "job.yaml"
    file.write_text("job: late\nstages: [{lines: [{run: echo}]}]\n")
    if "submit" not in command:
        d0ctl("submit", str(file))

    waited = d0ctl(*command.format(file=file).split())

    assert waited.exit_code == 5
    assert waited.stderr.splitlines() == [
        "no daemon is running, so nothing new starts: `d0ctl daemon start`, or `d0ctl run late`",
        "d0ctl: `late` has not ended, and no daemon has been running for 0.1 s",
        "d0ctl daemon start",
    ]


def test_wait_continues_when_a_daemon_starts(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(awaited, "NO_DAEMON_S", 0.0)
    daemon = awaited.DaemonWatch(site.store)
    assert not daemon.check()
    with pytest.raises(DatabaseUnavailable):
        daemon.give_up("prod")

    with site.store.writing():
        leases.take_lease(site.store, leases.LEASE, now=time.time())

    assert daemon.check()
    daemon.give_up("prod")


def test_a_submission_waits_as_long_as_wait_does(site: Site, d0ctl: Type, tmp_path: Path) -> None:
    file = tmp_path / "job.yaml"
    file.write_text("job: late\nstages: [{lines: [{run: echo}]}]\n")

    waited = d0ctl("submit", str(file), "--wait", "--timeout", "0.3s")

    assert waited.exit_code == 1
    assert waited.stderr.splitlines() == [
        "no daemon is running, so nothing new starts: `d0ctl daemon start`, or `d0ctl run late`",
        "`late` has not ended after 0.3 s (submitted): d0ctl why late",
    ]


@pytest.mark.parametrize("rest", ["--timeout 1s", "--wait --timeout soon"])
def test_a_time_to_wait_is_read_before_a_job_is_submitted(
    site: Site, d0ctl: Type, tmp_path: Path, rest: str
) -> None:
    file = tmp_path / "job.yaml"
    file.write_text("job: late\nstages: [{lines: [{run: echo}]}]\n")

    refused = d0ctl("submit", str(file), *rest.split())

    assert (refused.exit_code, refused.stdout) == (2, "")
    assert d0ctl("status", "late").exit_code == 3


def test_the_numbers_of_all_jobs_count_the_failures_of_ended_ones_until_they_are_acknowledged(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production())
    site.submit(production("other"))
    site.submit(job(("only", [line(package("x"))]), name="ended"))
    site.fail("ended/1/1/1")
    site.fail("prod/1/1/1")
    placement.end_jobs(site.store, now=time.time())

    def of_all() -> str:
        return next(line for line in d0ctl("status").stdout.splitlines() if "active jobs" in line)

    assert of_all().startswith("1 failed  ") and of_all().endswith("2 active jobs")
    assert "  1 failed in ended jobs  " in of_all()
    d0ctl("acknowledge", "ended", "--reason", "known")
    assert of_all().startswith("1 failed  ") and "in ended jobs" not in of_all()
