"""Keys of the site file by what they change: a package ends otherwise with the key than without."""

import os
import re
from typing import Any

import pytest

from d0ctl.sitefile.defaults import NICE
from tests.support.site import Site
from tests.support.site.commands import Done, fingerprint
from tests.support.waiting import wait_until

SOFTWARE = {
    "script": ("script: exit 3", "exit-code", "script: 'true'", ""),
    "shell": ("shell: sh, script: false | true", "", "script: false | true", "exit-code"),
    "parameters": (
        "parameters: {word: a}, script: 'test {word} = a'", "",
        "parameters: {word: b}, script: 'test {word} = a'", "exit-code",
    ),
    "log-rules": ("log-rules: FATAL, script: echo FATAL", "log-message", "script: echo FATAL", ""),
    "hooks": ("hooks: {before: exit 5}, script: 'true'", "hook", "script: 'true'", ""),
    "check": ("check: test -e a, script: touch b", "verification", "script: touch b", ""),
    "policy": (
        "policy: {exit-code: {tries: 1, delay: 0s}}, script: exit 3", "exit-code, exit-code",
        "script: exit 3", "exit-code",
    ),
}  # fmt: skip
"""An entry of the catalogue with the key, the reasons of its failures, and the same without it."""


def reasons(site: Site, path: str) -> str:
    """Why the attempts of a package failed, each in a word."""
    ends = site.package(path)["attempts"]
    return ", ".join(one["reason"] for one in ends if one["reason"])


def test_each_key_of_a_software_entry_changes_how_it_ends(site: Site) -> None:
    entries = [text for one in SOFTWARE.values() for text in (one[0], one[2])]
    wanted = [ending for one in SOFTWARE.values() for ending in (one[1], one[3])]
    rows = [f"  - {{name: s{n}, version: v1, {text}}}\n" for n, text in enumerate(entries)]
    site.ok("site", "apply", site.write(f"software:\n{''.join(rows)}", "site.yaml"), "--yes")
    lines = ", ".join(f"{{software: s{n}/v1}}" for n in range(len(entries)))
    rule = "policy: {hook: {tries: 0}}"

    done = site.d0ctl("run", site.write(f"job: soft\n{rule}\nstages: [{{lines: [{lines}]}}]"))

    assert done.code == 1, done
    found = [reasons(site, f"soft/1/{n}/1") for n in range(1, len(entries) + 1)]
    assert list(zip(entries, found, strict=True)) == list(zip(entries, wanted, strict=True))


HANGS = 'transfer: {hang: {fetch: "HERE/hang {source} {dest}"}}\n'
DRIPS = 'transfer: {drip: {fetch: "HERE/drip {source} {dest}"}}\n'

HAS_LEVEL = "for n in $(seq 300); do test $(nice) = LEVEL{} && exit; sleep 0.1; done; exit 1"
"""Ends well at this level below the tests. Its wrapper lowers it after its start, so it waits."""

SITES = {
    "log-rules": ("log-rules: FATAL", "run: echo FATAL", "log-message"),
    "match": ("log-rules: [{match: OTHER}]", "run: echo FATAL", ""),
    "reason": (
        "log-rules: [{match: FATAL, reason: 'site:beam'}]", "run: echo FATAL", "site:beam",
    ),
    "passive": ("log-rules: [{match: FATAL, passive: yes}]", "run: echo FATAL", ""),
    "before": ("hooks: {before: exit 5}", "run: exit 3", "hook"),
    "after": ("hooks: {after: exit 5}", "run: 'true'", "hook"),
    "end": ("hooks: {end: exit 5}", "run: 'true'", "hook"),
    "timeout": ("hooks: {before: sleep 1.5, timeout: 1s}", "run: 'true'", "hook"),
    "no timeout": ("hooks: {before: sleep 1.5}", "run: 'true'", ""),
    "nice": ("defaults: {nice: 3}", f"run: '{HAS_LEVEL.format(3)}'", ""),
    "no nice": ("defaults: {}", f"run: '{HAS_LEVEL.format(NICE)}'", ""),
    "looping": ("defaults: {looping: 1s}", "run: sleep 3", "looping"),
    "transfer-idle": (
        HANGS + "defaults: {transfer-idle: 1s, transfer-retry: 0s}",
        "run: 'true', inputs: {file: a, locator: 'hang:a'}", "stage-in",
    ),
    "transfer-timeout": (
        DRIPS + "defaults: {transfer-timeout: 1s, transfer-retry: 0s}",
        "run: 'true', inputs: {file: a, locator: 'drip:a'}", "stage-in",
    ),
    "neither": (DRIPS, "run: 'true', inputs: {file: a, locator: 'drip:a'}", ""),
}  # fmt: skip
"""A site, a package, and the reason why it fails there."""


