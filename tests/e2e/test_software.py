"""Software from the site file to the nodes: carried, pulled, run, verified, purged."""

import hashlib
import json
import re
from pathlib import Path

import pytest

from tests.support.archives import RECO, Server, member, packed
from tests.support.rows import value
from tests.support.site import Site
from tests.support.site.commands import fingerprint
from tests.support.waiting import wait_until

SITE = """\
code-server: {server}
nodes:
  old: {{destination: {old}, identity: {identity_old}, accept-key: "{key_old}", cpus: 2,
        same-machine: yes, platform: sl6}}
  new: {{destination: {new}, identity: {identity_new}, accept-key: "{key_new}", cpus: 2,
        same-machine: yes, platform: sl7, cluster: lab}}
clusters:
  lab: {{services: SAM}}
software:
  - name: reco
    version: v12-01
    platform: sl7
    archive: reco.tar.gz
    {checksum}
    parameters: {{cards: standard}}
    needs: SAM
    script: |
      reco > {{outputs}}
      printf '%s\\n' with {{cards}} {{inputs}} >> {{outputs}}
  - name: hello
    version: "1"
    script: echo hello from any platform > {{outputs}}
    check: grep -q hello {{outputs}}
"""

JOB = """\
job: made
parameters: {cards: of the job}
stages:
  - name: reco
    lines:
      - for: {raw: {glob: "raw *.txt"}}
        software: reco/v12-01
        parameters: {cards: "it's {raw.stem}"}
        inputs: "{raw}"
        outputs: "{raw.stem}.reco"
"""


def described(site: Site, server: str, *, checksum: str = "", **sshd: str) -> Path:
    """A site file of two nodes that are there, of different platforms."""
    fields: dict[str, str] = {}
    for name in ("old", "new"):
        machine = site.sshds.get(name) or site.start_sshd(name, **sshd)
        fields[name] = machine.destination
        fields[f"identity_{name}"] = str(machine.identity)
        fields[f"key_{name}"] = fingerprint(machine)
    return site.write(SITE.format(server=server, checksum=checksum, **fields), "site.yaml")


@pytest.fixture
def shelf(site: Site) -> Path:
    """A code server on this machine, with one archive."""
    folder = site.folder / "shelf"
    folder.mkdir()
    packed(folder / "reco.tar.gz", RECO)
    return folder


def cached(site: Site, node: str = "new") -> Path:
    """Where a node keeps reco."""
    (found,) = (site.folder / node).glob(f"**/{node}/software/reco/v12-01/sl7")
    return found


def test_a_job_can_name_software_alone(site: Site, shelf: Path) -> None:
    site.ok("site", "apply", described(site, str(shelf)))
    for name in ("a", "b c"):
        (site.jobs / f"raw {name}.txt").write_text("raw")
    site.ok("run", site.write(JOB))

    found = site.json("status", "made/*/*/*")["packages"]
    assert [one["node"] for one in found] == ["new", "new"]
    places = site.json("software", "where")["software"]
    assert [(one["software"], one["node"], one["jobs"]) for one in places] == [
        ("reco/v12-01", "new", ["made"])
    ]
    made = (site.home.root / "results/made/raw b c.reco").read_text().splitlines()
    assert made[0].startswith("reco of /")
    assert made[1:] == ["energy 1960", "with", "it's raw b c", "raw b c.txt"]


def test_nodes_push_verify_and_purge_on_request(site: Site, shelf: Path) -> None:
    site.ok("site", "apply", described(site, str(shelf)))
    title = "reco/v12-01"
    gone = site.d0ctl("software", "verify", title)
    assert (gone.code, "not installed" in gone.out) == (1, True), gone

    assert "installed" in site.ok("software", "push", title)
    assert site.json("software", "verify", title)["nodes"] == [
        {"node": "new", "verb": "verify", "platform": "sl7", "ok": True,
         "message": "complete", "faults": []}
    ]  # fmt: skip

    (cached(site) / "etc/cards").write_text("garbled")
    (cached(site) / "bin/reco").unlink()
    spoilt = site.d0ctl("software", "verify", title, "--node", "new")
    assert spoilt.code == 1
    assert "`bin/reco` is missing" in spoilt.out
    assert "`etc/cards` has changed" in spoilt.out

    assert f"  $ d0ctl software push {title} --node new" in spoilt.out

    site.ok("software", "push", title, "--node", "new")
    site.ok("software", "verify", title, "--node", "new")

    site.start_daemon()
    where = cached(site)
    assert "removed" in site.ok("software", "purge", title)
    assert not where.exists()
    assert not list(site.folder.glob("new/**/software/archives/*"))
    site.ok("software", "push", title)
    site.ok("software", "verify", title)


