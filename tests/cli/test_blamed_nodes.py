"""Which node `report failures` names as the likely cause."""

from typing import Any

from d0ctl.model import Address
from d0ctl.store.nodes import registry
from tests.cli.conftest import Type
from tests.support.building import document, production
from tests.support.site import Site


def bad_node(site: Site, reason: str = "seg-fault") -> None:
    """Eight lines, of which those on a second node fail and those here do not."""
    registry.add(site.store, Address("farm03", destination="farm03"), cpus=8)
    site.up("farm03", machine_id="m3", cpus=8)
    site.submit(production(lines=8))
    for number in range(1, 9):
        site.launch(f"prod/1/{number}/1", "farm03" if number > 4 else "localhost")
        bad: dict[str, Any] = {"outcome": "failed", "reason": reason, "detail": "core", "binary": 1}
        site.end(f"prod/1/{number}/1", **(bad if number > 4 else {}))


def test_the_node_that_stands_out_is_blamed_with_the_evidence(d0ctl: Type, site: Site) -> None:
    bad_node(site)

    answer = d0ctl("report", "failures", "prod").stdout

    assert ("node `farm03` stands out: all 4 attempts there failed, 0 of 4 elsewhere\n"
            "  d0ctl why --node farm03\n") in answer  # fmt: skip
    assert "software `" not in answer
    for words in ((), ("prod/1",), ("prod", "--reason", "seg-fault"), ("--node", "farm03")):
        (one,) = document(d0ctl("report", "failures", *words, "--json").stdout)["blamed"]
        assert (one["node"], one["failed"], one["of"]) == ("farm03", 4, 4)
        assert (one["others_failed"], one["others"]) == (0, 4)


def test_no_node_is_blamed_whose_failures_are_not_counted_and_none_looked_for_that_is_gone(
    d0ctl: Type, site: Site
) -> None:
    bad_node(site)
    site.submit(production(name="other"))
    site.fail("other/1/1/1")

    here = d0ctl("report", "failures", "--node", "localhost").stdout
    d0ctl("node", "remove", "farm03", "--yes")
    gone = d0ctl("report", "failures", "prod").stdout

    assert here.startswith("1 failure") and "stands out" not in here
    assert "node `farm03` stands out" in gone and "why --node" not in gone


def test_no_node_is_blamed_for_packages_that_request_too_little(d0ctl: Type, site: Site) -> None:
    bad_node(site, "out-of-memory")
    assert "stands out" not in d0ctl("report", "failures", "prod").stdout
