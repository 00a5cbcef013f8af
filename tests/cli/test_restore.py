"""restore-line, and what goes without inputs, as it is typed."""

from pathlib import Path

from d0ctl.store.checks.check import faults
from d0ctl.store.views import one_package
from tests.cli.conftest import Type
from tests.support.building import document, job, line, package, production
from tests.support.rows import change, delete, value
from tests.support.site import Site


def test_a_dropped_line_comes_back_as_it_was(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.finish("prod/1/1/1")
    site.fail("prod/1/2/1")
    d0ctl("hold", "prod/1/2/2")
    d0ctl("kill-line", "prod/1/1-2", "--drop-outputs")

    preview = d0ctl("restore-line", "prod/1/1-2", "--dry-run").stdout
    result = d0ctl("restore-line", "prod/1/1-2")

    assert preview == (
        "would restore 3 packages: 3 dropped\n"
        "  prod/1/1/2  dropped\n"
        "  prod/1/2/1  dropped\n"
        "  prod/1/2/2  dropped\n"
        "unchanged: 1 successful\n"
        "added to the inputs of later packages: 4 files\n"
        "  gen-1\n  sim-1\n  gen-2\n  sim-2\n"
        "reading them again: 1 package\n"
        "  prod/2/1/1 gets 2 inputs back beside 1, and waits for missing files\n"
        "1 package that had failed or was canceled before the drop is so again: "
        "`d0ctl retry 'prod/1/1-2/*:failed,canceled'` runs it\n"
    )
    assert result.stdout.startswith("restored 3 packages of `prod/1/1-2`\n")
    assert result.stderr == "to undo: d0ctl kill-line prod/1/1-2 --drop-outputs\n"
    phases = [site.phase(f"prod/1/{at}") for at in ("1/1", "1/2", "2/1", "2/2")]
    assert phases == ["done", "ready", "failed", "held"]
    assert document(d0ctl("status", "prod", "--json").stdout)["dropped"] == 0
    assert faults(site.store) == []


def test_drop_and_restore_count_the_same_inputs_of_a_merge_with_a_script(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    (tmp_path / "m.sh").write_text("cat $@ > all")
    path = tmp_path / "rep.yaml"
    path.write_text(
        "job: rep\nstages:\n"
        "  - {name: s, lines: [{for: {n: [1, 2, 3, 4]}, run: 'true', outputs: 's{n}'}]}\n"
        "  - {lines: [{run: sh m.sh, inputs: [m.sh, {from: s}], outputs: all}]}\n"
    )
    assert d0ctl("submit", str(path)).exit_code == 0
    drop = ("kill-line", "rep/1/3", "--drop-outputs")

    dropped = d0ctl(*drop, "--dry-run").stdout
    d0ctl(*drop)
    restored = d0ctl("restore-line", "rep/1/3", "--dry-run").stdout

    assert "rep/2/1/1 loses 1 input, keeps 3" in dropped
    assert "rep/2/1/1 gets 1 input back beside 3" in restored


def test_a_restored_failure_keeps_the_time_of_the_failure(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.fail("prod/1/2/1")
    site.fail("prod/1/3/1")
    failed = {id: site.id_of(f"prod/1/{id}/1") for id in (2, 3)}
    before = {id: value(site.store, "package", "changed", id=row) for id, row in failed.items()}

    d0ctl("kill-line", "prod/1/2", "--drop-outputs")
    d0ctl("restore-line", "prod/1/2")

    after = {id: value(site.store, "package", "changed", id=row) for id, row in failed.items()}
    assert site.phase("prod/1/2/1") == "failed"
    assert after == before


def test_the_retry_after_a_restore_of_several_lines_takes_all_of_them(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production())
    for number in (1, 3):
        site.fail(f"prod/1/{number}/1")
    d0ctl("kill-line", "prod/1/1", "prod/1/3", "--drop-outputs")

    answer = d0ctl("restore-line", "prod/1/1", "prod/1/3").stdout

    both = "`d0ctl retry 'prod/1/1/*:failed,canceled' 'prod/1/3/*:failed,canceled'` runs them"
    assert both in answer


def test_a_restored_package_that_was_canceled_is_so_again_and_says_by_whom(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production())
    d0ctl("kill", "prod/1/1/1", "--reason", "divides by zero")
    d0ctl("kill-line", "prod/1/1", "--drop-outputs")

    answers = [d0ctl("restore-line", "prod/1/1", *more).stdout for more in (["--dry-run"], [])]

    said = (
        "1 package that had failed or was canceled before the drop is so again: "
        "`d0ctl retry 'prod/1/1/*:failed,canceled'` runs it"
    )
    assert all(said in answer for answer in answers)
    why = d0ctl("why", "prod/1/1/1").stdout
    assert ": divides by zero" in why.splitlines()[0]
    assert d0ctl("retry", "prod/1/1/*:failed,canceled").exit_code == 0


def test_a_restored_failure_keeps_its_node_and_its_reason(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.fail("prod/1/2/1")
    before = d0ctl("status", "prod", "--status", "failed").stdout.splitlines()[-1]
    assert "localhost" in before

    d0ctl("kill-line", "prod/1/2", "--drop-outputs")
    d0ctl("restore-line", "prod/1/2")

    assert before in d0ctl("status", "prod", "--status", "failed").stdout
    retry = d0ctl("retry", "prod:failed", "--node", "localhost", "--dry-run")
    assert retry.stdout.startswith("would retry 1 package: 1 failed"), retry
    assert faults(site.store) == []


def test_packages_dropped_with_their_input_come_back_with_it(site: Site, d0ctl: Type) -> None:
    site.submit(production(lines=2))
    d0ctl("kill-line", "prod/1/1", "--drop-outputs")
    d0ctl("kill-line", "prod/1/2", "--drop-outputs")
    assert site.phase("prod/2/1/1") == "dropped"

    refused = d0ctl("restore-line", "prod/2/1")
    d0ctl("restore-line", "prod/1/1")

    assert refused.exit_code == 4
    assert "was dropped because of another line" in refused.stderr
    assert refused.stderr.splitlines()[1].startswith("d0ctl restore-line prod/1/")
    assert site.phase("prod/2/1/1") == "waiting"
    assert site.phase("prod/3/1/1") == "waiting"
    site.finish("prod/1/1/1")
    site.finish("prod/1/1/2")
    assert site.phase("prod/2/1/1") == "ready"
    assert faults(site.store) == []


def test_a_line_comes_back_until_its_consumer_is_launched(site: Site, d0ctl: Type) -> None:
    site.submit(production(lines=2))
    site.finish("prod/1/1/1")
    site.finish("prod/1/1/2")
    d0ctl("kill-line", "prod/1/2", "--drop-outputs", "--reason", "bad run")
    assert site.phase("prod/2/1/1") == "ready"
    d0ctl("restore-line", "prod/1/2")
    assert site.phase("prod/2/1/1") == "waiting"
    d0ctl("kill-line", "prod/1/2", "--drop-outputs", "--reason", "bad run")
    site.launch("prod/2/1/1")

    refused = d0ctl("restore-line", "prod/1/2")

    assert refused.exit_code == 4
    assert "because package `prod/2/1/1` was launched without its files at" in refused.stderr
    assert "can't restore line `prod/1/2`, because" in refused.stderr
    assert "dropped `prod/1/2` at" in refused.stderr
    assert "(bad run; --drop-outputs)" in refused.stderr
    assert refused.stderr.endswith("once it has ended: d0ctl restore-line prod/1/2 --again\n")
    assert "can't be restored before that has ended" in d0ctl("why", "prod/1/2").stdout
    site.end("prod/2/1/1")
    assert d0ctl("restore-line", "prod/1/2", "--again").exit_code == 0


def test_a_consumer_that_failed_without_a_line_may_have_it_back(site: Site, d0ctl: Type) -> None:
    site.submit(production(lines=2))
    site.finish("prod/1/1/1")
    site.finish("prod/1/1/2")
    d0ctl("kill-line", "prod/1/2", "--drop-outputs")
    site.fail("prod/2/1/1")

    assert d0ctl("restore-line", "prod/1/2").exit_code == 0

    d0ctl("retry", "prod/2/1/1")
    assert site.phase("prod/2/1/1") == "waiting"
    first = document(d0ctl("status", "prod/2/1/1", "--json").stdout)["attempts"][0]
    assert (first["inputs"], first["inputs_asked"], first["left_out"]) == (1, 2, ["sim-2"])


def test_packages_that_lack_inputs_are_named_or_counted(site: Site, d0ctl: Type) -> None:
    merges = [line(package(f"m{n}", takes=["gone", f"x{n}"])) for n in range(7)]
    makers = [line(package("gone")), *(line(package(f"x{n}")) for n in range(7))]
    site.submit(job(("make", makers), ("merge", merges), name="prod"))
    d0ctl("kill-line", "prod/1/1", "--drop-outputs")

    page = d0ctl("status", "prod").stdout

    assert page.count(" will run with 1 of 2 inputs, missing: gone") == 5
    assert "2 more packages lack inputs, too: d0ctl status prod --json" in page
    assert len(document(d0ctl("status", "prod", "--json").stdout)["left_out"]) == 7
    assert "2 more packages lack inputs" in d0ctl("results", "prod").stderr


def test_status_of_the_merge_names_its_missing_inputs(site: Site, d0ctl: Type) -> None:
    site.submit(production(lines=3))
    for number in (1, 2):
        site.finish(f"prod/1/{number}/1")
        site.finish(f"prod/1/{number}/2")
    d0ctl("kill-line", "prod/1/3", "--drop-outputs")
    site.finish("prod/2/1/1")

    one = document(d0ctl("status", "prod/2/1/1", "--json").stdout)
    answer = "2 of 3 inputs, missing: sim-3"

    assert one["left_out"] == {"path": "prod/2/1/1", "inputs": 2, "of": 3, "missing": ["sim-3"]}
    assert one["attempts"][0]["inputs"] == 2
    assert f"it ran with {answer}" in d0ctl("status", "prod/2/1/1").stdout
    assert f"prod/2/1/1 ran with {answer}" in d0ctl("status", "prod").stdout
    assert answer in d0ctl("why", "prod/2/1/1").stdout
    dropped = "2 packages are dropped: `prod/1/3/1` and `prod/1/3/2`"
    assert all(dropped in d0ctl("why", part).stdout for part in ("prod", "prod/1"))
    assert document(d0ctl("status", "prod", "--json").stdout)["left_out"] == [one["left_out"]]


def test_outputs_lost_since_the_drop_are_made_again(site: Site, d0ctl: Type) -> None:
    site.submit(production(lines=2))
    site.finish("prod/1/1/1")
    site.finish("prod/1/1/2")
    d0ctl("kill-line", "prod/1/1", "--drop-outputs")
    with site.store.writing():
        delete(site.store, "location")
        change(site.store, "file", present=0)

    d0ctl("restore-line", "prod/1/1")

    assert [site.phase(f"prod/1/1/{n}") for n in (1, 2)] == ["ready", "waiting"]
    assert site.phase("prod/2/1/1") == "waiting"
    assert faults(site.store) == []


def test_a_line_that_is_being_killed_is_not_restored_yet(site: Site, d0ctl: Type) -> None:
    site.submit(production(lines=2))
    site.launch("prod/1/1/1")
    d0ctl("kill-line", "prod/1/1", "--drop-outputs")

    refused = d0ctl("restore-line", "prod/1/1")
    site.end("prod/1/1/1", "killed", reason="killed")
    assert site.phase("prod/1/1/1") == "dropped"

    assert refused.exit_code == 4
    assert (
        "1 package is still being killed in `prod/1/1`, so it can't be restored yet"
        in refused.stderr
    )
    assert d0ctl("restore-line", "prod/1/1").exit_code == 0
    assert site.phase("prod/1/1/1") == "ready"


def test_a_line_that_is_not_dropped_is_not_restored(site: Site, d0ctl: Type) -> None:
    site.submit(production())

    assert d0ctl("restore-line", "prod/1/1/1").exit_code == 2
    assert d0ctl("restore-line", "prod/1/9").exit_code == 3
    refused = d0ctl("restore-line", "prod/1/1")
    assert refused.exit_code == 4
    assert "line `prod/1/1` is not dropped, so it can't be restored" in refused.stderr


def test_a_failed_reader_of_a_dropped_line_is_not_waited_for(site: Site, d0ctl: Type) -> None:
    site.submit(job(("a", [line(package("x")), line(package("y"))]),
                    ("b", [line(package("z", takes=["x", "y"]))])))  # fmt: skip
    site.finish("prod/1/1/1")
    site.finish("prod/1/2/1")
    site.launch("prod/2/1/1")
    d0ctl("kill-line", "prod/1/2", "--drop-outputs")
    site.end("prod/2/1/1", "failed", reason="exit-code", exit_code=3)

    d0ctl("retry", "prod/2/1/1")

    assert site.phase("prod/2/1/1") == "ready"
    inputs = one_package.inputs(site.store, site.id_of("prod/2/1/1"))
    assert {input.name: input.dropped for input in inputs} == {"x": 0, "y": 1}


def test_history_names_who_dropped_and_restored_lines(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    d0ctl("kill-line", "prod/1/1", "--drop-outputs", "--reason", "bad run")
    d0ctl("restore-line", "prod/1/1", "--reason", "it was not")

    actions = document(d0ctl("history", "prod", "--json").stdout)["actions"]

    assert [(action["verb"], action["target"], action["reason"]) for action in actions[:2]] == [
        ("restore-line", "prod/1/1", "it was not"),
        ("kill-line", "prod/1/1", "bad run; --drop-outputs"),
    ]
    assert actions[1]["undo"] == "d0ctl restore-line prod/1/1 --again"
