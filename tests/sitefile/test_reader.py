"""What the author of a site file gets: a site, or every fault with its place."""

import hashlib
import re
from pathlib import Path

import pytest

from d0ctl.jobfile.sections.file_commands import TRANSFER_KEYS
from d0ctl.model import Address
from d0ctl.sitefile.bad_nodes import BAD_NODE_KEYS, EXCLUSION_KEYS
from d0ctl.sitefile.defaults import BAD_NODES, EXCLUSION, STANDARD
from d0ctl.sitefile.mail import MAIL_KEYS, PERSON_KEYS
from d0ctl.sitefile.nodes import CLUSTER_KEYS, NODE_KEYS
from d0ctl.sitefile.reader import SECTIONS
from d0ctl.sitefile.settings import DEFAULTS, HOOK_KEYS, LOG_RULE_KEYS
from d0ctl.sitefile.software import SOFTWARE_KEYS
from d0ctl.sitefile.spec import ClusterEntry, NodeEntry

from .conftest import Faults, Read

REFERENCE = (Path(__file__).parents[2] / "docs" / "sitefile.md").read_text()

WRONG = """\
nods: {}
code-server: /no/such/folder
nodes:
  farm 1: farm1
  farm2: {destination: x, cpus: 0, dir: relative, via: carrier-pigeon, speed: 0, colour: red}
  farm3: {cluster: control, accept-key: [SHA256:short], identity: /no/key, services: "a b"}
  farm4: [x]
clusters:
  lab: {capacity: huge, private: maybe}
  pub: open
software:
  - name: reco
    version: v1/2
    archive: gone.tar
  - {name: reco, script: "cat '{inputs}' {cards}"}
  - {name: sim, version: v1, archive: "https://x/y.tar", platform: [a, a]}
  - {name: gen, version: v1, archive: "ftp://x/y.tar", checksum: 123}
  - {name: raw, version: v1}
  - text
log-rules:
  - "(unclosed"
  - {reason: other, passive: perhaps}
hooks: {befor: x, timeout: never}
defaults: {lease: 2h, nice: 20}
transfer:
  Root: {fetch: x}
  root: {fetch: "xrdcp {source}", store: "xrdcp '{source}' {dest}"}
bad-nodes: {failures: 0, pause: 1h, try-again: 30m, longest: 10m, patience: 1}
exclusion: always
event-queue: {topic: "a#", login: /no/login, security: none, client: "a b"}
"""

