"""The catalogue of software, as it is typed and explained."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from d0ctl.config import Home
from tests.cli.catalogue import write
from tests.cli.conftest import Type
from tests.support.archives import RECO, packed
from tests.support.building import document, production
from tests.support.rows import change, value
from tests.support.site import Site

JOB = "stages: [{lines: [{software: reco/v1, outputs: x}]}]"


def test_jobs_name_what_the_catalogue_has(d0ctl: Type, site_file: Path, tmp_path: Path) -> None:
    job = tmp_path / "job.yaml"
    job.write_text(JOB.replace("v1", "v2"))
    assert (
        "there is no software `reco/v2`: d0ctl software add reco/v2 --archive FILE"
        in d0ctl("validate", str(job)).stderr
    )
    d0ctl("site", "apply", str(site_file))
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
        change(site.store, "node", state="up", platform="sl7")

    first, second = (d0ctl("why", f"some-001/1/{n}/1").stdout for n in (1, 2))
    assert "`localhost` is ruled out: no software sim/v1 for platform sl7" in first
    assert "`localhost` is ruled out: no service SAM" in second
    refused = d0ctl("software", "remove", "sim/v1")
    assert (refused.exit_code, refused.stderr.splitlines()) == (
        4, ["d0ctl: job `some-001` asks for software `sim/v1`, so it can't be removed",
            "d0ctl wait some-001, or end it: d0ctl kill some-001"]
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
    assert (again.exit_code, "software `reco/v1 for sl7` already exists" in again.stderr) == (
        4, True,
    )  # fmt: skip
    assert d0ctl("software", "remove", "reco/v1", "--platform", "sl6").exit_code == 3
    removed = d0ctl("software", "remove", "reco/v1").stdout.splitlines()
    assert removed == ["removed `reco/v1` from the catalogue",
                       "nodes that have it keep it: d0ctl software purge reco/v1"]  # fmt: skip
    assert d0ctl("software", "remove", "reco/v1").exit_code == 3


@pytest.mark.parametrize(
    ("words", "code", "expected"),
    [
        (["add", "reco"], 2, "`reco` is not software: write NAME/VERSION, e.g. `reco/v12-01`"),
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
def test_invalid_software_is_reported(
    d0ctl: Type, site: Site, words: list[str], code: int, expected: str
) -> None:
    result = d0ctl("software", *words)

    assert (result.exit_code, result.stdout) == (code, "")
    assert expected in result.stderr


def test_software_in_use_is_not_purged(
    d0ctl: Type, site: Site, site_file: Path, tmp_path: Path
) -> None:
    d0ctl("site", "apply", str(site_file))
    with site.store.writing():
        change(site.store, "node", state="up")
    d0ctl("submit", write(tmp_path, JOB))
    site.launch("some-001/1/1/1")

    result = d0ctl("software", "purge", "reco/v1")

    assert result.exit_code == 4
    assert "package `some-001/1/1/1` on node `localhost` uses software `reco/v1`" in result.stderr
    assert "d0ctl wait some-001/1/1/1, or end it: d0ctl kill some-001/1/1/1" in result.stderr


def test_why_offers_to_verify_the_software_of_a_failed_package(
    d0ctl: Type, site: Site, site_file: Path, tmp_path: Path
) -> None:
    d0ctl("site", "apply", str(site_file))
    with site.store.writing():
        change(site.store, "node", state="up")
    d0ctl("submit", write(tmp_path, JOB))
    site.fail("some-001/1/1/1")

    answer = d0ctl("why", "some-001/1/1/1").stdout
    assert "d0ctl software verify reco/v1 --node localhost" in answer


def test_a_retry_with_other_parameters_reaches_the_script_of_the_catalogue(
    d0ctl: Type, site: Site, site_file: Path, tmp_path: Path
) -> None:
    d0ctl("site", "apply", str(site_file))
    with site.store.writing():
        change(site.store, "node", state="up")
    text = (
        "parameters: {cards: a}\n"
        'stages: [{lines: [{software: reco/v1, parameters: {x: "{cards}"}, outputs: x}]}]'
    )
    d0ctl("submit", write(tmp_path, text))
    site.fail("some-001/1/1/1")

    result = d0ctl("retry", "some-001/1/1/1", "--set", "cards=b")

    assert result.exit_code == 0, result.stderr
    assert value(site.store, "binary", "parameters") == '{"x":"b"}'


def test_misspelt_software_is_guessed(site: Site, d0ctl: Type) -> None:
    d0ctl("software", "add", "reco/v1", "--script", "true")

    assert d0ctl("software", "push", "reco/v2").stderr.endswith("did you mean `reco/v1`?\n")


def test_nodes_without_their_option_are_answered_with_it(d0ctl: Type) -> None:
    answer = d0ctl("software", "push", "reco/v12", "farm01", "farm02")

    assert answer.stderr == (
        "d0ctl: unexpected argument `farm01 farm02`\n"
        "if these are nodes: --node farm01 --node farm02\n"
    )


def test_further_selectors_are_not_taken_for_nodes(site: Site, d0ctl: Type) -> None:
    site.submit(production("keep2"))
    again = "one at a time: type the command again for "

    answers = {
        words: d0ctl(*words.split()).stderr.splitlines()[-1]
        for words in ("file purge keep:* keep2:* k3:x", "file purge keep keep2",
                      "file list keep:* keep2/1", "software push reco/v1 reco/v2",
                      "file purge keep:* keep3")
    }  # fmt: skip

    assert list(answers.values()) == [
        f"{again}'keep2:*' k3:x", f"{again}keep2", f"{again}keep2/1", f"{again}reco/v2",
        "if these are nodes: --node keep3",
    ]  # fmt: skip


@pytest.fixture
def tool_job(d0ctl: Type, site: Site, tmp_path: Path) -> Callable[[str], None]:
    """What submits a job, later updates it, with a version of some software."""

    def use(version: str) -> None:
        text = (
            f"job: j\nstages: [{{lines: [{{run: tool > o, software: {version}, outputs: o}}]}}]\n"
        )
        file = write(tmp_path, text)
        assert d0ctl("software", "add", version, "--script", "true").exit_code == 0
        typed = ("submit", file) if version == "tool/1" else ("update", "j", "--again")
        assert d0ctl(*typed).exit_code == 0

    return use


def test_runs_before_an_update_are_shown_with_the_software_that_they_had(
    d0ctl: Type, site: Site, tool_job: Callable[[str], None]
) -> None:
    d0ctl("node", "add", "other", "--local", "--same-machine")
    tool_job("tool/1")
    site.finish("j/1/1/1")

    tool_job("tool/2")
    site.launch("j/1/1/1", "other")

    places = document(d0ctl("software", "where", "--json").stdout)["software"]
    assert [(one["software"], one["node"]) for one in places] == [
        ("tool/1", "localhost"), ("tool/2", "other")]  # fmt: skip


def test_failures_before_an_update_count_for_the_software_that_failed(
    d0ctl: Type, site: Site, tool_job: Callable[[str], None]
) -> None:
    tool_job("tool/1")
    site.fail("j/1/1/1")

    tool_job("tool/2")
    d0ctl("retry", "j")
    site.fail("j/1/1/1")

    page = d0ctl("report", "failures").stdout
    assert re.findall(r"^ +(tool/\d) +1 ", page, re.MULTILINE) == ["tool/1", "tool/2"], page
