"""Which node or software `report failures` names as the likely cause, and the command for it."""

from pathlib import Path
from typing import Any

from d0ctl.model import Address
from d0ctl.store.nodes import registry
from tests.cli.conftest import Type
from tests.support.archives import RECO, packed
from tests.support.building import document, production
from tests.support.rows import change
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


def test_a_node_blamed_in_an_archive_has_no_command_as_it_may_work_today(
    d0ctl: Type, site: Site
) -> None:
    bad_node(site)
    d0ctl("kill", "prod", "--yes")
    assert d0ctl("archive", "prod", "--as", "day1", "--yes").exit_code == 0

    answer = d0ctl("report", "failures", "--archive", "day1").stdout

    assert "node `farm03` stands out: all 4 attempts there failed" in answer
    assert "why --node" not in answer


def test_blamed_software_is_to_be_verified_while_the_catalogue_has_it(
    d0ctl: Type, site: Site, tmp_path: Path
) -> None:
    archive, file = packed(tmp_path / "reco.tar.gz", RECO), tmp_path / "prod.yaml"
    d0ctl("software", "add", "reco/v1", "--archive", str(archive))
    d0ctl("software", "add", "sim/v1", "--archive", str(archive))
    each = "{{for: {{n: [1, 2, 3]}}, software: {0}/v1, run: x, outputs: '{0}-{{n}}'}}"
    file.write_text(
        f"job: prod\nstages: [{{lines: [{each.format('reco')}, {each.format('sim')}]}}]"
    )
    assert d0ctl("submit", str(file)).exit_code == 0
    for number in range(1, 7):
        (site.fail if number < 4 else site.finish)(f"prod/1/{number}/1")

    known = d0ctl("report", "failures").stdout
    change(site.store, "software", {"name": "reco"}, version="v2")
    gone = d0ctl("report", "failures").stdout

    assert "software `reco/v1` stands out" in known and "d0ctl software verify reco/v1\n" in known
    assert "software `reco/v1` stands out" in gone and "software verify" not in gone
