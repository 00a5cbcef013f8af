"""What a site is, as it is checked, applied and shown on the command line."""

from pathlib import Path

import pytest

from d0ctl.config import Home
from d0ctl.store import open_store
from d0ctl.store.nodes.site import default, setting
from tests.cli.building import Site, document, production
from tests.cli.conftest import Type
from tests.support.archives import RECO, packed

TEXT = """\
code-server: {folder}
nodes:
  localhost: {{cpus: 3, services: SAM}}
clusters:
  farm: {{platform: sl7, capacity: 2TB}}
software:
  - {{name: reco, version: v1, archive: reco.tar.gz, script: "reco {{inputs}} > {{outputs}}",
     needs: SAM, runtime: 20m}}
defaults: {{nice: 3, grace: 1}}
"""

JOB = "stages: [{lines: [{software: reco/v1, outputs: x}]}]"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A site file of this machine, with an archive beside it."""
    packed(tmp_path / "reco.tar.gz", RECO)
    path = tmp_path / "lab.yaml"
    path.write_text(TEXT.format(folder=tmp_path))
    return path


def write(folder: Path, text: str) -> str:
    """A file with this text; its path."""
    path = folder / "some.yaml"
    path.write_text(text)
    return str(path)


def test_a_site_file_is_checked_without_a_home(d0ctl: Type, file: Path, home: Home) -> None:
    result = d0ctl("site", "check", str(file))

    assert (result.exit_code, result.stdout) == (
        0, "ok: 1 node, 1 of software, `code-server`, `defaults`\n"
    )  # fmt: skip
    assert not home.exists()
    assert result.stderr.splitlines() == [
        f"{file}:5:25: warning: `capacity` has no effect yet",
        f"{file}:8:18: warning: `runtime` has no effect yet except on the progress of a "
        "chain of binaries",
    ]
    counts = document(d0ctl("site", "check", str(file), "--json").stdout)
    assert counts.pop("warnings") == result.stderr.splitlines()
    assert counts == {"nodes": 1, "clusters": 1, "software": 1,
                      "settings": ["code-server", "defaults"]}  # fmt: skip


def test_a_faulty_site_file_changes_nothing(d0ctl: Type, site: Site, tmp_path: Path) -> None:
    faulty = write(tmp_path, "nodes: {n1: {destination: x, cpu: 3}}\nlog-rule: x")
    for verb in ("check", "apply"):
        result = d0ctl("site", verb, faulty)
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr.splitlines() == [
            f"{faulty}:1:30: a node has no key `cpu` (did you mean `cpus`?)",
            f"{faulty}:2:1: a site has no key `log-rule` (did you mean `log-rules`?)",
        ]
    assert d0ctl("site", "apply", faulty + "x").exit_code == 2


def test_the_file_in_the_home_is_read_where_none_is_named(
    d0ctl: Type, site: Site, home: Home
) -> None:
    missing = d0ctl("site", "check")
    assert missing.exit_code == 3
    assert missing.stderr.splitlines() == [
        f"d0ctl: the home has no site file `{home.site_file}`",
        f"d0ctl site show > {home.site_file} writes what is in force",
    ]
    home.site_file.write_text("defaults: {nice: 1}")

    assert d0ctl("site", "apply").stdout == "+ setting defaults\n1 added\n"


def test_a_site_is_applied_shown_and_taken_back(
    d0ctl: Type, file: Path, home: Home, tmp_path: Path
) -> None:
    plan = "~ node localhost: cpus, services\n+ software reco/v1\n"
    answer = f"+ cluster farm\n{plan}+ setting code-server\n+ setting defaults\n"
    dry = d0ctl("site", "apply", str(file), "--dry-run")
    assert dry.stdout == answer + "would be: 4 added, 1 changed\n"
    assert not home.exists()

    assert d0ctl("site", "apply", str(file)).stdout == answer + "4 added, 1 changed\n"
    same = "nothing changes: the site is what the file says\n"
    assert d0ctl("site", "apply", str(file)).stdout == same
    shown = d0ctl("site", "show").stdout
    assert d0ctl("site", "apply", write(tmp_path, shown)).stdout == same
    assert "runtime: 20m" in shown and "capacity: 2TB" in shown

    with open_store(home, read_only=True) as store:
        assert (default(store, "nice"), default(store, "lease")) == (3, 3000)
        assert setting(store, "code-server") == str(tmp_path)
        verbs = [row[0] for row in store.connection.execute("select verb from action")]
        assert verbs == ["site apply"] * 3


def test_what_a_file_has_no_more_is_removed_and_what_verbs_added_stays(
    d0ctl: Type, file: Path, tmp_path: Path
) -> None:
    d0ctl("site", "apply", str(file))
    d0ctl("software", "add", "sim/v2", "--script", "sim > {outputs}")
    d0ctl("node", "add", "other", "--local", "--same-machine")

    result = d0ctl("site", "apply", write(tmp_path, "defaults: {nice: 4}"))

    assert result.stdout.splitlines() == [
        "- cluster farm",
        "- node localhost",
        "- software reco/v1",
        "~ setting defaults",
        "- setting code-server",
        "1 changed, 4 removed",
    ]
    left = document(d0ctl("site", "show", "--json").stdout)
    assert list(left["nodes"]) == ["other"]
    assert [one["name"] for one in left["software"]] == ["sim"]


def test_a_node_with_launched_packages_is_not_taken_away(
    d0ctl: Type, site: Site, file: Path, tmp_path: Path
) -> None:
    d0ctl("site", "apply", str(file))
    site.submit(production())
    site.launch("prod/1/1/1")

    for text in ("defaults: {nice: 4}", "nodes: {localhost: {dir: /elsewhere}}"):
        result = d0ctl("site", "apply", write(tmp_path, text))
        assert (result.exit_code, "has 1 launched packages" in result.stderr) == (4, True)
    assert d0ctl("site", "apply", str(file)).stdout.startswith("nothing changes")


def test_a_node_that_does_not_answer_stops_the_whole(
    d0ctl: Type, site: Site, tmp_path: Path
) -> None:
    text = "nodes: {n1: {destination: 'x@127.0.0.1:9', via: fabric}}\ndefaults: {nice: 4}"
    result = d0ctl("site", "apply", write(tmp_path, text))

    assert result.exit_code == 6
    assert document(d0ctl("site", "show", "--json").stdout) == {"nodes": {"localhost": {}}}


def test_jobs_name_what_the_catalogue_has(d0ctl: Type, file: Path, tmp_path: Path) -> None:
    job = tmp_path / "job.yaml"
    job.write_text(JOB.replace("v1", "v2"))
    assert "there is no software `reco/v2`" in d0ctl("validate", str(job)).stderr
    d0ctl("site", "apply", str(file))
    d0ctl("software", "add", "tools/v1", "--archive", str(tmp_path / "reco.tar.gz"))

    answer = d0ctl("validate", str(job)).stderr
    assert "1:30: `software`: there is no software `reco/v2` (did you mean `reco/v1`?)" in answer
    job.write_text(JOB.replace("reco/v1", "tools/v1"))
    answer = d0ctl("validate", str(job)).stderr
    assert "software `tools/v1` has no `script`: add `run`" in answer
    job.write_text(JOB.replace("software: reco/v1", "software: tools/v1, run: reco"))
    assert d0ctl("validate", str(job)).exit_code == 0
    job.write_text(JOB.replace("reco/v1", "reco"))
    assert "takes software as NAME/VERSION" in d0ctl("validate", str(job)).stderr


def test_why_tells_which_software_or_service_a_node_lacks(
    d0ctl: Type, site: Site, tmp_path: Path
) -> None:
    d0ctl("software", "add", "sim/v1", "--script", "true", "--platform", "sl6")
    text = "stages: [{lines: [{software: sim/v1, name: a}, {run: x, needs: [SAM, tape]}]}]"
    d0ctl("submit", write(tmp_path, text), "--force")
    with site.store.writing():
        site.store.connection.execute("update node set state = 'up', platform = 'sl7'")

    first, second = (d0ctl("why", f"some-001/1/{n}/1").stdout for n in (1, 2))
    assert "`localhost` is ruled out: no software sim/v1 for platform sl7" in first
    assert "`localhost` is ruled out: no service SAM" in second
    refused = d0ctl("software", "remove", "sim/v1")
    assert (refused.exit_code, refused.stderr.splitlines()[0]) == (
        4, "d0ctl: job `some-001` asks for software `sim/v1`, so it can't be removed"
    )  # fmt: skip


def test_software_is_added_listed_and_removed(
    d0ctl: Type, tmp_path: Path, usual_home: Home
) -> None:
    archive = packed(tmp_path / "reco.tar.gz", RECO)
    assert d0ctl("software", "list").stdout.startswith("no software yet: ")
    assert not usual_home.exists()

    added = d0ctl("software", "add", "reco/v1", "--archive", str(archive), "--platform", "sl7")
    assert added.stdout.startswith("added `reco/v1 for sl7`: ")
    (one,) = document(d0ctl("software", "list", "--json").stdout)["software"]
    assert (one["name"], one["version"], one["platform"]) == ("reco", "v1", "sl7")
    assert one["size"] == archive.stat().st_size
    assert "reco/v1  sl7" in d0ctl("software", "list").stdout

    again = d0ctl("software", "add", "reco/v1", "--script", "x", "--platform", "sl7")
    assert (again.exit_code, "there is software `reco/v1 for sl7` already" in again.stderr) == (
        4, True,
    )  # fmt: skip
    assert d0ctl("software", "remove", "reco/v1", "--platform", "sl6").exit_code == 3
    assert d0ctl("software", "remove", "reco/v1").stdout == "removed `reco/v1`\n"
    assert d0ctl("software", "remove", "reco/v1").exit_code == 3


@pytest.mark.parametrize(
    ("words", "code", "expected"),
    [
        (["add", "reco"], 2, "`reco` is no software: it reads NAME/VERSION, as `reco/v12-01`"),
        (["add", "reco/v1"], 2, "software needs --archive, --script or both"),
        (["add", "a/b/c", "--script", "x"], 2, "`version` takes a name of letters"),
        (["add", "reco/v1", "--script", "x '{inputs}'"], 2, "is inside quotes"),
        (["add", "reco/v1", "--archive", "gone"], 2, "gone` can't be read: no such file"),
        (["add", "reco/v1", "--archive", "https://x/y"], 2, "needs its `checksum`"),
        (["push", "reco/v1"], 3, "there is no software `reco/v1`"),
        (["verify", "reco/v1", "--node", "nope"], 3, "there is no node `nope`"),
        (["remove", "reco/v1"], 3, "there is no software `reco/v1`"),
    ],
)
def test_what_software_can_not_be_is_told(
    d0ctl: Type, site: Site, words: list[str], code: int, expected: str
) -> None:
    result = d0ctl("software", *words)

    assert (result.exit_code, result.stdout) == (code, "")
    assert expected in result.stderr


def test_software_in_use_is_not_purged(d0ctl: Type, site: Site, file: Path, tmp_path: Path) -> None:
    d0ctl("site", "apply", str(file))
    with site.store.writing():
        site.store.connection.execute("update node set state = 'up'")
    d0ctl("submit", write(tmp_path, JOB))
    site.launch("some-001/1/1/1")

    result = d0ctl("software", "purge", "reco/v1")

    assert result.exit_code == 4
    assert "package `some-001/1/1/1` on node `localhost` uses software `reco/v1`" in result.stderr


def test_why_offers_to_verify_the_software_of_a_failed_package(
    d0ctl: Type, site: Site, file: Path, tmp_path: Path
) -> None:
    d0ctl("site", "apply", str(file))
    with site.store.writing():
        site.store.connection.execute("update node set state = 'up'")
    d0ctl("submit", write(tmp_path, JOB))
    site.fail("some-001/1/1/1")

    answer = d0ctl("why", "some-001/1/1/1").stdout
    assert "d0ctl software verify reco/v1 --node localhost" in answer


def test_what_a_site_file_says_no_more_of_a_node_is_what_it_says_itself(
    d0ctl: Type, site: Site, tmp_path: Path
) -> None:
    with site.store.writing():
        facts = '{"cpus": 6, "memory": 9, "system": "Linux", "machine": "arm"}'
        site.store.connection.execute("update node set facts = ?", [facts])
    asked = "nodes: {localhost: {cpus: 2, memory: 4, platform: sl7}}"
    for text, cpus, memory, platform in (
        (asked, 2, 4, "sl7"),
        ("nodes: {localhost: {}}", 6, 9, "linux-arm"),
        ("nodes: {localhost: {cluster: lab}}\nclusters: {lab: {platform: sl6}}", 6, 9, "sl6"),
    ):
        d0ctl("site", "apply", write(tmp_path, text))
        (node,) = document(d0ctl("node", "list", "--json").stdout)["nodes"]
        if "lab" not in text:
            assert (node["cpus"], node["memory"]) == (cpus, memory)
        assert node["platform"] == platform


def test_a_retry_with_other_parameters_reaches_the_script_of_the_catalogue(
    d0ctl: Type, site: Site, file: Path, tmp_path: Path
) -> None:
    d0ctl("site", "apply", str(file))
    with site.store.writing():
        site.store.connection.execute("update node set state = 'up'")
    text = (
        "parameters: {cards: a}\n"
        'stages: [{lines: [{software: reco/v1, parameters: {x: "{cards}"}, outputs: x}]}]'
    )
    d0ctl("submit", write(tmp_path, text))
    site.fail("some-001/1/1/1")

    result = d0ctl("retry", "some-001/1/1/1", "--set", "cards=b")

    assert result.exit_code == 0, result.stderr
    (parameters,) = site.store.connection.execute("select parameters from binary").fetchone()
    assert parameters == '{"x":"b"}'
