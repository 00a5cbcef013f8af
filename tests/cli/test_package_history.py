"""`history` of a package: the actions of people that changed it."""

import time

from d0ctl.store.nodes import placement
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


def test_a_job_that_only_a_kill_has_blocked_is_not_called_failed(site: Site, d0ctl: Type) -> None:
    site.submit(production(lines=1))
    d0ctl("kill", "prod/1/1/1")
    with site.store.writing():
        placement.end_jobs(site.store, now=time.time())

    assert "prod blocked 4 packages did not succeed" in " ".join(d0ctl("history").stdout.split())
    assert document(d0ctl("history", "--json").stdout)["jobs"][0]["status"] == "failed"
