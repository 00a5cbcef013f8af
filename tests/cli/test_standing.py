"""`why` of jobs and nodes says the cause first; times left only where they are known."""

import time

import pytest
from msgspec.structs import replace

from d0ctl.model import Address, known_eta
from d0ctl.store.nodes import contact, leases, registry
from d0ctl.store.views.job_files import eta
from tests.cli.conftest import Type
from tests.support.building import document, job, line, package, production
from tests.support.site import Site


def drive(site: Site) -> None:
    """A daemon lives."""
    with site.store.writing():
        leases.take_lease(site.store, "daemon", now=time.time())


def down(site: Site, name: str) -> None:
    """A node stops answering."""
    with site.store.writing():
        node = registry.named(site.store, name).id
        contact.down(site.store, node, "connection refused", now=time.time())


def mixed(site: Site) -> None:
    """A job with failures, packages that no node can take, one that cools off and one that runs."""
    lines = [line(package(f"x{n}")) for n in range(1, 6)]
    site.submit(job(("a", [*lines, line(package("big", cpus=64))]), name="bad"))
    site.fail("bad/1/1/1")
    site.fail("bad/1/2/1", reason="looping", detail="no output for 2 h")
    site.fail("bad/1/3/1", reason="stage-in", detail="no answer")
    site.launch("bad/1/4/1")


def test_why_of_a_job_lists_failures_before_unfit_and_running_packages(
    site: Site, d0ctl: Type
) -> None:
    drive(site)
    mixed(site)

    answer = d0ctl("why", "bad").stdout

    assert answer.startswith(
        "job `bad` has failures: 2 packages failed, the last `bad/1/2/1`: looping"
    )
    order = ["failed: 1 for", "no node can take 1 package", "is running: 1 package is launched",
             "1 package is cooling off"]  # fmt: skip
    places = [answer.index(text) for text in order]
    assert places == sorted(places)
    assert "runs yet" not in answer


def test_a_job_whose_nodes_are_all_down_stands_still(site: Site, d0ctl: Type) -> None:
    drive(site)
    site.submit(production())
    site.launch("prod/1/1/1")
    down(site, "localhost")

    answer = d0ctl("why", "prod").stdout

    assert answer.startswith("job `prod` stands still: 0 of 1 node up: `localhost` down since ")
    assert "1 package is unreachable" in answer
    assert "is running" not in answer
    assert "d0ctl node check localhost" in answer


def test_a_paused_job_says_so_while_something_runs(site: Site, d0ctl: Type) -> None:
    drive(site)
    site.submit(production())
    site.launch("prod/1/1/1")
    d0ctl("pause", "prod", "--reason", "beam")

    answer = d0ctl("why", "prod").stdout

    assert answer.startswith("nothing more of job `prod` starts: job `prod` has been paused by ")
    assert "- 1 package is launched\n" in answer
    assert "d0ctl resume prod" in answer


def test_a_job_that_has_run_never_says_that_nothing_runs_yet(site: Site, d0ctl: Type) -> None:
    drive(site)
    site.submit(production())
    site.finish("prod/1/1/1")

    assert d0ctl("why", "prod").stdout.startswith("no package of job `prod` is running now: ")


def await_far(site: Site) -> None:
    """A package on `localhost` waits for the file of another on `far`, which is down."""
    drive(site)
    registry.add(site.store, Address("far", "ssh", "far"), cpus=2)
    site.up("far", machine_id="m2", base="/tmp/far")
    first, second, *others = (
        replace(spec, binaries=(replace(spec.binaries[0], runtime=60.0),))
        for spec in (package("x"), package("y", needs=["x"]), package("z1"), package("z2"))
    )
    more = [line(spec) for spec in others]
    site.submit(job(("a", [line(first)]), ("b", [line(second)]), ("c", more)))
    site.launch("prod/1/1/1", "far")
    site.end("prod/1/1/1")
    site.up()
    site.assign("prod/2/1/1")
    down(site, "far")


def test_a_job_with_a_file_on_a_node_that_is_down_has_no_end_and_says_what_it_awaits(
    site: Site, d0ctl: Type
) -> None:
    await_far(site)
    waits = "some of its packages or inputs are on `far`, which is down"

    assert d0ctl("eta", "prod").stdout.startswith(f"prod  no estimate of its end: {waits}\n")
    assert waits in d0ctl("status", "prod").stdout
    estimate = document(d0ctl("eta", "prod", "--json").stdout)
    assert (estimate["end"], estimate["waits_for_nodes"]) == (None, ["far"])
    (shown,) = document(d0ctl("status", "--json").stdout)["jobs"]
    assert (shown["estimated_end"], shown["waits_for_nodes"]) == (None, ["far"])
    assert eta.end_of(site.store, 1, now=time.time()) is None, "the tree shows no end"

    site.up("far", machine_id="m2", base="/tmp/far")

    assert "ends about" in d0ctl("eta", "prod").stdout
    assert waits not in d0ctl("status", "prod").stdout
    assert eta.end_of(site.store, 1, now=time.time()) is not None
    assert document(d0ctl("eta", "prod", "--json").stdout)["waits_for_nodes"] == []


def test_an_input_on_a_node_that_is_down_is_not_on_its_way(site: Site, d0ctl: Type) -> None:
    await_far(site)

    answer = d0ctl("why", "prod/2/1/1").stdout

    assert "file `x` can't be copied: node `far` is down: connection refused" in answer
    assert "on its way" not in answer
    assert "d0ctl node check far" in answer
    assert "d0ctl node remove far   # if it is gone for good" in answer
    assert "` begins" not in answer
    assert "d0ctl node remove far   # if it is gone for good" in d0ctl("why", "far").stdout


