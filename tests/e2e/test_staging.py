"""Files from and to where locators say, over a real ssh: by http, by a command, across nodes."""

import hashlib
import json
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.site import Site
from tests.support.waiting import PATIENCE_S, Pid, kill_all, wait_until
from tests.support.web import Web, serving

DATA = b"ten bytes\n" * 1000

SHA256 = "sha256:" + hashlib.sha256(DATA).hexdigest()


@pytest.fixture
def web() -> Iterator[Web]:
    """A web server with one file."""
    with serving() as web:
        web.files["/raw"] = DATA
        yield web


@pytest.fixture
def farm(site: Site) -> Site:
    """A site whose only node is behind ssh."""
    site.add("farm")
    site.alone()
    return site


def set_lease(site: Site, text: str) -> None:
    """Let wrappers do without contact for this time."""
    site.ok("site", "apply", site.write(f"defaults: {{lease: {text}}}", "site.yaml"), "--yes")


def mass_storage(site: Site) -> Path:
    """A folder that only the site's command for `root` reaches."""
    store = site.folder / "mass"
    store.mkdir()
    program = site.folder / "xrdcp"
    program.write_text(f'#!/bin/sh\nof() {{ echo "$1" | sed s,^root://mss,{store},; }}\n'
                       'exec cp "$(of "$1")" "$(of "$2")"\n')  # fmt: skip
    program.chmod(0o700)
    command = f"{program} {{source}} {{dest}}"
    settings = json.dumps({"transfer": {"root": {"fetch": command, "store": command}}})
    site.ok("site", "apply", site.write(settings, "site.yaml"), "--yes")
    return store


def caches(site: Site) -> list[str]:
    """The files in the caches of all nodes but this machine."""
    found = (path for path in below(site.folder / "farm") if "/cache/" in str(path))
    return [str(path) for path in found if not path.name.startswith(".")]


def below(folder: Path) -> list[Path]:
    """All files in a folder in which wrappers remove folders meanwhile; `rglob` fails on those."""
    return [Path(where, name) for where, _, names in os.walk(folder) for name in names]


def test_files_are_fetched_and_delivered_by_their_locators(
    farm: Site, web: Web, tmp_path: Path
) -> None:
    mass = mass_storage(farm)
    (mass / "calib").write_bytes(DATA)
    far = tmp_path / "forwarded/here"

    done = farm.d0ctl("run", farm.write(f"""\
job: locators
stages:
  - lines:
      - for: {{n: [1, 2]}}
        run: cat raw calib > {{n}}.out; cp raw {{n}}.put; wc -c < calib > {{n}}.far
        inputs:
          - {{file: raw, locator: "{web.url}/raw", checksum: "{SHA256}", size: 10kB}}
          - {{file: calib, locator: "root://mss/calib"}}
        outputs:
          - {{file: "{{n}}.out", locator: "root://mss/{{n}}.out", disposition: store}}
          - {{file: "{{n}}.put", locator: "{web.url}/{{n}}.put"}}
          - {{file: "{{n}}.far", locator: "{far}/{{n}}.far", disposition: [forward, retain-indef]}}
"""))  # fmt: skip

    assert done.code == 0, f"{done} {farm.ok('history', 'locators')}"
    assert web.asked["/raw"] == 1
    for n in (1, 2):
        assert (mass / f"{n}.out").read_bytes() == DATA + DATA
        assert web.files[f"/{n}.put"] == DATA
        assert (far / f"{n}.far").read_text().strip() == "10000"
    outputs = {one["file"]: one for one in farm.package("locators/1/1/1")["outputs"]}
    assert outputs["1.out"]["stored"] == ["root://mss/1.out"]
    assert outputs["1.far"]["present"] and not outputs["1.out"]["present"]
    assert "stored at root://mss/1.out" in farm.ok("status", "locators/1/1/1")
    farm.start_daemon()
    wait_until(lambda: {Path(path).name for path in caches(farm)} == {"1.far", "2.far"})
    assert farm.d0ctl("doctor").code == 0


def test_files_are_fetched_from_and_delivered_to_other_nodes(site: Site, tmp_path: Path) -> None:
    site.add("farm")
    site.add("barn", site.sshds["farm"], "--dir", str(site.folder / "barn"))
    site.alone()
    source, target = tmp_path / "raw", tmp_path / "out" / "copy"
    source.write_bytes(DATA)

    done = site.d0ctl("run", site.write(f"""\
job: across
stages:
  - lines:
      - run: cp raw copy
        nodes: farm
        inputs: [{{file: raw, locator: "barn:{source}", checksum: "{SHA256}"}}]
        outputs: [{{file: copy, locator: "barn:{target}"}}]
"""))  # fmt: skip

    assert done.code == 0, f"{done} {site.ok('history', 'across')}"
    assert target.read_bytes() == DATA
    assert list(target.parent.iterdir()) == [target]
    assert site.package("across/1/1/1")["outputs"][0]["stored"] == [f"barn:{target}"]
    assert not (site.home.root / "results/across").exists()


def test_a_damaged_file_is_not_used(farm: Site, web: Web) -> None:
    web.files["/raw"] = b"spoilt"

    done = farm.d0ctl("run", farm.write(f"""\
policy: {{stage-in: {{tries: 0}}}}
stages:
  - lines:
      - run: cat raw
        inputs: [{{file: raw, locator: "{web.url}/raw", checksum: "{SHA256}"}}]
"""))  # fmt: skip

    assert done.code == 1
    package = farm.package("job-001/1/1/1")
    assert package["attempts"][-1]["reason"] == "stage-in"
    assert SHA256 in package["attempts"][-1]["message"]


