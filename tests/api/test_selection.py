"""Jobs in the database as Python selects, follows and changes them."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from d0ctl import Job, Selection, jobs
from d0ctl.errors import BadUsage, DatabaseUnavailable, NotFound, Refused
from d0ctl.store.views import awaited
from tests.cli.conftest import type_in
from tests.support.building import document
from tests.support.rows import drop


@pytest.fixture
def held() -> Selection:
    """A job of two stages, held, with six packages."""
    job = Job("reco", hold=True)
    job.stage("sim").line(
        for_={"n": {"range": [1, 4]}}, run="echo {n} > {n}.sim", outputs="{n}.sim"
    )
    chain = job.stage("add").line()
    chain.package(run="cat {inputs} > a", inputs={"from": "sim"}, outputs="a")
    chain.package(run="cat a > b", inputs="a", outputs="b")
    return job.submit()


def test_a_selection_goes_down_level_by_level(held: Selection) -> None:
    assert [len(held), len(held.stage("sim")), len(held.stage(2).line(1))] == [6, 4, 2]
    assert str(held.stage(2).line(1).package(2)) == "reco/2/1/2"
    assert [row.path for row in jobs("reco/1/2-3")] == ["reco/1/2/1", "reco/1/3/1"]
    with pytest.raises(BadUsage, match="`reco` is not a line"):
        held.package(1)


def test_packages_are_selected_by_status_reason_and_node(held: Selection) -> None:
    held.stage(1).line(2).kill()

    assert [row.path for row in held.packages(status="canceled")] == ["reco/1/2/1"]
    assert len(held.packages(status=("canceled", "ready"))) == 4
    assert not held.packages(failed_for="signal")
    with pytest.raises(BadUsage):
        held.packages(status="cancelled")


@pytest.mark.parametrize("hour", [3600, 3600.0, "1h"])
def test_an_age_is_a_text_or_a_number_of_seconds(held: Selection, hour: str | float) -> None:
    assert held.packages(older_than=hour).wanted.older_than == 3600


def test_results_of_earlier_inputs_are_a_python_warning(folder: Path) -> None:
    (folder / "raw").write_text("old")
    job = Job("mc")
    job.stage("copy").line(run="cp raw all", inputs="raw", outputs="all")
    selection = job.submit()
    selection.run()
    (folder / "raw").write_text("another")

    with pytest.warns(UserWarning, match="raw` has changed since 1 finished package") as issued:
        assert len(selection.results()) == 1

    assert [warning.filename for warning in issued] == [__file__]
    for end in (selection.wait, selection.run):
        with pytest.warns(UserWarning, match="raw` has changed since") as issued:
            assert end().is_successful
        assert [warning.filename for warning in issued] == [__file__]


def test_results_are_the_finished_final_outputs_of_the_selected_packages(folder: Path) -> None:
    job = Job("mc")
    job.stage("gen").line(for_={"n": [1, 2]}, run="echo {n} > {n}.out", outputs="{n}.out")
    selection = job.submit()
    assert selection.results() == []
    selection.run()

    found = selection.results()

    assert [path.read_text() for path in found] == ["1\n", "2\n"]
    assert selection.results("2*") == jobs("mc/1/2").results() == found[1:]
    assert selection.packages(status="failed").results() == []
    found[0].unlink()
    assert selection.results() == found[1:]
    with pytest.raises(NotFound):
        jobs("no").results()


def test_an_action_is_kept_with_its_reason_and_undone_by_its_command(held: Selection) -> None:
    done = held.stage(1).line(1).hold(reason="look at it first")

    assert done.packages == 1
    assert done.undo == "d0ctl release reco/1/1:held"
    (entry, *_) = document(type_in("history", "reco", "--json").stdout)["actions"]
    assert (entry["verb"], entry["target"]) == ("hold", "reco/1/1")
    assert "look at it first" in entry["reason"]


def test_a_dry_run_lists_the_changes_and_makes_none(held: Selection) -> None:
    said = held.finish(hard=True, dry_run=True)

    assert "would" in said.text
    assert held.status == "held"


def test_options_pass_the_checks_of_the_command_line(held: Selection) -> None:
    with pytest.raises(BadUsage, match="`memory`"):
        held.retry(memory="4 GX")
    with pytest.raises(BadUsage):
        held.priority(101)
    with pytest.raises(Refused):
        held.resume()


def test_a_retry_with_more_memory_makes_a_failed_job_succeed(folder: Path) -> None:
    job = Job("needs-more")
    job.stage().line(run='test -n "$MORE" && date > out', outputs="out")
    first = job.submit().run()
    assert (first.status, first.packages["failed"]) == ("failed", 1)

    failed = jobs("needs-more").packages(status="failed")
    done = failed.retry(environment={"MORE": 1}, cpus=1, nodes="localhost")
    seen = []
    last = jobs("needs-more").run(progress=lambda found: seen.append(found.status))

    assert done.packages == 1
    assert last.is_successful
    assert seen[-1] == "successful"


def test_wait_gives_up_without_a_daemon(held: Selection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(awaited, "NO_DAEMON_S", 0.1)
    held.release()

    with pytest.raises(DatabaseUnavailable, match="`reco` has not ended, and no daemon"):
        held.wait()


def test_wait_yields_each_change_and_the_end(held: Selection) -> None:
    sought = jobs("reco").stage("sim")
    seen: list[int] = []
    assert [found.status for found in held.watch()] == ["held"]
    held.release()
    with pytest.raises(TimeoutError, match="`reco` is still submitted"):
        held.wait(timeout=0.0)
    with pytest.raises(TimeoutError, match="`reco` is still submitted"):
        held.wait(timeout="0s")
    with pytest.raises(BadUsage, match="`soon` is not a time"):
        held.wait(timeout="soon")
    driver = threading.Thread(target=held.run)
    driver.start()

    last = sought.wait(timeout=60, progress=lambda found: seen.append(found.packages["successful"]))
    driver.join()

    assert last.is_successful
    assert seen == sorted(seen)
    assert seen[-1] == 4


def test_a_notebook_escapes_markup_in_job_names() -> None:
    job = Job("shown", title="<b>bold</b> & more", hold=True)
    job.stage("<i>").line(run="true", name="<script>")

    card = job.submit()._repr_html_()

    assert card.startswith("<pre>")
    assert "&lt;b&gt;bold" in card
    assert "<b>" not in card + job._repr_html_()
    assert "<script>" not in card


def test_why_gives_the_same_answer_as_the_command(held: Selection) -> None:
    assert held.why().splitlines() == type_in("why", "reco").stdout.splitlines()
    assert held.show().splitlines()[0] == type_in("status", "reco").stdout.splitlines()[0]


def test_several_selectors_are_one_selection(held: Selection) -> None:
    both = jobs("reco/1/1,2", "reco/2/last/2")

    assert [row.path for row in both] == ["reco/1/1/1", "reco/1/2/1", "reco/2/1/2"]
    assert repr(both) == "jobs('reco/1/1', 'reco/1/2', 'reco/2/last/2')"
    assert (both.status, both.names) == ("held", ["reco"])
    assert len(both.packages(status="ready")) == 2


def test_packages_have_ids_from_0_in_their_order(held: Selection) -> None:
    paths = [row.path for row in held]

    assert [str(held[number]) for number in range(len(held))] == paths
    assert str(held[-1]) == "reco/2/1/2"
    assert str(held[1:3]) == "reco/1/2/1 reco/1/3/1"
    with pytest.raises(IndexError):
        held[6]


def test_keep_going_changes_all_packages_that_can_be_changed(held: Selection) -> None:
    done = jobs("reco/1/1", "reco/7", "reco/1/2").kill(keep_going=True)

    assert done.packages == 2
    assert done.failures == ("job `reco` has stages 1 to 2, so there is no stage 7",)


@pytest.mark.parametrize(
    ("left_out", "missing"),
    [
        ("index stage_final", "no such index: stage_final"),
        ("table node", "no such table: node"),
    ],
)
@pytest.mark.parametrize("use", [Selection.run, Selection.wait, Selection.why])
def test_a_home_of_another_version_is_reported_in_one_line(
    held: Selection, use: Callable[[Selection], object], left_out: str, missing: str
) -> None:
    held.release()
    drop(held.home.database, left_out)

    with pytest.raises(DatabaseUnavailable) as refused:
        use(held)

    root = held.home.root
    assert (
        str(refused.value) == f"the home `{root}` was made by another version of d0ctl: {missing}"
    )
    assert refused.value.hint == f"use that version, or begin a new home: mv {root} {root}.old"


def test_logs_and_exports_are_those_of_the_command_line(held: Selection) -> None:
    held.release()
    held.run()

    assert held.stage("sim").logs() == {f"reco/1/{n}/1": "" for n in range(1, 5)}
    with pytest.raises(BadUsage, match="is not one of `yaml`"):
        held.export("pdf")
    assert held.export("dot") == type_in("export", "reco", "--format", "dot").stdout


def test_logs_of_a_selection_leave_out_the_packages_that_have_not_run(
    held: Selection,
) -> None:
    with pytest.raises(NotFound, match="reco/1/1/1"):
        held.stage("sim").logs()

    held.stage(1).line(2).kill()
    held.release()
    held.run()

    assert held.stage("sim").logs() == {f"reco/1/{n}/1": "" for n in (1, 3, 4)}
