"""Keys that say what a node has and what a package needs: `submit` refuses packages by them."""

from pathlib import Path

import pytest

from tests.cli.catalogue import write
from tests.cli.conftest import Type
from tests.support.site import Site

SOFTWARE = "software: [{name: reco, version: v1, script: 'true', %s}]"

FITS = {
    "cpus": ("cpus: 3", "nodes: {localhost: {cpus: 2}}", "nodes: {localhost: {cpus: 3}}"),
    "memory": (
        "memory: 8GB", "nodes: {localhost: {memory: 7GB}}", "nodes: {localhost: {memory: 9GB}}",
    ),
    "platform of a node": (
        "platform: sl7", "nodes: {localhost: {}}", "nodes: {localhost: {platform: sl7}}",
    ),
    "gpus of a node": (
        "gpus: 2", "nodes: {localhost: {gpus: 1}}", "nodes: {localhost: {gpus: 2}}",
    ),
    "platform of a cluster": (
        "platform: sl7", "nodes: {localhost: {cluster: lab}}\nclusters: {lab: {}}",
        "nodes: {localhost: {cluster: lab}}\nclusters: {lab: {platform: sl7}}",
    ),
    "cluster of a node": (
        "platform: sl7", "nodes: {localhost: {}}\nclusters: {lab: {platform: sl7}}",
        "nodes: {localhost: {cluster: lab}}\nclusters: {lab: {platform: sl7}}",
    ),
    "cluster whose nodes are excluded": (
        "exclude-nodes: lab", "nodes: {localhost: {cluster: lab}}\nclusters: {lab: {}}",
        "nodes: {localhost: {}, other: {cluster: lab, same-machine: yes}}\nclusters: {lab: {}}",
    ),
    "services of a node": (
        "needs: SAM", "nodes: {localhost: {}}", "nodes: {localhost: {services: SAM}}",
    ),
    "services of a cluster": (
        "needs: SAM", "nodes: {localhost: {cluster: lab}}\nclusters: {lab: {}}",
        "nodes: {localhost: {cluster: lab}}\nclusters: {lab: {services: SAM}}",
    ),
    "platform of software": (
        "software: reco/v1", SOFTWARE % "platform: sl7", SOFTWARE % "shell: sh",
    ),
    "needs of software": ("software: reco/v1", SOFTWARE % "needs: SAM", SOFTWARE % "shell: sh"),
}  # fmt: skip
"""What a package says, a site that can never run it, and one that can."""


@pytest.mark.parametrize("key", FITS)
def test_packages_are_refused_by_what_they_need_and_nodes_have(
    d0ctl: Type, site: Site, tmp_path: Path, key: str
) -> None:
    site.up()
    package, small, large = FITS[key]
    job = tmp_path / "job.yaml"
    job.write_text(f"stages: [{{lines: [{{run: 'true', {package}}}]}}]")

    for text, code in ((small, 4), (large, 0)):
        (tmp_path / "site.yaml").write_text(text)
        applied = d0ctl("site", "apply", str(tmp_path / "site.yaml"), "--yes")
        assert applied.exit_code == 0, applied.output
        done = d0ctl("submit", str(job))
        assert done.exit_code == code, done.output
        assert ("no node can ever take" in done.output) is (code == 4)


@pytest.mark.parametrize(
    ("key", "code"),
    [
        ("nodes: small", 4),
        ("nodes: large", 0),
        ("exclude-nodes: large", 4),
        ("exclude-nodes: small", 0),
    ],
)
def test_a_package_goes_to_the_nodes_that_it_names_and_to_no_excluded_one(
    d0ctl: Type, tmp_path: Path, key: str, code: int
) -> None:
    for name, cpus in (("small", "1"), ("large", "4")):
        words = ("node", "add", name, "--local", "--same-machine", "--cpus", cpus)
        assert d0ctl(*words).exit_code == 0
    d0ctl("node", "remove", "localhost", "--yes")
    job = tmp_path / "job.yaml"
    job.write_text(f"stages: [{{lines: [{{run: 'true', cpus: 4, {key}}}]}}]")

    done = d0ctl("submit", str(job))

    assert done.exit_code == code, done.output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["node", "set", "localhost", "memory=8"], "`8` would be 8 bytes: did you mean `8GB`?"),
        (["cluster", "set", "control", "capacity=2000"], "did you mean `2000MB`?"),
    ],
)
def test_a_size_without_its_unit_is_not_set(
    d0ctl: Type, site: Site, words: list[str], said: str
) -> None:
    answer = d0ctl(*words)

    assert (answer.exit_code, answer.stdout) == (2, "")
    assert said in answer.stderr


@pytest.mark.parametrize(
    "text",
    [
        "nodes: {localhost: {memory: 16}}",
        "clusters: {lab: {capacity: 16}}",
        "clusters: {lab: {kind: slurm, login: local, memory: 16}}",
        "defaults: {reserve: 16}",
        "defaults: {swap: 16}",
    ],
)
def test_a_site_file_with_a_size_without_its_unit_is_refused(
    d0ctl: Type, tmp_path: Path, text: str
) -> None:
    answer = d0ctl("site", "check", write(tmp_path, text))

    assert answer.exit_code == 2
    assert "`16` would be 16 bytes: did you mean `16GB`?" in answer.stderr
    assert d0ctl("site", "check", write(tmp_path, "defaults: {swap: 0}")).exit_code == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("defaults: {looping: 10%s}", "`looping` is 10 seconds: did you mean `10m`?"),
        ("defaults: {keep-logs: 10%s}", "`keep-logs` is 10 seconds: did you mean `10d`?"),
        ("defaults: {archive-after: 10%s}", "`archive-after` is 10 seconds: did you mean `10d`?"),
        ("policy: {exit-code: {delay: 10%s}}", "`delay` is 10 seconds: did you mean `10m`?"),
        ("policy: {exit-code: {delay: [1m, 10%s]}}", "`delay` is 10 seconds: did you mean `10m`?"),
        (
            "mail: {command: [/bin/true], digest: 10%s}",
            "`digest` is 10 seconds: did you mean `10m`?",
        ),
    ],
)
def test_a_short_time_without_its_unit_is_warned_of(
    d0ctl: Type, tmp_path: Path, text: str, said: str
) -> None:
    answer = d0ctl("site", "check", write(tmp_path, text % ""))

    assert answer.exit_code == 0
    assert said in answer.stderr
    assert d0ctl("site", "check", write(tmp_path, text % "s")).stderr == ""


def test_a_value_that_is_none_differs_from_one_that_is_not_set(
    d0ctl: Type, site: Site, tmp_path: Path
) -> None:
    mail = "mail: {host: localhost, sender: d0ctl@example.org%s}"
    d0ctl("site", "apply", write(tmp_path, mail % ""))

    changed = d0ctl("site", "diff", write(tmp_path, mail % ", security: none")).stdout

    assert changed == "~ setting mail: security default -> none\n"
