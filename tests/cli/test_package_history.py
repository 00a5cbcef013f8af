"""`history` of a package: the actions of people that changed it."""

import time
from pathlib import Path

from tests.cli.conftest import Type
from tests.support.building import document, production
from tests.support.site import Site


def test_the_history_of_a_package_has_only_the_actions_that_changed_it(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production())
    site.finish("prod/1/1/1")
    site.fail("prod/1/2/1")
    for words in (("retry", "prod:failed"), ("kill-line", "prod/1/3"), ("priority", "prod", "60"),
                  ("hold", "prod/1/1-2:ready")):  # fmt: skip
        assert d0ctl(*words).exit_code == 0

    targets = {
        path: [action["target"] for action in document(d0ctl("history", path, "--json").stdout)[
            "actions"]]
        for path in ("prod/1/1/1", "prod/1/2/1", "prod/1/3/1")
    }  # fmt: skip

    assert targets == {
        "prod/1/1/1": ["prod", "prod"],
        "prod/1/2/1": ["prod/1/1-2:ready", "prod", "prod:failed", "prod"],
        "prod/1/3/1": ["prod", "prod/1/3", "prod"],
    }
    assert "actions of people\n" in d0ctl("history", "prod/1/1/1").stdout
    assert "actions of people on job `prod`\n" in d0ctl("history", "prod/1/1").stdout


def targets_of(d0ctl: Type, path: str) -> list[str]:
    """The actions that the history of a package lists, the latest first."""
    actions = document(d0ctl("history", path, "--json").stdout)["actions"]
    return [f"{action['verb']} {action['target']}" for action in actions]


def test_the_history_of_a_package_has_no_action_that_left_it_as_it_was(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production())
    site.finish("prod/1/1/1")
    site.fail("prod/1/2/1")
    for words in (("retry", "prod"), ("kill", "prod/1/2-3"), ("set-status", "prod/1/3", "failed"),
                  ("set-status", "prod/1/3", "unscheduled"), ("priority", "prod/1/1", "70"),
                  ("edit", "prod/1/1", "--cpus", "2"), ("hold", "prod/1/1"), ("pause", "prod"),
                  ("release", "prod/1/1"), ("limit", "prod", "--max-running", "3")):  # fmt: skip
        d0ctl(*words, "--yes" if words[0] in ("kill", "set-status") else "--reason=so")

    of_job = ["limit prod", "pause prod"]
    assert targets_of(d0ctl, "prod/1/1/1") == [*of_job, "submit prod"]
    assert targets_of(d0ctl, "prod/1/2/1") == [*of_job, "kill prod/1/2-3", "retry prod",
                                                "submit prod"]  # fmt: skip
    assert targets_of(d0ctl, "prod/1/1/2") == [
        "limit prod", "release prod/1/1", "pause prod", "hold prod/1/1", "edit prod/1/1",
        "priority prod/1/1", "submit prod",
    ]  # fmt: skip


def test_the_history_of_a_package_has_only_the_updates_that_may_have_changed_it(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    text = "job: phys\nstages: [{lines: [{run: a, outputs: a}, {run: b, outputs: b}, {run: c}]}]\n"
    (file := tmp_path / "phys.yaml").write_text(text)
    d0ctl("submit", str(file))
    site.finish("phys/1/1/1")
    site.finish("phys/1/2/1")
    file.write_text(text.replace("run: a", "run: x").replace("run: b", "run: y"))

    for words in (("phys/1/1", "--accept"), ("phys/1", "--again"), ("phys",)):
        d0ctl("update", *words)
        file.write_text(file.read_text().replace("run: c", "run: cc"))

    assert targets_of(d0ctl, "phys/1/1/1") == ["update phys/1/1", "submit phys"]
    assert targets_of(d0ctl, "phys/1/2/1") == ["update phys", "update phys/1", "submit phys"]
    assert targets_of(d0ctl, "phys/1/3/1") == ["update phys", "update phys/1", "submit phys"]


def test_the_history_of_a_successful_package_has_the_drop_of_its_line(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production())
    site.finish("prod/1/1/1")
    site.finish("prod/1/1/2")
    d0ctl("kill-line", "prod/1/2", "--drop-outputs", "--yes")
    d0ctl("kill-line", "prod/1/1", "--drop-outputs", "--yes")
    d0ctl("restore-line", "prod/1/1")
    site.launch("prod/1/3/1")
    d0ctl("kill", "prod/1/3/1", "--yes")  # no undo of a drop is known while it is being killed

    dropped = ["restore-line prod/1/1", "kill-line prod/1/1", "submit prod"]
    assert targets_of(d0ctl, "prod/1/1/2") == dropped


def test_the_history_of_a_package_has_the_action_on_others_that_dropped_it(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production())
    d0ctl("kill-line", "prod/1/*", "--drop-outputs", "--yes")

    actions = document(d0ctl("history", "prod/2/1/1", "--json").stdout)["actions"]

    assert site.phase("prod/2/1/1") == "dropped"
    assert [action["target"] for action in actions] == ["prod/1/*", "prod"]


def test_the_history_says_when_a_failure_on_a_node_that_was_down_was_recorded(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production())
    site.fail("prod/1/1/1", ended=time.time() - 600)
    site.fail("prod/1/2/1")

    for path in ("prod", "prod/1"):
        page = d0ctl("history", path).stdout
        assert page.count(" (recorded ") == 1
        late = document(d0ctl("history", path, "--json").stdout)["failures"][1]
        assert late["path"] == "prod/1/1/1" and late["recorded"] > late["ended"]


def test_a_change_names_the_person_once(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    d0ctl("kill", "prod/1/1/1", "--yes")

    change = document(d0ctl("history", "prod/1/1/1", "--json").stdout)["events"][0]

    assert change["note"] == f"killed by {change['actor']}"
    assert f"  {change['actor']}: killed\n" in d0ctl("history", "prod/1/1/1").stdout


def test_an_update_is_not_undone_by_the_command_that_undoes_a_later_one(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    text = "job: j\nstages: [{lines: [{run: A > a, outputs: a}, {run: B > b, outputs: b}]}]\n"
    file = tmp_path / "j.yaml"
    file.write_text(text)
    d0ctl("submit", str(file))
    site.fail("j/1/1/1")
    undo = "to undo: d0ctl update j --previous"
    file.write_text(text.replace("A >", "AA >"))
    d0ctl("update", "j")
    assert undo in d0ctl("history", "j/1/1/1").stdout

    site.finish("j/1/2/1")
    file.write_text(text.replace("A >", "AA >").replace("B >", "BB >"))
    d0ctl("update", "j")

    assert undo not in d0ctl("history", "j/1/1/1").stdout
    assert d0ctl("history", "j").stdout.count(undo) == 1
