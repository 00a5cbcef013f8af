"""retry, as it is typed."""

from pathlib import Path

import pytest

from d0ctl.store.checks.check import faults
from tests.cli.conftest import Type
from tests.support.building import document, job, line, package, production
from tests.support.rows import change, read
from tests.support.site import Site


def test_only_failed_packages_are_retried(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.finish("prod/1/1/1")
    site.fail("prod/1/2/1")
    d0ctl("kill", "prod/1/3/1")

    result = d0ctl("retry", "prod", "--reason", "fixed the disk")

    assert result.stdout.startswith("retried package `prod/1/2/1`\nunchanged: ")
    assert [site.phase(f"prod/1/{n}/1") for n in (1, 2, 3)] == ["done", "ready", "canceled"]
    answer = document(d0ctl("status", "prod/1/2/1", "--json").stdout)
    assert (answer["request"], answer["note"]) == ("resubmit", "fixed the disk")
    assert answer["failures"][0]["reason"] == "exit-code"
    assert faults(site.store) == []


def test_a_retry_is_under_way_until_it_is_launched(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.fail("prod/1/1/1")
    d0ctl("retry", "prod/1/1/1")

    site.launch("prod/1/1/1")

    answer = document(d0ctl("status", "prod/1/1/1", "--json").stdout)
    assert answer["request"] is None
    assert [attempt["kind"] for attempt in answer["attempts"]] == ["first", "resubmit"]


def test_canceled_packages_are_retried_if_named(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    d0ctl("kill", "prod/1")

    refused = d0ctl("retry", "prod/1")
    assert refused.exit_code == 4
    assert refused.stderr.endswith("6 canceled: `d0ctl retry 'prod/1:canceled'`\n")
    d0ctl("retry", "prod/1/1/1")
    d0ctl("retry", "prod/1:canceled")

    assert [site.phase(f"prod/1/{n}/1") for n in (1, 2, 3)] == ["ready"] * 3
    assert [site.phase(f"prod/1/{n}/2") for n in (1, 2, 3)] == ["waiting"] * 3


def test_successful_and_dropped_packages_are_not_retried(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.finish("prod/1/1/1")
    d0ctl("kill-line", "prod/1/2", "--drop-outputs")

    done = d0ctl("retry", "prod/1/1/1")
    dropped = d0ctl("retry", "prod/1/2/1")

    assert (done.exit_code, dropped.exit_code) == (4, 4)
    assert "is successful, so it can't be retried" in done.stderr
    assert dropped.stderr.endswith("d0ctl restore-line prod/1/2\n")


def test_only_packages_that_failed_for_the_reason_are_retried(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.fail("prod/1/1/1")
    site.fail("prod/1/2/1", reason="verification", detail="bad sum")

    assert d0ctl("retry", "prod", "--failed-for", "verification").exit_code == 0

    assert [site.phase(f"prod/1/{n}/1") for n in (1, 2)] == ["failed", "ready"]
    nothing = d0ctl("retry", "prod", "--failed-for", "verificaton")
    assert nothing.exit_code == 2
    assert nothing.stderr.endswith("did you mean `verification`?\n")
    none_left = d0ctl("retry", "prod:failed", "--failed-for", "verification")
    assert none_left.stderr.endswith("their nodes: d0ctl report failures prod\n")


def test_a_retry_can_ask_for_more(site: Site, d0ctl: Type) -> None:
    site.submit(job(("a", [line(package("x", memory=1 << 30)), line(package("y"))])))
    site.up()
    site.fail("prod/1/1/1", reason="out-of-memory", detail="it took 2 GiB", rss=2 << 30)
    site.fail("prod/1/2/1")

    refused = d0ctl("retry", "prod/1/1/1")
    left = d0ctl("retry", "prod", "--dry-run")
    result = d0ctl("retry", "prod", "--memory", "4GB", "--cpus", "2", "--wall-time", "2h",
                   "--on", "localhost", "--env", "CUT=3", "--env", "SEED=a=b")  # fmt: skip

    assert refused.exit_code == 4
    assert "it ran out of memory and would get no more: --memory SIZE" in refused.stderr
    assert "not retried: 1 package, because it ran out" in left.stdout
    assert result.exit_code == 0
    one = document(d0ctl("status", "prod/1/1/1", "--json").stdout)
    assert one["cpus"] == 2
    columns = ("requirement_id", "wall_time", "environment")
    ((requirement, *row),) = read(site.store, "package", *columns, id=site.id_of("prod/1/1/1"))
    assert row == [7200.0, '{"CUT":"3","SEED":"a=b"}']
    assert read(site.store, "requirement", "memory", "nodes", "ready", id=requirement) == [
        (4_000_000_000, '["localhost"]', 2)
    ]
    assert faults(site.store) == []


def test_a_limit_that_was_raised_in_the_job_file_allows_a_retry(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    text = "job: mc\nstages: [{lines: [{run: go, memory: 1GB}, {run: go, wall-time: 1s}]}]\n"
    (file := tmp_path / "mc.yaml").write_text(text)
    d0ctl("submit", str(file))
    site.fail("mc/1/1/1", reason="out-of-memory", rss=2 * 10**9)
    site.fail("mc/1/2/1", reason="wall-time")
    refused = d0ctl("retry", "mc:failed")
    file.write_text(text.replace("1GB", "3GB").replace("1s", "1h"))
    d0ctl("update", "mc")

    result = d0ctl("retry", "mc:failed")

    assert refused.exit_code == 4
    assert result.stdout.startswith("retried 2 packages"), result.stderr


def test_a_retry_that_no_node_can_take_is_refused(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.fail("prod/1/1/1")

    result = d0ctl("retry", "prod/1/1/1", "--cpus", "64")

    assert result.exit_code == 4
    assert "no node can take it: `localhost` is ruled out (4 CPUs, needs 64)" in result.stderr
    assert site.phase("prod/1/1/1") == "failed"


@pytest.mark.parametrize(
    ("words", "code", "expected"),
    [
        (["--memory", "4 GX"], 2, "`--memory`:"),
        (["--wall-time", "soon"], 2, "`--wall-time`:"),
        (["--env", "CUT"], 2, "`--env`: it takes NAME=VALUE, not `CUT`"),
        (["--on", "localhos"], 3, "there is no node `localhos`\ndid you mean `localhost`?"),
    ],
)
def test_invalid_changes_of_a_retry_are_reported(
    site: Site, d0ctl: Type, words: list[str], code: int, expected: str
) -> None:
    site.submit(production())
    site.fail("prod/1/1/1")

    result = d0ctl("retry", "prod", *words)

    assert result.exit_code == code
    assert expected in result.stderr


def test_retrying_a_finished_job_continues_it(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    d0ctl("finish", "prod")

    d0ctl("retry", "prod:canceled")

    answer = document(d0ctl("status", "prod", "--json").stdout)
    assert (answer["status"], answer["finishing"]) == ("submitted", None)


def test_a_retry_by_a_person_allows_all_restarts_again(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.fail("prod/1/1/1")
    change(site.store, "package", {"phase": "failed"}, restarts=10)

    assert d0ctl("retry", "prod/1/1/1").exit_code == 0

    assert {row[0] for row in read(site.store, "package", "restarts")} == {0}


def test_a_retry_of_a_job_leaves_packages_that_cool_off_alone(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.fail("prod/1/1/1")
    site.fail("prod/1/2/1")
    change(
        site.store, "package", {"id": site.id_of("prod/1/2/1")}, phase="cooloff", not_before=1e12
    )

    assert d0ctl("retry", "prod").exit_code == 0
    assert site.phase("prod/1/1/1") == "ready"
    assert site.phase("prod/1/2/1") == "cooloff"
    site.finish("prod/1/1/1")
    assert "1 cooling off: `d0ctl retry 'prod:cooloff'`" in d0ctl("retry", "prod").stderr

    assert d0ctl("retry", "prod:cooloff").exit_code == 0
    assert site.phase("prod/1/2/1") == "ready"


def test_a_retry_without_a_daemon_says_what_drives_the_packages(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.fail("prod/1/1/1")

    answer = d0ctl("retry", "prod:failed").stderr

    assert "nothing new starts: `d0ctl daemon start`, or `d0ctl run prod`\n" in answer


def test_a_result_that_does_not_exist_yet_is_listed_as_missing(site: Site, d0ctl: Type) -> None:
    site.submit(production())

    answer = d0ctl("file", "list", "prod").stdout

    assert "not made yet" in answer
    assert "results" not in answer


@pytest.mark.parametrize(
    "words",
    ["--wall-time 0", "--wall-time 2", "--memory 4096", "--env 1X=3", "--env D0CTL_X=3"],
)
def test_requests_that_no_package_can_have_are_refused(site: Site, d0ctl: Type, words: str) -> None:
    site.submit(production(lines=1))
    site.fail("prod/1/1/1")

    result = d0ctl("retry", "prod", *words.split())

    assert result.exit_code == 2
    assert words.split()[0] in result.stderr
    assert site.phase("prod/1/1/1") == "failed"


def test_the_history_has_the_options_of_a_retry(site: Site, d0ctl: Type) -> None:
    site.submit(production(lines=1))
    site.fail("prod/1/1/1")
    d0ctl("retry", "prod", "--memory", "4GB", "--env", "KEY=secret", "--reason", "too little")

    answer = d0ctl("history", "prod").stdout

    assert "too little; --memory 4GB --env KEY" in answer
    assert "secret" not in answer


def test_a_retry_of_packages_held_by_the_policy_names_the_policy(site: Site, d0ctl: Type) -> None:
    site.submit(production(lines=1))
    site.fail("prod/1/1/1")
    d0ctl("priority", "prod", "60")
    with site.store.writing():
        change(site.store, "package", {"phase": "waiting"}, phase="held", actor="policy")

    result = d0ctl("retry", "prod/1/1/2")

    assert result.exit_code == 4
    assert "package `prod/1/1/2` is held by the policy" in result.stderr
    assert "d0ctl release prod/1/1/2" in result.stderr


def test_an_unknown_job_is_not_found(site: Site, d0ctl: Type) -> None:
    site.submit(production(lines=1))

    for words in (("why", "nosuch:file"), ("kill-line", "nosuch"), ("kill-line", "nosuch/1/1")):
        result = d0ctl(*words)
        assert result.exit_code == 3, words
        assert "there is no job `nosuch`" in result.stderr


def test_a_package_that_failed_again_is_one_failed_package_of_the_report(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production(lines=2))
    site.fail("prod/1/1/1")
    assert d0ctl("retry", "prod/1/1").exit_code == 0
    site.fail("prod/1/1/1")

    answer = document(d0ctl("report", "failures", "--json").stdout)

    assert (answer["failures"], answer["packages"], answer["failed"]) == (2, 1, 1)


def test_a_retry_in_a_paused_or_held_job_says_what_lets_it_start(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.submit(production("other"))
    for path in ("prod/1/1/1", "prod/1/2/1", "other/1/1/1"):
        site.fail(path)
    d0ctl("pause", "prod")
    d0ctl("hold", "other")

    planned = d0ctl("retry", "prod/1/1/1", "--dry-run").stdout
    done = d0ctl("retry", "*:failed").stdout
    d0ctl("resume", "prod")
    site.fail("prod/1/3/1")

    assert "job `prod` is paused: nothing starts until `d0ctl resume prod`" in planned
    assert "job `prod` is paused: nothing starts until `d0ctl resume prod`" in done
    assert "job `other` is held: nothing starts until `d0ctl release other`" in done
    assert "nothing starts" not in d0ctl("retry", "prod/1/3/1").stdout