def test_a_package_can_be_killed_while_its_input_comes(farm: Site, web: Web) -> None:
    web.stuck.add("/raw")
    farm.start_daemon()
    name = farm.submit(f"""\
stages:
  - lines:
      - run: cat raw
        inputs: [{{file: raw, locator: "{web.url}/raw"}}]
""")
    farm.wait_phase(f"{name}/1/1/1", "staging-in")

    farm.ok("kill", name, "--yes")

    farm.wait_phase(f"{name}/1/1/1", "canceled")


@pytest.fixture
def waiting(farm: Site, tmp_path: Path) -> Path:
    """A package that is to forward a file, computes, and has a lease of a moment."""
    farm.start_daemon()
    set_lease(farm, "0.5s")
    farm.kill_daemon()
    farm.start_daemon()
    farm.submit(f"""\
job: leased
stages:
  - lines:
      - run: |
          touch {tmp_path}/started
          until [ -e {tmp_path}/go ]; do sleep 0.05; done
          echo x > out
        outputs: [{{file: out, locator: "{tmp_path}/far/out"}}]
""")
    wait_until(lambda: (tmp_path / "started").exists())
    return tmp_path


def kept(site: Site) -> bool:
    """Whether the output has been made and kept on its node."""
    return any(path.endswith("/out") for path in caches(site))


def has_lapsed(site: Site) -> bool:
    """Whether nobody has renewed the lease of half a second for longer than that."""
    (lease,) = (path for path in below(site.folder / "farm") if path.name == "lease")
    return time.time() - lease.stat().st_mtime > 1.0


def test_outputs_wait_for_an_absent_control_host(farm: Site, waiting: Path) -> None:
    farm.kill_daemon()
    wait_until(lambda: has_lapsed(farm))
    (waiting / "go").touch()
    wait_until(lambda: kept(farm))
    wait_until(lambda: any("/spool/new/" in str(path) for path in below(farm.folder / "farm")),
               PATIENCE_S)  # fmt: skip
    assert not (waiting / "far").exists()

    set_lease(farm, "50m")
    farm.start_daemon()

    assert farm.ok("wait", "leased") == "`leased` is successful\n"
    assert (waiting / "far/out").read_text() == "x\n"


def test_files_of_a_killed_attempt_never_appear(farm: Site, waiting: Path) -> None:
    for pid in sshd_processes(farm):
        os.kill(pid.number, signal.SIGSTOP)
    try:
        farm.kill_daemon()
        wait_until(lambda: has_lapsed(farm))
        (waiting / "go").touch()
        wait_until(lambda: kept(farm))
        set_lease(farm, "50m")
        farm.ok("kill", "leased", "--yes")
    finally:
        for pid in sshd_processes(farm):
            os.kill(pid.number, signal.SIGCONT)

    farm.start_daemon()

    farm.wait_phase("leased/1/1/1", "canceled")
    wait_until(lambda: not kept(farm))
    assert not (waiting / "far").exists()


def sshd_processes(site: Site) -> list[Pid]:
    """The sshd and its children that serve connections."""
    return [pid for pid in site.processes() if pid.name().startswith("sshd")]


def test_nothing_is_left_when_a_wrapper_is_killed_in_mid_transfer(farm: Site, web: Web) -> None:
    web.stuck.add("/raw")
    farm.start_daemon()
    name = farm.submit(f"""\
stages:
  - lines:
      - run: wc -c < raw > n
        inputs: [{{file: raw, locator: "{web.url}/raw"}}]
        outputs: n
""")
    farm.wait_phase(f"{name}/1/1/1", "staging-in")
    (record,) = (farm.folder / "farm").rglob("attempts/*/wrapper")
    wrapper = Pid.of(int(record.read_text().split()[0]))
    assert wrapper is not None
    web.stuck.clear()

    kill_all([wrapper])

    assert farm.ok("wait", name) == f"`{name}` is successful\n"
    assert (farm.home.root / "results" / name / "n").read_text().strip() == "10000"
    assert not list((farm.folder / "farm").rglob("staging"))


@pytest.mark.parametrize("way", ["relative", "in a folder", "absolute", "above"])
def test_a_file_from_another_node_leaves_the_users_own_file_alone(
    site: Site, tmp_path: Path, way: str
) -> None:
    site.add("farm")
    far, notes = tmp_path / "far.txt", "my own notes\n"
    far.write_text("other contents\n")
    own = {
        "relative": site.jobs / "notes.txt",
        "in a folder": site.jobs / "notes/notes.txt",
        "absolute": tmp_path / "mine/notes.txt",
        "above": site.folder / "notes.txt",
    }[way]
    own.parent.mkdir(exist_ok=True)
    own.write_text(notes)
    written = {"relative": "notes.txt", "in a folder": "notes/notes.txt", "absolute": own,
               "above": "../notes.txt"}[way]  # fmt: skip

    done = site.d0ctl("run", site.write(f"""\
job: far
stages:
  - lines:
      - run: cp {{inputs}} read
        nodes: [localhost]
        inputs: [{{file: "{written}", locator: "farm:{far}"}}]
        outputs: [{{file: read, disposition: retain-indef, result: yes}}]
"""))  # fmt: skip

    assert done.code == 0, f"{done} {site.ok('history', 'far')}"
    assert own.read_text() == notes
    assert (site.home.root / "results/far/read").read_text() == "other contents\n"
    site.ok("remove", "far", "--yes")
    assert own.read_text() == notes