TOLD = """\
1:1: a site has no key `nods` (did you mean `nodes`?)
2:14: there is no folder `/no/such/folder`
4:3: `farm 1` is not a valid name for a node: use letters, digits, `.`, `_` and `-`
5:33: `cpus` takes a whole number of CPUs, 1 or more, not `0`
5:41: `dir` takes an absolute path of letters, digits and `._/-` only, not `relative`
5:56: `via` takes `auto`, `fabric` or `openssh`, not `carrier-pigeon`
5:79: `speed` takes the speed relative to a standard node, such as `1.5`, not `0`
5:82: a node has no key `colour` (did you mean `cluster`?)
6:20: `cluster`: the cluster `control` belongs to this machine
6:42: `accept-key` takes fingerprints of host keys, `SHA256:` and 43 characters, not `SHA256:short`
6:67: `identity` takes the path of an existing private key, not `/no/key`
6:86: `services` takes names of services, made of letters, digits and `._+-`, not `a b`
7:10: `farm4` takes keys of a node, not a list
9:19: `capacity` takes a size such as `200MB`, `1.5 GiB` or `4096`, not `huge`
9:34: `private` takes `yes` or `no`, not `maybe`
10:8: `pub` takes keys of a cluster, not `open`
13:14: `version` takes a name of letters, digits and `._+-`, not `v1/2`
15:5: software needs `version`
15:32: `{inputs}` is inside quotes: remove them, d0ctl adds its own
16:5: software `sim/v1` for `a` is listed twice
16:30: an `archive` behind a URL needs its `checksum`
17:30: `archive` takes a path, or an http, https or file URL
17:66: `checksum` takes `sha256:` and 64 hexadecimal digits, not `123`
18:5: software needs `script`, `archive` or both
19:5: an entry of `software` takes keys, as in `- name: x`, not `text`
21:5: `match`: `(unclosed` is not a regular expression: missing ), unterminated subpattern \
at position 0
22:5: a log rule needs `match`
22:14: `reason` takes `log-message` or `site:NAME`, not `other`
22:30: `passive` takes `yes` or `no`, not `perhaps`
23:9: `hooks` has no key `befor` (did you mean `before`?)
23:28: `timeout` takes a time such as `20m`, `1h30m` or `90` seconds, not `never`
24:12: `lease` must be shorter than `unreachable-after`, which is 1h
24:29: `nice` takes a whole number from 0 to 19, not `20`
26:3: `Root` is not a scheme such as `root` or `https`
27:17: `fetch` needs `{dest}`
27:50: `{source}` is inside quotes: remove them, d0ctl adds its own
28:23: `failures` takes a whole number, 1 or more, or `no`, not `0`
28:26: `pause` must not be longer than `minimum-run`, which is 20m
28:53: `try-again` must not be longer than `longest`, which is 10m
28:67: `bad-nodes` has no key `patience`; it has `failures`, `pause`, `minimum-run`, \
`try-again` and `longest`
29:12: `exclusion` takes keys such as `completed`, not `always`
30:14: `event-queue` needs a `host`
30:22: `topic` takes a topic such as `d0ctl/events`, also with `+` and `#`, not `a#`
30:28: with `security: none` the password would be sent unencrypted
30:35: `login`: `/no/login` can't be read: No such file or directory
30:70: `client` takes 1 to 64 letters, digits and `._-`, not `a b`
"""


def test_every_fault_of_a_site_file_is_reported_at_once(faults: Faults) -> None:
    assert "\n".join(faults(WRONG)) + "\n" == TOLD


def test_an_archive_that_a_node_would_refuse_is_a_fault(faults: Faults, folder: Path) -> None:
    (folder / "text.tar").write_text("no tar file")
    (folder / "x").mkdir()
    answer = faults(
        "software:\n"
        "  - {name: a, version: v1, archive: text.tar}\n"
        "  - {name: b, version: v1, archive: gone.tar}\n"
        f"  - {{name: c, version: v1, archive: reco.tar.gz, checksum: 'sha256:{'0' * 64}'}}\n"
        "  - {name: d, version: v1, archive: x}\n"
    )

    assert answer[0].startswith(f"2:28: archive `{folder}/text.tar`: not a complete tar file: ")
    assert (
        answer[1] == f"3:28: archive `{folder}/gone.tar` can't be read: no such file or directory"
    )
    assert answer[2].startswith(f"4:28: the `checksum` of `{folder}/reco.tar.gz` is sha256:")
    assert answer[2].endswith(f", not sha256:{'0' * 64}")
    assert "can't be read: is a directory" in answer[3]


def test_a_node_with_another_word_for_its_destination_is_not_taken_for_this_machine(
    faults: Faults,
) -> None:
    assert faults("nodes:\n  a: {address: me@a}\n  b: {host: me@b}\n") == [
        "2:7: a node has no key `address` (did you mean `destination`?)",
        "3:7: a node has no key `host` (did you mean `destination`?)",
    ]


@pytest.mark.parametrize("text", ["", "- a", "word"])
def test_a_file_that_is_no_site_file_is_reported(faults: Faults, text: str) -> None:
    (answer,) = faults(text)
    assert answer.startswith("1:1: a site file needs keys such as `nodes` and `software`; ")


