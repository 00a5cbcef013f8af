"""history, logs, why, doctor, node and daemon, as they are typed."""

import itertools
from pathlib import Path

import pytest

from d0ctl.config import Home
from d0ctl.store.views import one_package
from tests.cli.conftest import Type
from tests.support.building import document, production
from tests.support.rows import change, insert
from tests.support.site import Site


def test_a_card_says_where_the_earlier_actions_of_people_are(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    for number in range(10):
        before = d0ctl("status", "prod").stdout
        d0ctl("priority", "prod", str(60 + number))

    after = d0ctl("status", "prod").stdout

    assert "earlier ones" not in before
    assert "  earlier ones: d0ctl history prod" in after
    assert after.count("  priority  ") == 10


def test_the_history_of_a_job_counts_failures_by_reason(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.fail("prod/1/1/1", stderr="first\n")
    site.fail("prod/1/2/1", reason="seg-fault", detail="ended by SIGSEGV", signal=11)
    site.fail("prod/1/3/1")

    answer = document(d0ctl("history", "prod", "--json").stdout)

    assert {reason["reason"]: reason["count"] for reason in answer["reasons"]} == {
        "exit-code": 2, "seg-fault": 1,
    }  # fmt: skip
    assert [failure["path"] for failure in answer["failures"]] == [
        "prod/1/3/1",
        "prod/1/2/1",
        "prod/1/1/1",
    ]
    assert answer["failures"][2]["stderr"] == "first\n"
    assert answer["failures"][1]["signal"] == 11
    assert answer["actions"][0]["verb"] == "submit"
    screen = d0ctl("history", "prod").stdout
    assert "2 times  on 1 node" in screen
    assert "│ first" in screen


def test_the_history_tells_a_kill_from_a_drop_by_the_options(site: Site, d0ctl: Type) -> None:
    site.submit(production())

    d0ctl("kill-line", "prod/1/1", "--yes", "--reason", "bad run")
    d0ctl("kill-line", "prod/1/2", "--yes", "--drop-outputs", "--reason", "no such run")
    d0ctl("kill-line", "prod/1/3", "--yes", "--drop-outputs")
    d0ctl("priority", "prod", "70")

    actions = document(d0ctl("history", "prod", "--json").stdout)["actions"]
    assert [(action["verb"], action["reason"]) for action in actions[:4]] == [
        ("priority", "70"),
        ("kill-line", "--drop-outputs"),
        ("kill-line", "no such run; --drop-outputs"),
        ("kill-line", "bad run"),
    ]
    for screen in (d0ctl("history", "prod").stdout, d0ctl("status", "prod").stdout):
        assert "no such run; --drop-outputs" in screen


def test_the_history_of_a_package_has_every_change(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.fail("prod/1/1/1")

    answer = document(d0ctl("history", "prod/1/1/1", "--json").stdout)

    steps = ["ready", "assigned", "starting", "running", "failed"]
    assert [(event["from"], event["to"]) for event in answer["events"]] == list(
        itertools.pairwise(steps)
    )
    assert answer["events"][-1]["note"].startswith("exit-code: ")
    assert "running → failed" in d0ctl("history", "prod/1/1/1").stdout


def test_a_part_has_its_own_history(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.fail("prod/1/1/1")
    site.fail("prod/1/2/1")

    assert len(document(d0ctl("history", "prod/1/2", "--json").stdout)["failures"]) == 1
    assert "nothing has failed" in d0ctl("history", "prod/2").stdout
    assert d0ctl("history", "none").exit_code == 3


def test_the_history_lists_packages_that_were_killed_but_not_on_request_of_this_home(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production())
    site.launch("prod/1/1/1")

    site.end("prod/1/1/1", "killed", reason="killed", detail="ended on request: by SIGTERM")

    assert document(d0ctl("status", "prod", "--json").stdout)["packages"]["failed"] == 1
    (failure,) = document(d0ctl("history", "prod", "--json").stdout)["failures"]
    assert (failure["path"], failure["reason"]) == ("prod/1/1/1", "killed")
    assert failure["message"] == (
        "ended on request: by SIGTERM; "
        "not requested here, but by another daemon of this site or on the node"
    )
    assert "killed  1 time" in d0ctl("history", "prod").stdout


def write_logs(site: Site, path: str, **logs: bytes) -> None:
    """What the attempt's binary printed, where its node keeps it."""
    attempt = one_package.attempts(site.store, site.id_of(path))[-1]
    folder = Path(str(attempt.base)) / "attempts" / str(attempt.id)
    folder.mkdir(parents=True)
    for name, text in logs.items():
        (folder / f"1.{name}").write_bytes(text)


def test_logs_prints_the_output_byte_for_byte(site: Site, d0ctl: Type, tmp_path: Path) -> None:
    site.submit(production())
    site.up(base=str(tmp_path / "base"))
    site.finish("prod/1/1/1")
    write_logs(site, "prod/1/1/1", out=b"caf\xe9 \x1b[31m\n")

    assert d0ctl("logs", "prod/1/1/1").stdout_bytes == b"caf\xe9 \x1b[31m\n"


def test_several_logs_are_printed_under_headings(site: Site, d0ctl: Type, tmp_path: Path) -> None:
    site.submit(production())
    site.up(base=str(tmp_path / "base"))
    site.finish("prod/1/1/1")
    write_logs(site, "prod/1/1/1", out=b"fine", err=b"less so\n")

    assert d0ctl("logs", "prod/1/1/1").stdout == (
        "== binary 1, stdout ==\nfine\n== binary 1, stderr ==\nless so\n"
    )


def test_logs_of_a_package_without_a_log_prints_the_reason(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    site.submit(production())
    site.finish("prod/1/1/1")
    with site.store.writing():
        change(site.store, "attempt", base=str(tmp_path / "node"))

    assert "has not run yet: it is ready" in d0ctl("logs", "prod/1/2/1").stderr
    assert d0ctl("logs", "prod/1/2/1").exit_code == 3
    assert "has had 1 attempt, so" in d0ctl("logs", "prod/1/1/1", "--attempt", "2").stderr
    assert "has 1 binary, so" in d0ctl("logs", "prod/1/1/1", "--binary", "2").stderr
    assert "its log is no longer on `localhost`" in d0ctl("logs", "prod/1/1/1").stderr
    assert d0ctl("logs", "prod/1/1/1").exit_code == 3
    assert d0ctl("logs", "prod/1/*").exit_code == 3


def test_an_empty_log_is_shown_as_empty(site: Site, d0ctl: Type, tmp_path: Path) -> None:
    site.submit(production())
    site.finish("prod/1/1/1")
    with site.store.writing():
        change(site.store, "attempt", base=str(tmp_path / "node"))
    folder = tmp_path / "node/attempts/1"
    folder.mkdir(parents=True)
    (folder / "1.out").touch()

    assert d0ctl("logs", "prod/1/1/1").stderr == "`prod/1/1/1` has printed nothing\n"
    of_one = d0ctl("logs", "prod/1/1/1", "--attempt", "1").stderr
    assert of_one == "attempt 1 of `prod/1/1/1` has printed nothing\n"


def test_why_accepts_jobs_stages_lines_packages_nodes_and_files(site: Site, d0ctl: Type) -> None:
    site.submit(production())

    for noun in ("prod", "prod/1", "prod/1/1", "prod/1/1/1", "localhost", "prod/make/2/1"):
        answer = document(d0ctl("why", noun, "--json").stdout)
        assert answer["answer"], noun
        assert answer["commands"], noun
        assert d0ctl("why", noun).stdout.startswith(answer["answer"][:40])
    assert d0ctl("why", "--node", "localhost").exit_code == 0
    assert d0ctl("why", "--node", "none").exit_code == 3
    assert d0ctl("why", "none").exit_code == 3
    assert d0ctl("why", "prod/*").exit_code == 0


def test_a_healthy_home_passes_the_doctor(site: Site, d0ctl: Type) -> None:
    site.submit(production())

    result = d0ctl("doctor", "--json")

    answer = document(result.stdout)
    assert (answer["ok"], answer["findings"], answer["nodes"], answer["unseen"]) == (
        True,
        [],
        [],
        {},
    )
    assert answer["standstill"].startswith("no daemon is running")
    assert result.exit_code == 0
    said = d0ctl("doctor").stdout
    assert "! production stands still: no daemon is running" in said
    assert "nothing else found: " in said and "no problems" not in said


def test_the_doctor_reports_the_fault_the_place_and_the_command(
    site: Site, d0ctl: Type, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("d0ctl.doctor.examine.AGAIN_S", 0.0)
    site.submit(production())
    home.key.chmod(0o644)
    with site.store.writing():
        insert(site.store, "lease", name="daemon", holder="boot 17 4", taken=1)

    result = d0ctl("doctor")

    assert result.exit_code == 5
    assert result.stdout.splitlines()[1:] == [
        f"✘ home: {home.key}: other users may read it, and forge messages with it: "
        f"chmod 600 {home.key};"
        " d0ctl site rotate-key",
        "✘ lease: daemon: is held by process 17, which is gone: repaired by `d0ctl daemon start`",
    ]
    answer = document(d0ctl("doctor", "--json").stdout)
    assert not answer["ok"]
    assert [(finding["check"], finding["heals"]) for finding in answer["findings"]] == [
        ("home", False),
        ("lease", True),
    ]


def test_the_doctor_needs_a_home(d0ctl: Type) -> None:
    assert d0ctl("doctor").exit_code == 5


def test_no_retry_remake_drop_or_restore_loses_the_failure_history(site: Site, d0ctl: Type) -> None:
    site.submit(production(lines=2))
    site.fail("prod/1/1/1", stderr="first\n")
    assert d0ctl("retry", "prod/1/1/1").exit_code == 0
    site.fail("prod/1/1/1", reason="seg-fault", detail="ended by SIGSEGV", signal=11)
    assert d0ctl("kill", "prod/1/1", "--yes").exit_code == 0
    assert d0ctl("retry", "prod/1/1/1").exit_code == 0
    site.fail("prod/1/1/1")
    assert d0ctl("kill-line", "prod/1/1", "--drop-outputs", "--yes").exit_code == 0
    assert d0ctl("restore-line", "prod/1/1").exit_code == 0
    assert d0ctl("retry", "prod/1/1/1").exit_code == 0
    site.finish("prod/1/1/1")
    assert d0ctl("set-status", "prod/1/1/1", "unscheduled", "--yes").exit_code == 0
    site.finish("prod/1/1/1")

    shown = document(d0ctl("status", "prod/1/1/1", "--json").stdout)
    answer = document(d0ctl("history", "prod/1/1/1", "--json").stdout)

    assert shown["status"] == "successful"
    assert [(failure["reason"], failure["count"], failure["node"], failure["message"])
            for failure in shown["failures"]] == [
        ("exit-code", 2, "localhost", "binary 1 (tool) ended with exit code 3"),
        ("seg-fault", 1, "localhost", "ended by SIGSEGV"),
    ]  # fmt: skip
    assert [failure["attempt"] for failure in answer["failures"]] == [3, 2, 1]
    assert {reason["reason"]: reason["count"] for reason in answer["reasons"]} == {
        "exit-code": 2, "seg-fault": 1,
    }  # fmt: skip
    assert "first\n" in [failure["stderr"] for failure in answer["failures"]]
    screen = d0ctl("status", "prod/1/1/1").stdout
    assert "exit-code  2 times  " in screen
    report = document(d0ctl("report", "failures", "--json").stdout)
    assert (report["failures"], report["failed"]) == (3, 0)


def test_actions_on_software_with_the_name_of_a_job_are_not_those_of_the_job(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production())
    d0ctl("software", "add", "prod/v1", "--script", "true")

    assert d0ctl("software", "list").stdout.startswith("prod/v1")
    assert "software add" not in d0ctl("history", "prod").stdout
    assert "software add" not in d0ctl("status", "prod").stdout


def test_the_history_says_that_a_job_was_submitted_with_hold(site: Site, d0ctl: Type) -> None:
    file = site.home.root / "chain.yaml"
    file.write_text("stages: [{name: a, lines: [{run: echo}]}]\n")

    d0ctl("submit", str(file), "--as", "chain", "--hold", "--reason", "later")
    d0ctl("clone", "chain", "--as", "copy", "--hold")

    assert "chain  1 package  later; --hold\n" in d0ctl("history", "chain").stdout
    assert "copy  1 package  --hold\n" in d0ctl("history", "copy").stdout
