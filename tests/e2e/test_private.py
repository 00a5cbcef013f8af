"""A cluster that is private to a researcher, and whose cache has a share for software."""

import os
from pathlib import Path

from tests.support.archives import member, packed
from tests.support.site import Site
from tests.support.site.commands import fingerprint

SITE = """\
nodes:
  mine: {{cluster: lab, cpus: 2, same-machine: yes, {mine}}}
  open: {{cluster: hall, cpus: 2, same-machine: yes, {open}}}
clusters:
  hall: {{}}
  lab: {{private: yes, capacity: 4MB, software-share: 10%}}
researchers:
  emmy: {{clusters: lab}}
  lise: {{mail: lise@example.org}}
"""

JOB = """\
job: {name}
originator: {researcher}
stages:
  - lines:
      - {{for: {{n: [1, 2, 3]}}, {more} run: "echo {{n}} > out{{n}}", outputs: "out{{n}}"}}
"""


def equip(site: Site) -> None:
    """A private node and an open one behind sshds, as an admin describes them."""
    trust = {
        name: f"destination: {sshd.destination}, identity: {sshd.identity}, "
        f'accept-key: "{fingerprint(sshd)}"'
        for name, sshd in ((name, site.start_sshd(name)) for name in ("mine", "open"))
    }
    site.ok("site", "apply", site.write(SITE.format(**trust), "site.yaml"), "--yes")
    site.alone()
    site.start_daemon()
    for name in trust:
        site.wait_node(name, "up")


def test_packages_of_others_stay_off_a_private_cluster_and_why_says_so(
    site: Site, tmp_path: Path
) -> None:
    equip(site)
    on_mine = "nodes: [mine],"
    stuck = JOB.format(name="stuck", researcher="lise", more=on_mine)
    site.submit(JOB.format(name="hers", researcher="emmy", more=on_mine))
    site.submit(JOB.format(name="guest", researcher="lise", more=""))
    refused = site.d0ctl("submit", site.write(stuck))
    site.submit(stuck, "--force")

    # the owner's packages run there, those of another researcher on the open node or nowhere
    for job in ("hers", "guest"):
        assert site.ok("wait", job) == f"`{job}` is successful\n"
    ran = site.ask("""select distinct job.name, node_name from attempt
                      join package on package.id = package_id join job on job.id = job_id""")
    assert sorted(ran) == [("guest", "open"), ("hers", "mine")]
    assert refused.code == 4, refused
    assert "`mine` is ruled out (cluster `lab` is private to emmy)" in refused.err
    assert site.counts("stuck") == {"ready": 3}
    answer = site.ok("why", "stuck/1/1/1")
    assert "is ready, and no node can take it\n" in answer
    assert "- node `mine` is ruled out: cluster `lab` is private to emmy\n" in answer
    assert "` begins in" not in answer

    # software has its share of the cache, and no more
    data = [
        member("bin/tool", "#!/bin/sh\n", mode=0o755),
        member("data", os.urandom(400_000).hex()),
    ]
    site.ok("software", "add", "tools/v1", "--archive", packed(tmp_path / "tools.tar.gz", data))
    full = site.d0ctl("software", "push", "tools/v1", "--node", "mine")
    assert full.code == 4, full
    assert "does not fit: cluster `lab` keeps 400 kB for software, and 0 B are in use" in full.err
    assert "installed" in site.ok("software", "push", "tools/v1", "--node", "open")
    command = full.err.splitlines()[-1].split()
    assert command[:4] == ["d0ctl", "cluster", "set", "lab"], full
    site.ok(*command[1:])
    assert "installed" in site.ok("software", "push", "tools/v1", "--node", "mine")

    # a researcher who is let in needs nothing else
    site.ok("researcher", "set", "lise", "clusters=lab")
    assert site.ok("wait", "stuck") == "`stuck` is successful\n"
