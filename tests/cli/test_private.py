"""Researchers: which clusters are theirs alone, and where their mail goes."""

import json
import time
from pathlib import Path

from d0ctl.daemon.steps.notifications import collect
from d0ctl.daemon.steps.schedule import decide
from tests.cli.conftest import Type
from tests.support import rows
from tests.support.site import Site

SITE = """\
nodes: {localhost: {cluster: lab}}
clusters: {lab: {private: yes}}
researchers:
  emmy: {mail: emmy@example.org, clusters: lab}
  lise: {mail: lise@example.org}
"""

JOB = "job: %s\noriginator: %s\nstages: [{lines: [{run: 'true', runtime: 1m}]}]\n"


def apply(d0ctl: Type, folder: Path, text: str = SITE) -> str:
    """Apply a site file; what is said."""
    (folder / "site.yaml").write_text(text)
    done = d0ctl("site", "apply", str(folder / "site.yaml"), "--yes")
    assert done.exit_code == 0, done.output
    return done.stdout


def written(folder: Path, name: str, originator: str) -> str:
    """A job file."""
    (folder / f"{name}.yaml").write_text(JOB % (name, originator))
    return str(folder / f"{name}.yaml")


def test_a_private_cluster_takes_only_packages_of_its_researchers(
    d0ctl: Type, site: Site, tmp_path: Path
) -> None:
    site.up()
    apply(d0ctl, tmp_path)

    for number, name in enumerate(("emmy", "emmy@lab01", "emmy@example.org")):
        assert d0ctl("submit", written(tmp_path, f"e{number}", name)).exit_code == 0
    for name in ("lise", "otto"):
        refused = d0ctl("submit", written(tmp_path, name, name))
        assert refused.exit_code == 4
        assert "cluster `lab` is private to emmy" in refused.stderr


def test_the_scheduler_leaves_a_private_cluster_to_its_researchers_and_why_says_so(
    d0ctl: Type, site: Site, tmp_path: Path
) -> None:
    site.up()
    apply(d0ctl, tmp_path)
    for name in ("lise", "emmy"):
        d0ctl("submit", written(tmp_path, name, name), "--force")
    rows.change(site.store, "node", {"name": "localhost"}, state="up")

    decisions = decide(site.store, now=time.time())

    assert [decision.package for decision in decisions] == [site.id_of("emmy/1/1/1")]
    why = json.loads(d0ctl("why", "lise/1/1/1", "--json").stdout)
    assert "cluster `lab` is private to emmy" in json.dumps(why)


def test_this_machine_may_be_private_too_and_the_site_as_shown_is_a_site_file(
    d0ctl: Type, site: Site, tmp_path: Path
) -> None:
    site.up()
    assert d0ctl("cluster", "set", "control", "private=yes").exit_code == 0
    assert d0ctl("researcher", "set", "emmy", "clusters=control").exit_code == 0

    assert d0ctl("submit", written(tmp_path, "emmy", "emmy")).exit_code == 0
    assert "cluster `control` is private to emmy" in (
        d0ctl("submit", written(tmp_path, "lise", "lise")).stderr
    )
    (tmp_path / "shown.yaml").write_text(d0ctl("site", "show").stdout)
    again = d0ctl("site", "check", str(tmp_path / "shown.yaml"))
    assert (again.exit_code, again.stderr) == (0, ""), again.stderr


def test_the_site_as_shown_lists_a_cluster_of_a_researcher_that_is_open_now(
    d0ctl: Type, site: Site, tmp_path: Path
) -> None:
    apply(d0ctl, tmp_path)
    assert d0ctl("cluster", "set", "lab", "private=no").exit_code == 0

    (tmp_path / "shown.yaml").write_text(d0ctl("site", "show").stdout)
    again = d0ctl("site", "diff", str(tmp_path / "shown.yaml"))

    assert (again.exit_code, "matches the file" in again.stdout) == (0, True), again.stderr


def test_a_cluster_that_is_private_to_no_one_takes_no_package(
    d0ctl: Type, site: Site, tmp_path: Path
) -> None:
    site.up()
    apply(d0ctl, tmp_path, "nodes: {localhost: {cluster: lab}}\nclusters: {lab: {private: yes}}\n")

    refused = d0ctl("submit", written(tmp_path, "emmy", "emmy"))

    assert "cluster `lab` is private to nobody yet" in refused.stderr


