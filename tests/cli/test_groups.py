"""Clusters and researchers in lists, and software for the nodes of a cluster."""

from typing import Any

from d0ctl.model import Address
from d0ctl.store.nodes import registry
from tests.cli.conftest import Type
from tests.support import rows
from tests.support.building import document, job, line, package, production
from tests.support.site import Site


def farm(site: Site, d0ctl: Type) -> None:
    """Two nodes of a private cluster, of which one has reco/v1."""
    for number in (1, 2):
        registry.add(site.store, Address(f"f{number}", destination=f"f{number}"), cpus=1,
                     cluster="farm")  # fmt: skip
    rows.change(site.store, "cluster", {"name": "farm"}, private=1, capacity=10**9,
                software_share=0.1, cached=3 * 10**8)  # fmt: skip
    value = '{"emmy": {"mail": "emmy@lab", "clusters": ["farm"]}}'
    rows.insert(site.store, "setting", name="researchers", value=value)
    rows.insert(site.store, "software", name="reco", version="v1", archive="/r", checksum="r")
    node = registry.named(site.store, "f1").id
    rows.insert(site.store, "archive_copy", node_id=node, checksum="r", arrived=1.0)


def test_a_cluster_lists_its_nodes_owners_cache_and_software(site: Site, d0ctl: Type) -> None:
    farm(site, d0ctl)

    found = {cluster["cluster"]: cluster for cluster in
             document(d0ctl("cluster", "list", "--json").stdout)["clusters"]}  # fmt: skip

    assert found["farm"] == {
        "cluster": "farm", "platform": None, "platform_description": None,
        "nodes": ["f1", "f2"], "private": True, "researchers": ["emmy"], "capacity": 10**9,
        "software_share": 0.1, "cached": 3 * 10**8,
        "software": ["reco/v1"], "fault": None, "pilots": None,
    }  # fmt: skip
    assert found["control"]["nodes"] == ["localhost"]
    text = d0ctl("cluster", "list").stdout
    assert "private to emmy" in text
    assert "cache of 1.0 GB, 10% of it for software: 300 MB in use" in text


def test_software_is_listed_on_the_nodes_that_reported_it(site: Site, d0ctl: Type) -> None:
    node = registry.named(site.store, "localhost").id
    order = {"node_id": node, "name": "sim", "version": "v2", "platform": "", "archive": "/s",
             "checksum": "s", "actor": "me", "asked": 1.0, "ended": 2.0, "ok": 1}  # fmt: skip

    def there() -> list[str]:
        (one,) = document(d0ctl("cluster", "list", "--json").stdout)["clusters"]
        return list(one["software"])

    rows.insert(site.store, "software_order", verb="push", **order)
    assert there() == ["sim/v2"]

    rows.insert(site.store, "software_order", verb="purge", **order)
    assert there() == []


def test_researchers_are_those_of_the_site_file_and_other_originators(
    site: Site, d0ctl: Type
) -> None:
    assert d0ctl("researcher", "list").stdout.startswith("no researchers")
    farm(site, d0ctl)
    for number, name in enumerate(("emmy@lab", "emmy@host", "otto")):
        site.submit(job(("a", [line(package("a"))]), name=f"j{number}", originator=name))

    found = document(d0ctl("researcher", "list", "--json").stdout)["researchers"]

    assert found == [
        {"researcher": "emmy", "mail": "emmy@lab", "clusters": ["farm"], "jobs": 2, "shares": []},
        {"researcher": "otto", "mail": None, "clusters": [], "jobs": 1, "shares": []},
    ]
    assert "private: farm" in d0ctl("researcher", "list").stdout


def test_settings_of_clusters_are_changed_by_a_verb_until_the_site_file_is_applied(
    site: Site, d0ctl: Type
) -> None:
    farm(site, d0ctl)

    def farms() -> dict[str, Any]:
        found = document(d0ctl("cluster", "list", "--json").stdout)["clusters"]
        (entry,) = [one for one in found if one["cluster"] == "farm"]
        return {key: value for key, value in entry.items() if key != "cached"}

    before = farms()
    said = d0ctl("cluster", "set", "farm", "capacity=2TB", "private=no", "--dry-run").stdout
    assert said == "would change `farm`: capacity 1GB -> 2TB, private yes -> no\n"
    assert farms() == before
    assert d0ctl("cluster", "set", "farm", "capacity=2TB", "private=no").exit_code == 0
    assert (farms()["capacity"], farms()["private"]) == (2 * 10**12, False)
    assert d0ctl("cluster", "set", "farm", "private=no").stdout == (
        "`farm` has these settings already\n"
    )

    undo = rows.read(site.store, "action", "undo", by="verb", verb="cluster set")
    assert d0ctl(*undo[0][0].split()[1:]).exit_code == 0
    assert farms() == before

    assert d0ctl("cluster", "set", "moon", "private=no").exit_code == 3
    for wrong in ("colour=red", "capacity", "capacity=much", "private=perhaps"):
        answer = d0ctl("cluster", "set", "farm", wrong)
        assert (answer.exit_code, len(answer.stderr.splitlines())) == (2, 2), answer.stderr


def test_researchers_are_added_and_changed_by_a_verb(site: Site, d0ctl: Type) -> None:
    farm(site, d0ctl)

    added = d0ctl("researcher", "set", "otto", "mail=o@lab.example")
    assert added.stdout == (
        "added `otto`: mail none -> o@lab.example\n"
        "`site apply` of a site file without `otto` removes this researcher\n"
    )
    assert "to undo" not in added.stderr
    changed = d0ctl("researcher", "set", "otto", "clusters=farm", "mail=none")
    assert changed.stdout.startswith("changed `otto`: ")
    assert "to undo: d0ctl researcher set otto clusters=none mail=o@lab" in changed.stderr

    found = document(d0ctl("researcher", "list", "--json").stdout)["researchers"]
    assert {one["researcher"]: (one["mail"], one["clusters"]) for one in found} == {
        "emmy": ("emmy@lab", ["farm"]), "otto": (None, ["farm"]),
    }  # fmt: skip
    wrong = d0ctl("researcher", "set", "otto", "clusters=moon")
    assert (wrong.exit_code, "there is no `moon`" in wrong.stderr) == (2, True), wrong.stderr


def test_an_order_for_a_cluster_goes_to_each_of_its_nodes(site: Site, d0ctl: Type) -> None:
    farm(site, d0ctl)
    rows.change(site.store, "node", {"name": "f2"}, platform="sl7")

    answer = d0ctl("software", "push", "reco/v1", "--cluster", "farm", "--dry-run")

    assert answer.stdout == "would push `reco/v1` on `f1` and `f2`\n"
    none = d0ctl("software", "push", "reco/v1", "--cluster", "moon", "--dry-run")
    assert (none.exit_code, "cluster `moon` has no nodes" in none.stderr) == (3, True)


def test_the_number_of_further_selectors_is_not_quoted(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    paths = [f"prod/1/{n}/1" for n in (1, 2, 3)]

    killed = d0ctl("kill", *paths, "prod/2/1/1", "--yes").stdout
    again = d0ctl("kill", *paths, "prod/2/1/1", "--yes").stderr

    assert f"4 packages of `{' '.join(paths)}` and 1 more" in killed
    assert f"no packages of `{' '.join(paths)}` and 1 more can be killed" in again
