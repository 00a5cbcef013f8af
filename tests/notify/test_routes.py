"""Who gets which mail: the table of the D0 Job Definition, section 5, and changes to it."""

import re
from pathlib import Path
from typing import Any

import pytest

from d0ctl.model import Reason
from d0ctl.notify.routes import RESEARCHER, ROUTES, Routes

PAGE = (Path(__file__).parents[2] / "docs" / "mail.md").read_text()

SAID: dict[str, Any] = {
    "host": "mail", "cluster-admin": ["admin@lab"], "grid-control": ["grid@lab"],
}  # fmt: skip

RESEARCHER_AT, GRID_AT, CLUSTER_AT = "eve@lab", "grid@lab", "admin@lab"


def notified(
    reason: str, mode: str | None = None, originator: str = "eve@lab", **more: Any
) -> set[str]:
    """The recipients of a failure."""
    people = Routes(SAID | more).of_failure(reason, "farm", originator, mode)
    return {person.address for person in people}


@pytest.mark.parametrize(
    ("reason", "people"),
    [
        ("platform-failure", {CLUSTER_AT}),
        ("looping", {RESEARCHER_AT}),
        ("seg-fault", {RESEARCHER_AT, GRID_AT, CLUSTER_AT}),
        ("missing-output", {RESEARCHER_AT, GRID_AT, CLUSTER_AT}),
        ("log-message", {RESEARCHER_AT}),
    ],
)
def test_the_routes_are_those_of_the_definition(reason: str, people: set[str]) -> None:
    assert notified(reason) == people


@pytest.mark.parametrize(
    "reason", [reason for reason in Reason if reason != Reason.PLATFORM_FAILURE]
)
def test_the_researcher_gets_all_failures_but_those_of_the_platform(reason: str) -> None:
    assert RESEARCHER_AT in notified(reason)


def test_a_reason_of_the_site_goes_to_the_researcher() -> None:
    assert notified("site:full") == {RESEARCHER_AT}


def test_the_page_has_the_routes_there_are() -> None:
    rows = re.findall(r"^\| (`[^|]*) \| ([^|]*) \|$", PAGE.split("## Recipients")[1], re.MULTILINE)
    documented = {
        reason: set(re.findall(r"`([^`]+)`", roles))
        for reasons, roles in rows
        for reason in re.findall(r"`([^`]+)`", reasons)
    }

    known = {
        str(reason): set(ROUTES.get(reason, (RESEARCHER,)))
        for reason in Reason
        if reason != "killed"
    }
    assert {reason: roles for reason, roles in documented.items() if reason in known} == known


def test_a_site_routes_a_reason_otherwise() -> None:
    routes = {"exit-code": ["grid-control", "boss@lab"], "looping": ["nobody"]}

    assert notified("exit-code", routes=routes) == {GRID_AT, "boss@lab"}
    assert notified("looping", routes=routes) == set()
    assert notified("seg-fault", routes=routes) == {RESEARCHER_AT, GRID_AT, CLUSTER_AT}


def test_each_cluster_may_have_an_admin_of_its_own() -> None:
    admins = {"farm": ["farm@lab"], "*": ["others@lab"]}

    routes = Routes(SAID | {"cluster-admin": admins})
    assert [person.address for person in routes.of_node("farm")] == ["farm@lab"]
    assert [person.address for person in routes.of_node("lab")] == ["others@lab"]
    (person,) = routes.of_failure("platform-failure", "farm", "eve@lab", None)
    assert person.address == "farm@lab"


def test_a_person_with_several_roles_gets_one_mail() -> None:
    people = Routes(SAID).of_failure("seg-fault", "farm", "grid@lab", None)

    assert [person.address for person in people] == ["grid@lab", "admin@lab"]


def test_an_originator_without_an_address_gets_mail_if_the_site_knows_one() -> None:
    people = {"Eve": {"address": "eve@lab"}, "emmy@farm01": {"address": "emmy@lab"}}

    assert notified("exit-code", originator="Eve") == set()
    assert notified("exit-code", originator="eve@lab\r\nBcc: all@lab") == set()
    assert notified("exit-code", originator="Eve", recipients=people) == {"eve@lab"}
    assert notified("exit-code", originator="emmy@farm01", recipients=people) == {"emmy@lab"}


def test_settings_of_a_recipient_override_those_of_the_site() -> None:
    routes = Routes(SAID | {"rate": 3, "mode": "when-needed",
                            "recipients": {"x": {"address": "eve@lab", "rate": 9}}})  # fmt: skip

    person = routes.person("eve@lab")
    assert (person.rate, person.mode, person.digest) == (9, "when-needed", 300)
    assert (routes.person("x").address, routes.person("y@lab").rate) == ("eve@lab", 3)


def test_a_job_sets_the_mails_of_its_researcher_only() -> None:
    assert notified("seg-fault", mode="never") == {GRID_AT, CLUSTER_AT}
    (person,) = Routes(SAID).of_job("eve@lab", "when-needed")
    assert person.mode == "when-needed"


def test_nobody_gets_mail_without_a_server_and_the_command_gets_all() -> None:
    said = {"command": ["/bin/true"], "routes": {"looping": ["nobody"]}}

    for reason in ("looping", "exit-code"):
        people = Routes(said).of_failure(reason, None, "eve@lab", "never")
        assert [person.address for person in people] == ["command"]
