"""set-status, as it is typed."""

import time
from pathlib import Path

import pytest

from d0ctl.store.checks.check import faults
from d0ctl.store.files import copies
from d0ctl.store.jobs import unneeded_files
from d0ctl.store.nodes import contact, registry
from tests.cli.conftest import Type
from tests.support.building import document, job, line, package, production
from tests.support.rows import change, read
from tests.support.site import Site


def test_an_ended_package_is_set_unscheduled_by_hand(site: Site, d0ctl: Type) -> None:
    site.submit(production(lines=2))
    site.finish("prod/1/1/1")
    site.finish("prod/1/1/2")
    site.fail("prod/1/2/1")

    result = d0ctl("set-status", "prod/1/1-2", "unscheduled", "--reason", "bad calibration")

    assert result.stdout == (
        "set 3 packages of `prod/1/1-2` to unscheduled\nunchanged: 1 waiting\n"
    )
    phases = [site.phase(f"prod/1/{at}") for at in ("1/1", "1/2", "2/1")]
    assert phases == ["ready", "waiting", "ready"]
    assert faults(site.store) == []
    site.finish("prod/1/1/1")
    site.finish("prod/1/1/2")
    assert faults(site.store) == []


def test_what_else_runs_again_and_what_does_not_is_said(site: Site, d0ctl: Type) -> None:
    site.submit(production(lines=2))
    for path in ("1/1/1", "1/1/2", "1/2/1", "1/2/2", "2/1/1", "3/1/1"):
        site.finish(f"prod/{path}")
    files = read(site.store, "location", "file_id", "cluster_id", "path", by="file_id")
    gone = [(file, cluster) for file, cluster, path in files if "sim-" in path or "gen-" in path]
    with site.store.writing():
        copies.lose(site.store, gone, now=time.time())

    plan = d0ctl("set-status", "prod/2", "unscheduled", "--dry-run").stdout
    done = d0ctl("set-status", "prod/2", "unscheduled").stdout

    assert plan.endswith(
        "4 packages would run again, too, because their outputs were removed\n"
        "  prod/1/1/1\n  prod/1/1/2\n  prod/1/2/1\n  prod/1/2/2\n"
        "1 package has read earlier files of these, and will not run again by this\n  prod/3/1/1\n"
        "to run it again, once these have changed: d0ctl update prod/3/1/1 --again\n"
    )
    assert done.endswith(f"4 packages will{plan.partition('4 packages would')[2]}")
    assert site.phase("prod/1/2/1") == "ready"
    assert faults(site.store) == []