def test_a_rehearsal_leaves_out_clusters_of_others(d0ctl: Type, site: Site, tmp_path: Path) -> None:
    site.up()
    text = (
        "nodes:\n  n1: {destination: n1, cpus: 2, cluster: lab}\n  n2: {destination: n2, cpus: 1}\n"
    )
    text += SITE.partition("\n")[2].replace("clusters: {lab", "clusters: {n2: {}, lab")
    (tmp_path / "plan.yaml").write_text(text)

    found = {}
    for name in ("emmy", "lise"):
        file = written(tmp_path, name, name)
        answer = d0ctl("rehearse", file, "--site", str(tmp_path / "plan.yaml"), "--json")
        found[name] = [node["node"] for node in json.loads(answer.stdout)["nodes"]]

    assert found == {"emmy": ["n1", "n2"], "lise": ["n2"]}


def test_mail_goes_to_the_address_of_a_researcher(d0ctl: Type, site: Site, tmp_path: Path) -> None:
    site.up()
    apply(d0ctl, tmp_path, f"{SITE}mail: {{host: mail, sender: d0ctl@example.org}}\n")
    with site.store.writing():
        collect(site.store, now=time.time())
    d0ctl("submit", written(tmp_path, "one", "emmy"))
    site.fail("one/1/1/1")

    with site.store.writing():
        collect(site.store, now=time.time())

    assert {row[0] for row in rows.read(site.store, "notice", "recipient")} == {"emmy@example.org"}


def test_researchers_are_compared_and_written_as_any_section(
    d0ctl: Type, site: Site, tmp_path: Path
) -> None:
    site.up()

    assert "+ setting researchers" in apply(d0ctl, tmp_path)
    (tmp_path / "again.yaml").write_text(d0ctl("site", "show").stdout)

    again = d0ctl("site", "apply", str(tmp_path / "again.yaml"), "--dry-run")
    assert "researchers" not in again.stdout
    assert "emmy@example.org" in d0ctl("site", "show").stdout


def test_a_researcher_of_an_unknown_or_open_cluster_is_a_fault_or_a_warning(
    d0ctl: Type, tmp_path: Path
) -> None:
    path = tmp_path / "site.yaml"
    path.write_text("clusters: {lab: {}}\nresearchers: {emmy: {clusters: [lab]}}\n")
    open_cluster = d0ctl("site", "check", str(path))
    path.write_text("clusters: {lab: {}}\nresearchers: {emmy: {clusters: [lba], mial: x}}\n")
    unknown = d0ctl("site", "check", str(path))

    assert "warning: cluster `lab` is not `private: yes`, so all may use it" in open_cluster.stderr
    assert unknown.exit_code == 2
    assert "there is no `lba` under `clusters` (did you mean `lab`?)" in unknown.stderr
    assert "a researcher has no key `mial` (did you mean `mail`?)" in unknown.stderr


def test_a_researcher_may_get_a_cluster_that_is_not_private_yet(d0ctl: Type, site: Site) -> None:
    site.up()

    absent = d0ctl("cluster", "set", "lab", "private=yes")
    misspelt = d0ctl("cluster", "set", "contrl", "private=yes")
    done = d0ctl("researcher", "set", "emmy", "clusters=control")
    remark = done.stdout.splitlines()[1]
    private = d0ctl(*remark.partition(": d0ctl ")[2].split())

    assert (absent.exit_code, absent.stderr) == (
        3, "d0ctl: there is no cluster `lab`\n"
        "d0ctl node set NODE cluster=lab --new   # makes it, for a node\n",
    )  # fmt: skip
    assert misspelt.stderr.endswith("did you mean `control`?\n")
    assert remark.startswith("cluster `control` is not private, so all may use it: ")
    assert private.stdout == "changed `control`: private no -> yes\n"


PLATFORMS = """\
nodes: {localhost: {cluster: lab}}
clusters: {lab: {platform: linux-x86_64}}
platforms:
  linux-x86_64: Debian 12, glibc 2.36
  sl7: in a container
software:
  - {name: reco, version: v1, platform: [sl7, sl6], script: "true"}
"""


def test_platforms_are_described_and_others_are_warned_of(
    d0ctl: Type, site: Site, tmp_path: Path
) -> None:
    assert apply(d0ctl, tmp_path, PLATFORMS)
    (tmp_path / "site.yaml").write_text(PLATFORMS.replace("sl7: in", "sl8: in"))

    checked = d0ctl("site", "check", str(tmp_path / "site.yaml"))
    listed = d0ctl("cluster", "list").stdout
    document = json.loads(d0ctl("cluster", "list", "--json").stdout)

    assert "there is no `sl7` under `platforms` (did you mean `sl8`?)" in checked.output
    assert "there is no `sl6` under `platforms`" in checked.output
    assert "linux-x86_64 (Debian 12, glibc 2.36)" in listed
    assert document["clusters"][0]["platform_description"] == "Debian 12, glibc 2.36"
    assert "sl7: in a container" in d0ctl("site", "show").stdout
    changed = d0ctl("site", "diff", str(tmp_path / "site.yaml"))
    assert changed.exit_code == 1
    assert "platforms" in changed.stdout