def test_a_package_ends_as_the_keys_of_its_site_say(site: Site) -> None:
    for name, lines in (
        ("hang", "exec sleep 600"),
        ("drip", 'for n in 1 2 3 4 5; do echo $n >> "$2"; sleep 0.4; done'),
    ):
        (site.folder / name).write_text(f"#!/bin/sh\n{lines}\n")
        (site.folder / name).chmod(0o700)
    site.start_daemon()
    found: dict[str, Any] = {}

    for number, (key, (text, package, _)) in enumerate(SITES.items()):
        text = text.replace("HERE", os.path.realpath(site.folder))
        package = re.sub(r"LEVEL(\d+)", lambda m: str(min(19, os.nice(0) + int(m[1]))), package)
        site.ok("site", "apply", site.write(text, "site.yaml"), "--yes")
        rules = "policy: {hook: {tries: 0}, stage-in: {tries: 0}, disk-full: {tries: 0}}"
        site.submit(f"job: j{number}\n{rules}\nstages: [{{lines: [{{{package}}}]}}]")
        assert site.d0ctl("wait", f"j{number}").code == (1 if SITES[key][2] else 0), key
        found[key] = reasons(site, f"j{number}/1/1/1")

    assert found == {key: reason for key, (_, _, reason) in SITES.items()}


LATE = """\
job: late
stages:
  - lines:
      - run: |
          trap 'trap "" TERM; sleep 7; touch {ended}; exit 3' TERM
          touch {begun}
          while :; do sleep 0.1; done
"""


def test_a_binary_has_the_grace_of_the_site_to_end_itself(site: Site) -> None:
    begun, ended = site.folder / "begun", site.folder / "ended"
    site.ok("site", "apply", site.write("defaults: {grace: 1m}", "site.yaml"), "--yes")
    site.start_daemon()
    site.submit(LATE.format(begun=begun, ended=ended))
    wait_until(begun.exists, what="it runs")

    site.ok("kill", "late", "--yes")
    site.wait_phase("late/1/1/1", "canceled")

    assert ended.exists(), "it was not killed after the 5 s of other sites"


def test_a_partial_kill_waits_as_long_as_the_site_says(site: Site) -> None:
    site.ok("site", "apply", site.write("defaults: {partial-grace: 1s}", "site.yaml"), "--yes")
    site.start_daemon()
    site.submit("job: part\nstages: [{lines: [{run: sleep 600}]}]")
    site.wait_phase("part/1/1/1", "running")

    site.ok("kill", "part/1/1/1", "--partial", "--yes")

    wait_until(lambda: site.phase("part/1/1/1") == "canceled", 45, "it ends before the usual 60 s")


@pytest.mark.parametrize(
    ("of_site", "of_job", "is_held"),
    [
        ("defaults: {max-alike-failures: 2}", "", True),
        ("", "max-alike-failures: 2", True),
        ("defaults: {max-alike-failures: 2}", "max-alike-failures: 0", False),
        ("", "", False),
    ],
)
def test_a_job_is_held_after_as_many_alike_failures_as_it_or_its_site_says(
    site: Site, of_site: str, of_job: str, is_held: bool
) -> None:
    text = f"nodes: {{localhost: {{cpus: 1}}}}\n{of_site}"
    site.ok("site", "apply", site.write(text, "site.yaml"), "--yes")
    lines = "stages: [{lines: [{for: {n: {range: [1, 6]}}, run: sleep 0.3; exit 3}]}]"

    assert site.d0ctl("run", site.write(f"job: alike\n{of_job}\n{lines}")).code == 1

    assert (site.counts("alike")["failed"] < 6) is is_held


@pytest.mark.parametrize(("of_job", "failed"), [("max-failures: 2", 2), ("", 3)])
def test_a_job_is_held_after_as_many_failures_as_it_says(
    site: Site, of_job: str, failed: int
) -> None:
    site.ok("site", "apply", site.write("nodes: {localhost: {cpus: 1}}", "site.yaml"), "--yes")
    lines = "stages: [{lines: [{for: {n: {range: [1, 6]}}, run: 'sleep 0.3; exit {n}'}]}]"
    lines = lines.replace("exit {n}", "test $(({n} % 2)) = 0")

    assert site.d0ctl("run", site.write(f"job: some\n{of_job}\n{lines}")).code == 1

    assert site.counts("some")["failed"] == failed
    held = "held by d0ctl" in site.d0ctl("status", "some").out
    assert held is bool(of_job)