def test_nodes_and_clusters_are_read(site: Read, folder: Path) -> None:
    (folder / "key").touch()
    found = site(
        "nodes:\n  here:\n  farm1: emmy@farm1:2222\n"
        f"  farm2: {{destination: farm2, cpus: 8, identity: {folder}/key, dir: /d, python: /p,\n"
        "          via: openssh, cluster: lab, platform: sl7, speed: 1.5, memory: 4GiB,\n"
        f"          services: [SAM, ROOT], accept-key: 'SHA256:{'a' * 43}'}}\n"
        "clusters: {lab: {platform: sl6, services: SAM, private: yes, capacity: 1TB}, pub: }\n"
    )

    here, farm1, farm2 = found.nodes
    assert here.address == Address("here", "local")
    assert farm1 == NodeEntry("farm1", "emmy@farm1:2222")
    assert farm2.address == Address("farm2", "ssh", "farm2", f"{folder}/key", "/d", "/p", "openssh")
    assert (farm2.cpus, farm2.speed, farm2.memory, farm2.platform) == (8, 1.5, 2**32, "sl7")
    assert (farm2.services, farm2.accept_key) == (("SAM", "ROOT"), ("SHA256:" + "a" * 43,))
    lab = ClusterEntry("lab", "sl6", ("SAM",), private=True, capacity=10**12)
    assert found.clusters == (lab, ClusterEntry("pub"))


def test_software_is_read_with_what_its_archive_holds(site: Read, folder: Path) -> None:
    found = site(
        "code-server: .\nsoftware:\n  - name: reco\n    version: v12-01\n    platform: [sl6, sl7]\n"
        "    archive: reco.tar.gz\n    parameters: {cards: , mode: no}\n    shell: sh\n"
        "    script: reco {cards} ${HOME} {print} {inputs.list}\n    runtime: 20m\n"
        "    needs: SAM\n    log-rules: FATAL\n    progress: event (\\d+)\n"
    )

    sl6, sl7 = found.software
    data = (folder / "reco.tar.gz").read_bytes()
    assert (sl6.platform, sl7.platform) == ("sl6", "sl7")
    assert (sl6.archive, sl6.size) == (f"{folder}/reco.tar.gz", len(data))
    assert sl6.checksum == "sha256:" + hashlib.sha256(data).hexdigest()
    assert sl6.manifest is not None and sl6.manifest.startswith("sha256:")
    assert (sl6.parameters, sl6.shell) == ({"cards": "", "mode": "no"}, "sh")
    assert (sl6.runtime, sl6.needs) == (1200, ("SAM",))
    assert sl6.log_rules == ({"match": "FATAL"},)
    assert sl6.progress == {"log": "event (\\d+)"}


def test_archives_are_fetched_from_the_code_server(site: Read) -> None:
    found = site(
        "code-server: https://code.example.org/d0/\n"
        f"software: {{name: reco, version: v1, archive: a/b.tar, checksum: sha256:{'0' * 64}}}\n"
    )

    assert found.software[0].archive == "https://code.example.org/d0/a/b.tar"
    assert not found.software[0].is_here


def test_settings_are_kept_as_they_are_read(site: Read) -> None:
    found = site(
        "log-rules: [FATAL, {match: E+, reason: site:e, passive: yes}]\n"
        "hooks: {before: a, after: b, end: c, timeout: 1m}\n"
        "defaults: {looping: 30m, lease: 1m, unreachable-after: 2m, nice: 0, grace: 10}\n"
        "transfer: {root: {fetch: 'xrdcp {source} {dest}'}}\n"
    )

    assert found.settings == {
        "log-rules": [{"match": "FATAL"}, {"match": "E+", "reason": "site:e", "passive": True}],
        "hooks": {"before": "a", "after": "b", "end": "c", "timeout": 60.0},
        "defaults": {
            "looping": 1800.0, "lease": 60.0, "unreachable-after": 120.0, "nice": 0, "grace": 10.0,
        },
        "transfer": {"root": {"fetch": "xrdcp {source} {dest}"}},
    }  # fmt: skip


