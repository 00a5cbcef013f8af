"""Binaries in containers, with programs that stand in for the engines and run the command."""

from pathlib import Path

import pytest

from tests.e2e.site import Site

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
    site: Site, monkeypatch: pytest.MonkeyPatch, of_site: str, engine: str, begin: str
) -> None:
    programs, record = site.folder / "programs", site.folder / "record"
    programs.mkdir()
    (programs / engine).write_text(STAND_IN.format(record=record))
    (programs / engine).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
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


def test_a_node_without_the_engine_says_so(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    text = "stages: [{lines: [{run: x, image: 'reco:1'}]}]"

    assert site.d0ctl("run", site.write(f"job: none\n{text}")).code == 1

    assert "apptainer: no such command" in site.d0ctl("history", "none").out
