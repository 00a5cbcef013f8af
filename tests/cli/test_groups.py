"""Clusters and researchers in lists, and software for the nodes of a cluster."""

from d0ctl.model import Address
from d0ctl.store.nodes import registry
from tests.cli.conftest import Type
from tests.support import rows
from tests.support.building import document, job, line, package
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
    node = registry.named(site.store, "f1")["id"]
    rows.insert(site.store, "archive_copy", node_id=node, checksum="r", arrived=1.0)


def test_a_cluster_has_its_nodes_its_owners_its_cache_and_its_software(
    site: Site, d0ctl: Type
) -> None:
    farm(site, d0ctl)

    found = {one["cluster"]: one for one in
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


def test_software_lies_where_a_node_said_last_that_it_has_it(site: Site, d0ctl: Type) -> None:
    node = registry.named(site.store, "localhost")["id"]
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


def test_an_order_for_a_cluster_goes_to_each_of_its_nodes(site: Site, d0ctl: Type) -> None:
    farm(site, d0ctl)
    rows.change(site.store, "node", {"name": "f2"}, platform="sl7")

    answer = d0ctl("software", "push", "reco/v1", "--cluster", "farm", "--dry-run")

    assert answer.stdout == "would push `reco/v1` on `f1` and `f2`\n"
    none = d0ctl("software", "push", "reco/v1", "--cluster", "moon", "--dry-run")
    assert (none.exit_code, "no node of cluster `moon`" in none.stderr) == (3, True)