LEVELS = {
    "Node": NODE_KEYS, "Cluster": CLUSTER_KEYS, "Software": SOFTWARE_KEYS,
    "Log rule": LOG_RULE_KEYS, "Hooks": HOOK_KEYS, "Defaults": DEFAULTS,
    "Transfer": TRANSFER_KEYS, "Mail": MAIL_KEYS, "Recipient": PERSON_KEYS,
    "Bad nodes": BAD_NODE_KEYS, "Exclusion": EXCLUSION_KEYS,
}  # fmt: skip


@pytest.mark.parametrize("level", LEVELS)
def test_the_reference_has_each_key_of_a_level(level: str) -> None:
    section = REFERENCE.split(f"### {level}\n")[1].split("\n##")[0]
    cells = re.findall(r"^\| (`.*?`) \|", section, re.MULTILINE)

    assert {key for cell in cells for key in re.findall(r"`([^`]+)`", cell)} == set(LEVELS[level])


def test_the_reference_names_each_section_and_the_real_defaults() -> None:
    assert [name for name in SECTIONS if f"`{name}:`" not in REFERENCE] == []
    row = r"^\| `([a-z-]+)` \| .* \| `?(\d+[\w%]*|apptainer|yes)`? \|$"
    answer = dict(re.findall(row, REFERENCE, re.MULTILINE))
    standard = {**STANDARD, **BAD_NODES, **EXCLUSION}
    real = {name: value for name, value in standard.items() if value is not None}
    kinds = {**DEFAULTS, **BAD_NODE_KEYS, **EXCLUSION_KEYS}
    assert {name: kinds[name].convert(answer[name]) for name in real} == real


def test_a_misspelt_cluster_is_a_fault(faults: Faults, site: Read) -> None:
    text = "clusters: {farm: {services: SAM}}\nnodes:\n  n1: {destination: n1, cluster: %s}\n"

    assert faults(text % "frm") == [
        "3:34: `cluster`: there is no `frm` under `clusters` (did you mean `farm`?)"
    ]
    assert site(text % "farm").nodes[0].cluster == "farm"
    assert site(text % "n1").nodes[0].cluster == "n1"
    assert site("nodes:\n  n1: {destination: n1, cluster: any}\n").nodes[0].cluster == "any"


def test_a_key_of_another_batch_system_is_a_fault(faults: Faults) -> None:
    text = "clusters: {a: {kind: htcondor, qos: high, rank: Mips}, b: {kind: slurm, rank: Mips}}"

    assert [str(fault).partition(": ")[2] for fault in faults(text)] == [
        "`qos` is not for `kind: htcondor`",
        "`rank` is not for `kind: slurm`",
    ]


def test_a_second_node_of_this_machine_has_to_be_intended(faults: Faults, site: Read) -> None:
    text = "nodes:\n  localhost: {}\n  twin: {cpus: 1%s}\n"

    assert faults(text % "") == [
        "3:3: `twin` is this machine, like `localhost`, so it would be used twice;"
        " if that is intended, give it the key `same-machine: yes`"
    ]
    assert len(site(text % ", same-machine: yes").nodes) == 2


@pytest.mark.parametrize(
    "text",
    ["nodes: {n0: , n1: {destination: %s}}", "nodes: {n1: %s}",
     "clusters: {farm: {kind: slurm, login: %s}}"],
)  # fmt: skip
@pytest.mark.parametrize(
    ("destination", "fault"),
    [("emmy@farm1:247111", "`emmy@farm1:247111` is not a destination"),
     ("emmy@farm1:70000", "`emmy@farm1:70000` has an invalid port: 70000"),
     ("emmy@@farm1", "`emmy@@farm1` is not a destination")],
)  # fmt: skip
def test_a_destination_that_no_node_can_have_is_a_fault(
    faults: Faults, text: str, destination: str, fault: str
) -> None:
    [found] = faults(text % f"'{destination}'")

    assert fault in found