def test_removed_software_is_purged_with_its_archive(site: Site, shelf: Path) -> None:
    site.ok("site", "apply", described(site, str(shelf)))
    archive = packed(site.folder / "own.tar.gz", [member("bin/own", "x")])
    site.ok("software", "add", "own/1", "--archive", str(archive))
    site.ok("software", "push", "own/1", "--node", "new")
    site.ok("software", "remove", "own/1")

    purged = site.ok("software", "purge", "own/1", "--node", "new").splitlines()

    assert [line.split(None, 1)[1].split() for line in purged] == [["new", "removed"]]
    assert "any platform  removed" in site.ok("software", "where", "own/1")
    assert not list(site.folder.glob("new/**/software/archives/*"))
    assert archive.exists()


def test_only_nodes_that_should_have_software_lack_it(site: Site, shelf: Path) -> None:
    text = described(site, str(shelf)).read_text().replace("platform: sl7", "platform: sl6")
    site.ok("site", "apply", site.write(text, "site.yaml"))
    site.ok("software", "push", "reco/v12-01", "--node", "new")

    every = site.ok("software", "verify", "reco/v12-01")
    assert "old              not installed" in every
    assert "d0ctl software push" not in every
    assert "old" not in site.ok("software", "where")
    named = site.d0ctl("software", "verify", "reco/v12-01", "--node", "old")
    assert (named.code, "push reco/v12-01 --node old" in named.out) == (1, True), named


def test_packages_run_only_where_their_software_exists(site: Site, shelf: Path) -> None:
    site.ok("site", "apply", described(site, str(shelf)))
    refused = site.d0ctl("software", "push", "reco/v12-01", "--node", "old")
    assert (refused.code, "platform of node `old`, sl6" in refused.err) == (4, True), refused
    site.ok("node", "drain", "new")
    (site.jobs / "raw a.txt").touch()
    site.submit(JOB)
    site.start_daemon()
    site.wait_node("old", "up")

    why = site.ok("why", "made/1/1/1")
    assert "no node can take it" in why
    assert "`old` is ruled out: no software reco/v12-01 for platform sl6" in why
    assert "`new` is drained" in why

    site.ok("node", "resume", "new")
    site.wait_phase("made/1/1/1", "done")


def test_an_archive_comes_from_a_server_that_nodes_reach(site: Site, shelf: Path) -> None:
    server = Server(shelf)
    try:
        checksum = hashlib.sha256((shelf / "reco.tar.gz").read_bytes()).hexdigest()
        described(site, server.url, checksum=f"checksum: sha256:{checksum}")
        site.ok("site", "apply", site.jobs / "site.yaml")
        (site.jobs / "raw a.txt").touch()
        site.ok("run", site.write(JOB))
        site.ok("software", "verify", "reco/v12-01")
    finally:
        server.close()

    assert server.asked == ["/reco.tar.gz"]
    assert (site.home.root / "results/made/raw a.reco").exists()


SEALED = """\
code-server: {url}
software:
  - {{name: reco, version: v12-01, archive: reco.tar.gz, size: 5MB, checksum: "{checksum}", {more}}}
"""


