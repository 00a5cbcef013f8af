"""Binaries in containers: by a podman, and by programs that stand in for all engines."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import podman
from tests.support.site import Site
from tests.support.site.commands import EXAMPLES
from tests.support.waiting import wait_until

STAND_IN = """\
#!/bin/sh
echo "$0 $*" | head -n 1 >> {record}
while [ "$1" != reco:1 ]; do
  [ "$1" = --volume ] && bound=$2
  [ "$1" = --env ] && names="$names $2"
  shift
done
shift
exec "$@"
"""

JOB = """\
job: images
stages:
  - lines:
      - run: |
          cat {inputs} > {outputs}
          echo "it's $GREETING in $PWD"
        inputs: data.txt
        outputs: copy.txt
        environment: {GREETING: hello}
        image: reco:1
      - {run: [printf, "%s|", "a b", "{inputs}"], inputs: data.txt, image: reco:1}
      - run: echo outside
"""


@pytest.mark.parametrize(
    ("of_site", "engine", "begin"),
    [
        ("", "apptainer", "exec --bind {base} --pwd {work} reco:1 bash -eo pipefail -c"),
        ("container: podman", "podman", "run --rm --init --network host --volume {base}:{base}"),
        ("container: docker", "docker", "run --rm --init --network host --user "),
    ],
)
def test_a_binary_runs_in_its_image_by_the_engine_of_the_site(
    site: Site, of_site: str, engine: str, begin: str
) -> None:
    programs, record = site.folder / "programs", site.folder / "record"
    programs.mkdir()
    (programs / engine).write_text(STAND_IN.format(record=record))
    (programs / engine).chmod(0o755)
    site.variables["PATH"] = f"{programs}:/usr/bin:/bin"
    if of_site:
        text = f"defaults: {{{of_site}}}"
        site.ok("site", "apply", site.write(text, "site.yaml"), "--yes")
    site.write("some data\n", "data.txt")

    done = site.d0ctl("run", site.write(JOB, "images.yaml"))

    assert done.code == 0, done
    said = site.ok("logs", "images/1/1/1")
    assert said.startswith("it's hello in /")
    work = said.strip().rpartition(" ")[2]
    base = str(Path(work).parents[2])
    calls = record.read_text().splitlines()
    assert len(calls) == 2
    expected = f"{programs / engine} {begin.format(base=base, work=work)}"
    assert any(call.startswith(expected) for call in calls), calls
    if engine != "apptainer":
        assert all(" --env GREETING" in call or "printf" in call for call in calls)
        assert not any(" --env PATH" in call for call in calls)
    assert site.ok("logs", "images/1/2/1") == "a b|data.txt|\n"
    assert "in image reco:1" in site.ok("status", "images/1/1/1/1")


def test_a_node_without_the_engine_says_so(site: Site) -> None:
    site.variables["PATH"] = "/usr/bin:/bin"
    text = "stages: [{lines: [{run: x, image: 'reco:1'}]}]"

    assert site.d0ctl("run", site.write(f"job: none\n{text}")).code == 1

    assert "apptainer: no such command" in site.d0ctl("history", "none").out


@pytest.fixture
def engine(site: Site) -> Iterator[podman.Podman]:
    """A podman, which the nodes of the site find, with an image."""
    if lacking := podman.lacking():
        pytest.skip(f"no container was run: {lacking}")
    # Podman refuses a folder for its state whose path has more than 50 characters.
    with tempfile.TemporaryDirectory() as folder:
        engine = podman.Podman(Path(folder))
        engine.make_image("reco:1", release="12.01\n")
        site.variables["PATH"] = f"{folder}:/usr/bin:/bin"
        text = "defaults: {container: podman}"
        site.ok("site", "apply", site.write(text, "site.yaml"), "--yes")
        yield engine


IN_PODMAN = """\
job: inside
stages:
  - lines:
      - run: |
          cat /release {inputs} > {outputs}
          echo "$GREETING from $PWD"
          if test -e /etc/passwd; then echo "not inside"; fi
        inputs: {file: data.txt, as: in/data.txt}
        outputs: copy.txt
        environment: {GREETING: "it's hello"}
        image: reco:1
      - {run: [cat, /release], image: reco:1}
      - {run: cat, stdin: data.txt, image: reco:1}
      - {run: exit 3, image: reco:1}
"""


def test_a_binary_runs_in_a_container_of_podman(site: Site, engine: podman.Podman) -> None:
    site.write("some data\n", "data.txt")

    done = site.d0ctl("run", site.write(IN_PODMAN, "inside.yaml"))

    assert done.code == 1, done
    said = site.ok("logs", "inside/1/1/1")
    assert said.startswith("it's hello from /") and "not inside" not in said
    assert (site.home.root / "results/inside/copy.txt").read_text() == "12.01\nsome data\n"
    assert site.ok("logs", "inside/1/2/1") == "12.01\n"
    assert site.ok("logs", "inside/1/3/1") == "some data\n"
    assert "exit code 3" in site.ok("why", "inside/1/4/1")
    assert engine.containers() == []


def test_a_kill_ends_the_container(site: Site, engine: podman.Podman) -> None:
    site.submit("job: long\nstages: [{lines: [{run: sleep 1000, image: 'reco:1'}]}]\n")
    site.start_daemon()
    wait_until(engine.containers)

    site.ok("kill", "long")

    wait_until(lambda: "canceled" in site.ok("status", "long") and not engine.containers())


def test_the_example_runs_in_a_container(site: Site, engine: podman.Podman) -> None:
    done = site.d0ctl("run", EXAMPLES / "patterns/container.yaml", "--set", "image=reco:1")

    assert done.code == 0, done
    text = (site.home.root / "results/container/run5.sorted").read_text()
    assert text.splitlines()[:2] == ["event 11", "event 14"]