def test_a_node_that_was_used_by_run_was_contacted(site: Site, d0ctl: Type) -> None:
    site.up()
    with site.store.writing():
        site.store.change("node_unknown", node=1, now=time.time())

    answer = d0ctl("why", "localhost").stdout

    assert answer.startswith("node `localhost` is not in contact (last reached at ")
    assert "no daemon is running" in answer
    assert "not reached yet" not in answer


@pytest.mark.parametrize(
    ("phase", "eta", "known"),
    [("running", 110.0, True), ("running", 100.0, False), ("suspended", 110.0, False),
     ("unreachable", 110.0, False)],
)  # fmt: skip
def test_a_time_left_is_known_only_while_there_is_progress(
    phase: str, eta: float, known: bool
) -> None:
    assert (known_eta(phase, eta, 100.0) is not None) is known


def test_an_unknown_reason_is_refused(site: Site, d0ctl: Type) -> None:
    result = d0ctl("status", "--reason", "looping-out")

    assert result.exit_code == 2
    assert "`looping-out` is not a failure reason" in result.stderr
    assert "did you mean `looping`?" in d0ctl("status", "--reason", "loopin").stderr


def test_a_file_that_is_not_there_is_no_state(site: Site, d0ctl: Type) -> None:
    site.submit(production())

    assert "`failed`" not in d0ctl("why", "prod:nofile").stderr


def test_logs_of_a_job_of_one_package_are_those_of_the_package(site: Site, d0ctl: Type) -> None:
    site.submit(job(("a", [line(package("x"))])))

    assert "package `prod/1/1/1` has not run yet" in d0ctl("logs", "prod").stderr


@pytest.mark.parametrize("verb", ["logs", "peek"])
def test_commands_of_several_packages_visit_them_one_by_one(
    verb: str, site: Site, d0ctl: Type
) -> None:
    site.submit(production())

    result = d0ctl(verb, "prod/1/1,2/1")

    assert result.exit_code == 3
    assert result.stdout == "== prod/1/1/1 ==\n== prod/1/2/1 ==\n"
    assert "d0ctl: package `prod/1/2/1` has not run yet: it is ready" in result.stderr


def test_too_many_packages_to_visit_are_counted(site: Site, d0ctl: Type) -> None:
    site.submit(job(("a", [line(package(f"x{n}")) for n in range(21)])))

    assert d0ctl("logs", "prod").stderr == (
        "d0ctl: `logs` takes at most 20 packages, and `prod` has 21\n"
        "d0ctl logs prod/1/1/1, or d0ctl logs prod --failed\n"
    )
    assert d0ctl("logs", "prod/1/1,2", "-f").stderr == (
        "d0ctl: `logs --follow` takes one package, and `prod/1/1 prod/1/2` has 2\n"
        "d0ctl logs prod/1/1/1\n"
    )


def test_keep_going_changes_all_packages_that_can_be_changed(site: Site, d0ctl: Type) -> None:
    site.submit(production())

    whole = d0ctl("hold", "prod/1/1/1", "other/1", "prod/1/2/1")
    each = d0ctl("hold", "prod/1/1/1", "other/1", "prod/1/2/1", "--keep-going")

    assert (whole.exit_code, each.exit_code) == (3, 3)
    assert each.stdout == "held package `prod/1/1/1`\nheld package `prod/1/2/1`\n"
    assert "d0ctl: there is no job `other`\n" in each.stderr


def test_a_status_in_front_of_a_selector_is_corrected_in_a_suggestion(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production())

    result = d0ctl("set-status", "successful", "prod/1/1/1")

    assert result.exit_code == 2
    assert result.stderr.endswith("d0ctl set-status prod/1/1/1 successful\n")


def test_run_with_an_unknown_argument_mentions_files_and_jobs(site: Site, d0ctl: Type) -> None:
    site.submit(production())

    result = d0ctl("run", "prot")

    assert result.exit_code == 3
    assert result.stderr == "d0ctl: there is no file and no job `prot`\ndid you mean `prod`?\n"


def test_the_node_list_shows_the_last_contact_by_run(site: Site, d0ctl: Type) -> None:
    site.up()
    with site.store.writing():
        site.store.change("node_unknown", node=1, now=time.time())

    answer = d0ctl("node", "list").stdout

    assert "not connected" in answer
    assert "last heard " in answer
    assert "unknown" not in answer


def test_a_blocked_package_is_blocked_with_its_reason_wherever_it_is_shown(
    site: Site, d0ctl: Type
) -> None:
    drive(site)
    site.submit(production(lines=1))
    site.fail("prod/1/1/1")

    for words in (["prod/1/1"], ["prod/1/1/*"], ["prod:waiting"]):
        reply = d0ctl("status", *words).stdout
        assert "its input is produced only after a retry" in reply
        assert "blocked" in reply
        assert "waiting" not in reply
    for verb in ("status", "why"):
        answer = d0ctl(verb, "prod/1/1/2").stdout
        assert "package `prod/1/1/2` is blocked: " in answer
        assert "waiting" not in answer


def test_a_package_after_a_failed_one_of_its_line_is_blocked_while_other_lines_move(
    site: Site, d0ctl: Type
) -> None:
    drive(site)
    site.submit(production(lines=2))
    site.fail("prod/1/1/1")
    site.launch("prod/1/2/1")

    assert "blocked" in d0ctl("status", "prod/1/1/2").stdout
    assert "package `prod/1/1/2` is blocked: " in d0ctl("why", "prod/1/1/2").stdout
    assert "blocked" not in d0ctl("status", "prod/2/1/1").stdout