def test_an_archive_from_a_server_is_compared_with_what_the_site_says(
    site: Site, shelf: Path
) -> None:
    other = "sha256:" + "0" * 64
    right = "sha256:" + hashlib.sha256((shelf / "reco.tar.gz").read_bytes()).hexdigest()
    server = Server(shelf)

    def apply(checksum: str, more: str = "") -> None:
        text = SEALED.format(url=server.url, checksum=checksum, more=more)
        site.ok("site", "apply", site.write(text, "site.yaml"), "--yes")

    try:
        apply(other)
        refused = site.d0ctl("software", "push", "reco/v12-01")
        apply(right)
        site.ok("software", "push", "reco/v12-01")
        site.ok("software", "verify", "reco/v12-01")
        apply(right, f"manifest: {other}")
        sealed = site.d0ctl("software", "verify", "reco/v12-01")
    finally:
        server.close()

    assert (refused.code, "its checksum differs" in refused.out) == (1, True), refused
    assert "its list of files differs from the catalogue" in sealed.out
    assert sealed.code == 1
    assert "5.0 MB" in site.ok("software", "list")


def test_an_archive_that_vanished_from_its_node_is_brought_anew(site: Site, shelf: Path) -> None:
    site.ok("site", "apply", described(site, str(shelf)))
    site.ok("software", "push", "reco/v12-01")
    for path in site.folder.glob("new/**/software/archives/*"):
        path.unlink()
    where = cached(site)
    where.rename(where.with_name("elsewhere"))
    (site.jobs / "raw a.txt").touch()

    site.ok("run", site.write(f"policy: {{software-missing: {{delay: 1s}}}}\n{JOB}"))
    (failure,) = site.package("made/1/1/1")["failures"]
    assert (failure["reason"], failure["count"]) == ("software-missing", 1)
    assert site.counts("made") == {"done": 1}


def test_an_archive_that_is_not_here_any_more_is_reported(site: Site, shelf: Path) -> None:
    site.ok("site", "apply", described(site, str(shelf)))
    away = (shelf / "reco.tar.gz").rename(shelf / "away")

    failed = site.d0ctl("software", "push", "reco/v12-01")
    assert (failed.code, "is gone" in failed.out) == (1, True), failed
    (site.jobs / "raw a.txt").touch()
    site.submit(JOB)
    site.start_daemon()
    answer = "software `reco/v12-01` is being copied, "
    wait_until(lambda: answer in site.ok("why", "made/1/1/1"))

    away.rename(shelf / "reco.tar.gz")
    site.wait(lambda: site.look().get("done") == 1)


def test_a_script_of_the_catalogue_needs_no_archive(site: Site, shelf: Path) -> None:
    site.ok("site", "apply", described(site, str(shelf)))
    site.ok("run", site.write("stages: [{lines: [{software: hello/1, outputs: x}]}]", "hi.yaml"))

    assert (site.home.root / "results/hi-001/x").read_text() == "hello from any platform\n"


def test_the_check_of_the_catalogue_judges_what_a_job_runs_with_it(site: Site, shelf: Path) -> None:
    site.ok("site", "apply", described(site, str(shelf)))
    bad = "stages: [{lines: [{run: echo bye > x, software: hello/1, outputs: x}]}]"

    assert site.d0ctl("run", site.write(bad, "bad.yaml")).code == 1
    [failure] = json.loads(site.ok("status", "bad-001/1/1/1", "--json"))["failures"]
    assert failure["reason"] == "verification"


def test_a_node_that_is_down_gets_its_software_later(site: Site, shelf: Path) -> None:
    site.ok("site", "apply", described(site, str(shelf)))
    site.start_daemon()
    site.wait_node("new", "up")
    site.sshds["new"].stop()
    site.wait_node("new", "down")

    push = site.d0ctl("software", "push", "reco/v12-01")
    check = json.loads(site.d0ctl("software", "verify", "reco/v12-01", "--json").out)
    assert (push.code, "it will be done when the node answers" in push.out) == (6, True), push
    assert check["nodes"][0]["ok"] is None
    with site.reading() as store:
        assert "@" in value(store, "software_order", "report_to")
    assert re.search(r"^reco/v12-01  new  sl7  waits: is down: .* \(push by \S+ ",
                     site.ok("software", "where"))  # fmt: skip

    site.sshds["new"].start()
    wait_until(lambda: list(site.folder.glob("new/**/software/reco/v12-01/sl7/bin")))

    def answer() -> object:
        return site.json("software", "where", "reco/v12-01")["software"][0]["last_order"]["ok"]

    site.wait(answer, "the node answers")
    site.ok("software", "verify", "reco/v12-01")