def test_a_site_file_says_how_a_node_is_reached_and_where_it_keeps_its_files(site: Site) -> None:
    sshd = site.start_sshd("farm")
    key = sshd.identity.rename(f"{sshd.identity}-{os.getuid()}")
    site.ssh_config.write_text(f"IdentityFile {sshd.identity}-%i\n")  # only ssh knows this token
    folder = site.folder / "d0-files"
    trust = f'destination: {sshd.destination}, same-machine: yes, accept-key: "{fingerprint(sshd)}"'

    def apply(more: str) -> Done:
        text = f"nodes: {{farm: {{{trust}, {more}}}}}"
        return site.d0ctl("site", "apply", site.write(text, "site.yaml"), "--yes")

    assert apply("via: fabric").code == 6
    missing = apply(f"identity: {key}, python: /no/python3")
    assert (missing.code, "/no/python3" in missing.err) == (6, True), missing
    assert not folder.exists()
    done = apply(f"via: openssh, dir: {folder}")
    assert done.code == 0, done
    assert list(folder.glob("*/farm/bin/*"))


def test_logs_stay_on_their_node_for_as_long_as_the_site_says(site: Site) -> None:
    site.start_daemon()
    site.submit("job: said\nstages: [{lines: [{run: echo hello}]}]")
    site.ok("wait", "said")
    assert site.ok("logs", "said/1/1/1") == "hello\n"

    site.ok("site", "apply", site.write("defaults: {keep-logs: 0s}", "site.yaml"), "--yes")

    wait_until(lambda: "hello" not in site.d0ctl("logs", "said/1/1/1").out, what="gone")


def test_a_result_waits_while_it_would_take_the_reserve_of_the_control_host(site: Site) -> None:
    site.add("farm")
    site.alone()
    text = "defaults: {control-reserve: 900TB}"
    site.ok("site", "apply", site.write(text, "site.yaml"), "--yes")
    site.start_daemon()
    site.submit("job: far\nstages: [{lines: [{run: echo x > a, outputs: a}]}]")
    site.wait_phase("far/1/1/1", "transferring")

    wait_until(lambda: "control-reserve" in site.ok("why", "far/1/1/1"), what="it says why")

    assert not (site.home.root / "results/far/a").exists()
    site.ok("site", "apply", site.write("defaults: {}", "site.yaml"), "--yes")
    site.wait_phase("far/1/1/1", "done")


PROGRESS = """\
job: seen
stages:
  - lines:
      - {run: "HERE", progress: {log: 'event (\\d+) of (\\d+)'}}
      - {run: "HERE"}
      - binaries:
          - {run: 'true', runtime: 10s}
          - {run: "HERE", runtime: 30s, progress: {log: 'event (\\d+) of (\\d+)'}}
      - binaries: [{software: short/v1}, {software: long/v1}]
      - {run: "head -c 1000 /dev/zero > a; HERE", outputs: {file: a, size: 2kB},
         progress: {output: a, of: 4kB}}
      - {run: "head -c 1000 /dev/zero > b; HERE", outputs: {file: b, size: 2kB},
         progress: {output: b}}
"""

CATALOGUE = """\
nodes: {localhost: {cpus: 6}}
software:
  - {name: short, version: v1, script: 'true', runtime: 10s}
  - {name: long, version: v1, script: "HERE", runtime: 30s,
     progress: {log: 'event (\\d+) of (\\d+)'}}
"""


def test_progress_is_read_and_weighted_as_job_and_catalogue_say(site: Site) -> None:
    go = site.folder / "go"
    program = f"echo event 20 of 40; until test -e {go}; do sleep 0.1; done"
    text = CATALOGUE.replace("HERE", program)
    site.ok("site", "apply", site.write(text, "site.yaml"), "--yes")
    site.start_daemon()
    site.submit(PROGRESS.replace("HERE", program))

    def percents() -> list[float | None]:
        packages = [site.package(f"seen/1/{line}/1") for line in range(1, 7)]
        return [one["progress"] and one["progress"]["percent"] for one in packages]

    expected = [50.0, None, 62.5, 62.5, 25.0, 50.0]
    wait_until(lambda: percents() == expected, what="all have said how far they are")
    go.touch()
    site.ok("wait", "seen")