def test_the_commands_of_all_jobs_with_readers_are_named_in_order(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    site.submit(production(lines=2))
    use = tmp_path / "use.yaml"
    use.write_text('job: use\nstages: [{lines: [{run: cat sim-1, inputs: "prod:sim-1"}]}]\n')
    assert d0ctl("submit", str(use)).exit_code == 0
    for path in ("prod/1/1/1", "prod/1/1/2", "prod/1/2/1", "prod/1/2/2", "prod/2/1/1", "use/1/1/1"):
        site.finish(path)

    said = d0ctl("set-status", "prod/1/1/2", "unscheduled").stdout

    assert said.endswith(
        "2 packages have read earlier files of these, and will not run again by this\n"
        "  prod/2/1/1\n  use/1/1/1\n"
        "to run them again, once these have changed: d0ctl update prod --again, "
        "and once that has ended: d0ctl update use --again\n"
    )


def test_failed_readers_of_a_file_that_is_made_again_are_named_with_their_retry(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production(lines=1))
    site.finish("prod/1/1/1")
    site.finish("prod/1/1/2")
    site.fail("prod/2/1/1")
    named = "1 package that failed read earlier files of these: d0ctl retry prod/2/1/1"

    for more in (["--dry-run"], []):
        said = d0ctl("set-status", "prod/1/1/2", "unscheduled", *more).stdout
        assert said.splitlines()[-1] == named
    renewed = "`sim-1` was changed or made again since this failure: a retry reads the new contents"
    site.launch("prod/1/1/2")
    assert "made again since" not in d0ctl("why", "prod/2/1/1").stdout
    site.end("prod/1/1/2")
    same = " ".join(d0ctl("why", "prod/2/1/1").stdout.split())
    assert (renewed in same, "a plain retry" in same) == (False, True), "its contents are the same"
    with site.store.writing():
        change(site.store, "file", {"name": "sim-1"}, replaced=time.time())
    explained = " ".join(d0ctl("why", "prod/2/1/1").stdout.split())
    assert (renewed in explained, "a plain retry" in explained) == (True, False)
    assert "d0ctl retry prod/2/1/1" in explained
    assert d0ctl("retry", "prod/2/1/1").exit_code == 0
    assert site.phase("prod/2/1/1") == "ready"
    assert faults(site.store) == []


def test_a_reader_of_a_file_that_is_made_again_waits_for_it(site: Site, d0ctl: Type) -> None:
    site.submit(production(lines=1))
    site.finish("prod/1/1/1")
    site.finish("prod/1/1/2")
    assert site.phase("prod/2/1/1") == "ready"

    d0ctl("set-status", "prod/1/1/2", "unscheduled")

    assert site.phase("prod/1/1/2") == "ready"
    assert site.phase("prod/2/1/1") == "waiting"
    assert faults(site.store) == []


def test_successful_packages_of_a_dropped_line_do_not_run_again(site: Site, d0ctl: Type) -> None:
    site.submit(production(lines=2))
    for path in ("prod/1/1/1", "prod/1/1/2", "prod/1/2/1", "prod/1/2/2", "prod/2/1/1"):
        site.finish(path)
    d0ctl("kill-line", "prod/1/2", "--drop-outputs")

    refused = d0ctl("set-status", "prod/1/2/2", "unscheduled")
    rest = d0ctl("set-status", "prod/1", "unscheduled")

    assert refused.exit_code == 4
    assert refused.stderr.endswith("d0ctl restore-line prod/1/2\n")
    assert d0ctl("retry", "prod/1/2/2").stderr.endswith("d0ctl restore-line prod/1/2\n")
    assert "2 successful packages of dropped lines will run again only once" in rest.stdout
    assert [site.phase(f"prod/1/{path}") for path in ("1/1", "2/1", "2/2")] == [
        "ready", "done", "done",
    ]  # fmt: skip
    assert faults(site.store) == []


def test_a_failed_package_is_set_successful_only_with_its_outputs(site: Site, d0ctl: Type) -> None:
    site.submit(job(("a", [line(package("x")), line(package(), package())])))
    site.fail("prod/1/1/1")
    site.fail("prod/1/2/1")

    refused = d0ctl("set-status", "prod/1/1/1", "successful")
    result = d0ctl("set-status", "prod/1/2/1", "successful")

    assert refused.exit_code == 4
    assert (
        "output `x` of `prod/1/1/1` is missing, so it can't be set to successful" in refused.stderr
    )
    assert "d0ctl why prod/1/1/1" in refused.stderr and "retry" not in refused.stderr
    assert result.exit_code == 0
    assert [site.phase(f"prod/1/2/{n}") for n in (1, 2)] == ["done", "ready"]
    assert faults(site.store) == []


def test_an_unreachable_package_can_be_given_up_by_hand(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    attempt = site.launch("prod/1/1/1")
    here = registry.named(site.store, "localhost").id
    with site.store.writing():
        contact.down(site.store, here, "no answer", now=time.time())

    result = d0ctl("set-status", "prod/1/1/1", "failed", "--reason", "the machine is gone")

    assert result.exit_code == 0
    assert site.phase("prod/1/1/1") == "failed"
    site.end("prod/1/1/1")
    assert site.phase("prod/1/1/1") == "failed"
    answer = document(d0ctl("status", "prod/1/1/1", "--json").stdout)["attempts"][0]
    assert (attempt, answer["outcome"], answer["message"]) == (
        attempt,
        "lost",
        "the machine is gone",
    )
    assert faults(site.store) == []


@pytest.mark.parametrize(
    ("words", "code", "expected"),
    [
        (["prod/1/1/1", "launched"], 2, "`launched` can't be set by hand"),
        (["prod/1/1/1", "failed"], 4, "is ready, so it can't be set to failed"),
        (["prod/9", "failed"], 3, "there is no stage 9"),
    ],
)
def test_statuses_that_contradict_the_files_are_refused(
    site: Site, d0ctl: Type, words: list[str], code: int, expected: str
) -> None:
    site.submit(production())

    result = d0ctl("set-status", *words)

    assert result.exit_code == code
    assert expected in result.stderr


def test_a_failed_package_is_canceled_by_hand(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.fail("prod/1/1/1")

    assert d0ctl("set-status", "prod/1/1", "canceled").exit_code == 0

    assert [site.phase(f"prod/1/1/{n}") for n in (1, 2)] == ["canceled", "canceled"]


def test_a_job_that_is_being_killed_is_removed_after_a_wait(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.launch("prod/1/1/1")
    assert d0ctl("remove", "prod", "--yes").stderr.endswith("d0ctl kill prod\n")
    assert d0ctl("kill", "prod", "--yes").exit_code == 0

    assert d0ctl("remove", "prod", "--yes").stderr.endswith("d0ctl wait prod\n")


def test_outputs_that_a_failure_left_on_its_node_are_made_but_not_accepted(
    site: Site, d0ctl: Type
) -> None:
    site.submit(job(("a", [line(package("x")), line(package("y"))])))
    site.fail("prod/1/1/1")
    site.fail("prod/1/2/1")
    with site.store.writing():
        first = {"package_id": site.id_of("prod/1/1/1")}
        change(site.store, "attempt", first, left_size=4_000, base="/scratch")

    left, none = d0ctl("status", "prod/1/1/1").stdout, d0ctl("status", "prod/1/2/1").stdout

    assert "its outputs (4.0 kB) stay in `/scratch/cache/1` on `localhost` until " in left
    assert ", or until its disk is full" in " ".join(left.split())
    assert "not accepted: the attempt failed" in left
    assert "not made yet" not in left
    assert "not made yet" in none


def test_kept_outputs_that_were_removed_for_space_are_named(site: Site, d0ctl: Type) -> None:
    site.submit(job(("a", [line(package("x"))])))
    site.fail("prod/1/1/1")
    with site.store.writing():
        first = {"package_id": site.id_of("prod/1/1/1")}
        change(site.store, "attempt", first, left_size=4_000, base="/scratch")
        gone = unneeded_files.make_space(site.store, 1, 10, now=time.time() + 60)

    assert gone == ["attempt 1"]
    removed = "its kept outputs were removed because its node needed space"
    assert f"- {removed}, " in d0ctl("why", "prod/1/1/1").stdout
    assert removed in d0ctl("history", "prod/1/1/1").stdout
    assert f"attempt 1: {removed}" in d0ctl("status", "prod/1/1/1").stdout


def test_kept_outputs_that_were_removed_at_their_date_are_named(site: Site, d0ctl: Type) -> None:
    site.submit(job(("a", [line(package("x")), line(package("y"))])))
    site.fail("prod/1/1/1")
    site.fail("prod/1/2/1")
    with site.store.writing():
        for path, left in {"prod/1/1/1": 4_000, "prod/1/2/1": 0}.items():
            change(site.store, "attempt", {"package_id": site.id_of(path)}, left_size=left)
        unneeded_files.expire(site.store, before=time.time() + 60, now=time.time())

    removed = "its kept outputs were removed as planned, after `keep-failed`"
    assert f"- {removed}, " in d0ctl("why", "prod/1/1/1").stdout
    assert f"- {removed}, " in d0ctl("why", "prod:x").stdout
    assert removed in d0ctl("history", "prod/1/1/1").stdout
    assert "kept outputs" not in d0ctl("why", "prod/1/2/1").stdout  # it had left none
