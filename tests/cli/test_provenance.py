"""Where files come from: in words, and as a document that the `prov` package accepts."""

import json
from pathlib import Path
from typing import Any

import pytest
from prov.model import (
    ProvActivity,
    ProvAgent,
    ProvDerivation,
    ProvDocument,
    ProvEntity,
    ProvGeneration,
    ProvRelation,
    ProvUsage,
)

from tests.cli.conftest import Type
from tests.support.archives import RECO, packed
from tests.support.building import production
from tests.support.rows import change
from tests.support.site import Site

JOB = """\
job: prod
title: First pass
originator: emmy
parameters: {cuts: loose}
stages:
  - name: make
    lines:
      - packages:
          - name: reco
            binaries:
              - {name: reco, software: reco/v1, run: "reco {inputs} > r",
                 parameters: {cards: "a b"}, inputs: [raw.1], outputs: [r]}
              - {name: ana, run: [ana, "{inputs}"], inputs: [r], outputs: ["n ü"]}
  - name: merge
    lines:
      - {run: "cat {inputs} > all", inputs: [{from: make}], outputs: [all]}
"""


@pytest.fixture
def made(site: Site, d0ctl: Type, tmp_path: Path) -> str:
    """A job of which the first package has succeeded; the checksum of its software."""
    packed(tmp_path / "reco.tar.gz", RECO)
    (tmp_path / "raw.1").write_text("1")
    (tmp_path / "job.yaml").write_text(JOB)
    added = d0ctl("software", "add", "reco/v1", "--archive", str(tmp_path / "reco.tar.gz"), "--yes")
    assert d0ctl("submit", str(tmp_path / "job.yaml"), "--force").exit_code == 0
    site.launch("prod/1/1/1")
    site.end("prod/1/1/1", binaries=[record(1), record(2)])
    return added.stdout.split()[-1]


def record(binary: int) -> dict[str, Any]:
    """What an end message says of a binary."""
    return {"binary": binary, "started": 100.0 * binary, "ended": 100.0 * binary + 50,
            "exit_code": 0, "signal": None, "cpu": 40.0, "rss": 1}  # fmt: skip


def exported(d0ctl: Type, *words: str) -> tuple[ProvDocument, str]:
    """The document of a job, as the public package reads it, and its text."""
    text = d0ctl("export", "prod", "--format", "prov", *words).stdout
    return ProvDocument.deserialize(content=text, format="json"), text


@pytest.mark.usefixtures("made")
def test_the_document_is_valid_and_the_same_after_a_round_trip(d0ctl: Type) -> None:
    document, _ = exported(d0ctl)

    again = ProvDocument.deserialize(content=document.serialize(format="json"), format="json")

    assert again == document
    assert ProvDocument.deserialize(content=document.get_provn(), format="provn") == document


@pytest.mark.usefixtures("made")
def test_everything_that_a_relation_names_is_described(d0ctl: Type) -> None:
    document, _ = exported(d0ctl)

    things = (*document.get_records(ProvEntity), *document.get_records(ProvActivity),
              *document.get_records(ProvAgent))  # fmt: skip
    described = {one.identifier for one in things}
    relations = list(document.get_records(ProvRelation))
    named = {value for one in relations for _, value in one.formal_attributes
             if value is not None and "urn:d0ctl:" in getattr(value, "uri", "")}  # fmt: skip

    assert len(relations) == 12
    assert named <= described


def test_a_run_has_command_times_node_and_software_and_its_files_their_checksums(
    made: str, d0ctl: Type, tmp_path: Path
) -> None:
    _, text = exported(d0ctl)

    found = json.loads(text)
    run = found["activity"]["run:prod/1/1/1/1"]
    assert run["term:command"] == "reco raw.1 > r"
    assert run["term:parameters"] == '{"cards": "a b"}'
    assert run["prov:startTime"] == "1970-01-01T00:01:40.000Z"
    assert found["activity"]["run:prod/1/1/1/2"]["term:command"] == "ana r"
    assert found["entity"]["software:reco/v1"]["term:checksum"] == made
    assert found["entity"]["file:prod%3An%20%C3%BC"]["term:checksum"] == "sha256:00"
    assert found["entity"]["job:prod"]["prov:label"] == "First pass"
    assert found["agent"]["node:localhost"]["term:platform"] == "linux-x86_64"
    assert f"file:prod%3A{tmp_path}/raw.1" in found["entity"]


@pytest.mark.usefixtures("made")
def test_a_file_comes_from_the_inputs_of_the_binary_that_made_it(
    d0ctl: Type, tmp_path: Path
) -> None:
    document, _ = exported(d0ctl)

    def ends(kind: type[ProvRelation]) -> list[tuple[str, str]]:
        pairs = [one.formal_attributes for one in document.get_records(kind)]
        return [(pair[0][1].localpart, pair[1][1].localpart) for pair in pairs]

    raw = f"prod%3A{tmp_path}/raw.1"
    assert ends(ProvDerivation) == [("prod%3Ar", raw), ("prod%3An%20%C3%BC", "prod%3Ar")]
    assert ends(ProvGeneration) == [("prod%3Ar", "prod/1/1/1/1"),
                                    ("prod%3An%20%C3%BC", "prod/1/1/1/2")]  # fmt: skip
    assert ends(ProvUsage) == [("prod/1/1/1/1", "reco/v1"), ("prod/1/1/1/1", raw),
                               ("prod/1/1/1/2", "prod%3Ar")]  # fmt: skip


@pytest.mark.usefixtures("made")
def test_the_document_of_a_file_has_only_the_runs_that_led_to_it(d0ctl: Type, site: Site) -> None:
    site.finish("prod/2/1/1")

    def runs(file: str) -> set[str]:
        text = d0ctl("export", file, "--format", "prov").stdout
        document = ProvDocument.deserialize(content=text, format="json")
        assert ProvDocument.deserialize(content=document.get_provn(), format="provn") == document
        return {str(one.identifier).partition(":")[2] for one in document.get_records(ProvActivity)}

    assert runs("prod:r") == {"prod/1/1/1/1"}
    assert runs("prod:all") == runs("prod") == {"prod/1/1/1/1", "prod/1/1/1/2", "prod/2/1/1/1"}
    unmade = d0ctl("export", "prod:raw.1", "--format", "prov")
    assert (unmade.exit_code, "has made" in unmade.stderr) == (3, True), unmade.stderr
    assert "exported only as prov, ro-crate or text" in d0ctl("export", "prod:r").stderr


def test_the_text_of_a_file_has_the_runs_that_led_to_it_in_words(
    made: str, site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    site.finish("prod/2/1/1")

    text = d0ctl("export", "prod:all", "--format", "text").stdout

    first, second, last = text.split("\n\n")
    assert first.splitlines() == [
        "prod/1/1/1/1 reco",
        "    attempt     1 on localhost, linux-x86_64",
        "    time        1970-01-01T00:01:40.000Z to 1970-01-01T00:02:30.000Z, 50 s",
        f"    software    reco/v1, {made}",
        "    parameters  cards=a b",
        "    command     reco raw.1 > r",
        f"    read        {tmp_path}/raw.1",
        "    made        r, 10 B, sha256:00",
    ]
    assert second.startswith("prod/1/1/1/2 ana\n")
    assert "    read        n ü, 10 B, sha256:00\n" in last
    assert d0ctl("export", "prod:r", "--format", "text").stdout == f"{first}\n"
    assert "export prod:r --format text`" in d0ctl("why", "prod:r").stdout


def test_the_text_of_a_file_begins_with_the_runs_of_other_jobs_that_led_to_it(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    for name, run, read in (
        ("a", "date > a1", ""), ("b", "cp a1 b1", "a:a1"), ("c", "cat a2 b1 > c1", "a:a2, b:b1")
    ):  # fmt: skip
        lines = [f'{{run: "{run}", inputs: [{read}], outputs: {name}1}}']
        lines += ["{run: date > a2, outputs: a2}", "{run: date > a3, outputs: a3}"] * (name == "a")
        (tmp_path / "job.yaml").write_text(
            f"job: {name}\nstages: [{{lines: [{', '.join(lines)}]}}]\n"
        )
        assert d0ctl("submit", str(tmp_path / "job.yaml")).exit_code == 0
        for number, _ in enumerate(lines, 1):
            site.finish(f"{name}/1/{number}/1")

    text = d0ctl("export", "c:c1", "--format", "text").stdout

    assert [each.partition("\n")[0].split()[0] for each in text.split("\n\n")] == [
        "a/1/1/1/1", "a/1/2/1/1", "b/1/1/1/1", "c/1/1/1/1"
    ]  # fmt: skip
    assert "    read        a:a2, 10 B" in text


@pytest.mark.usefixtures("made")
def test_provenance_leaves_out_packages_that_have_not_succeeded(site: Site, d0ctl: Type) -> None:
    site.fail("prod/2/1/1")

    document, _ = exported(d0ctl)

    assert len(list(document.get_records(ProvActivity))) == 2


def test_why_of_a_file_says_which_run_made_it(made: str, d0ctl: Type, tmp_path: Path) -> None:
    found = json.loads(d0ctl("why", "prod:r", "--json").stdout)

    facts = "\n".join(found["facts"])
    assert "binary `reco` made it in attempt 1 on `localhost`" in facts
    assert "its checksum is sha256:00" in facts
    assert f"its software is reco/v1, {made}" in facts
    assert "its command was reco raw.1 > r" in facts
    assert "its parameters were cards=a b" in facts
    assert f"it was made from `prod:{tmp_path}/raw.1`" in facts
    origin = found["details"]["origin"]
    assert (origin["software_checksum"], origin["node"]) == (made, "localhost")
    assert [input["file"] for input in origin["inputs"]] == [f"prod:{tmp_path}/raw.1"]


def test_a_binary_that_an_attempt_did_not_need_is_skipped(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    chain = [{"name": name, "run": [name], "outputs": [f"{name}.out"]} for name in ("reco", "ana")]
    text = {"job": "prod", "stages": [{"lines": [{"packages": [{"binaries": chain}]}]}]}
    (tmp_path / "job.yaml").write_text(json.dumps(text))
    assert d0ctl("submit", str(tmp_path / "job.yaml"), "--force").exit_code == 0
    site.launch("prod/1/1/1")
    site.end("prod/1/1/1", binaries=[record(2)], began=2, began_why="another job left `reco.out`")

    shown = d0ctl("status", "prod/1/1/1").stdout

    listed = shown.partition("\nbinaries\n")[2].splitlines()[:2]
    assert [row.split()[:4] for row in listed] == [
        ["1", "reco", "·", "skipped"], ["2", "ana", "✔", "successful"]
    ]  # fmt: skip


@pytest.mark.usefixtures("made")
def test_a_file_whose_maker_runs_again_has_an_origin_once_that_has_succeeded(d0ctl: Type) -> None:
    words = ("export", "prod:r", "--format", "prov")
    assert d0ctl(*words).exit_code == 0
    d0ctl("set-status", "prod/1/1", "unscheduled", "--yes")

    refused = d0ctl(*words)

    assert refused.exit_code == 3
    assert "`prod/1/1/1`, which makes `r`, is ready: a file has an origin" in refused.stderr


def test_a_file_whose_maker_is_blocked_has_no_origin_yet(site: Site, d0ctl: Type) -> None:
    site.submit(production(lines=1))
    site.fail("prod/1/1/1")

    refused = d0ctl("export", "prod:all", "--format", "prov").stderr

    assert "`prod/2/1/1`, which makes `all`, is blocked" in refused
    assert "a file has an origin once its maker has succeeded\n" in refused


def test_a_run_of_which_only_the_software_is_kept_has_its_command(
    made: str, d0ctl: Type, site: Site
) -> None:
    before = d0ctl("export", "prod:r", "--format", "text").stdout
    assert "reco raw.1 > r" in before

    change(site.store, "attempt", recipe='[{"seq": 1, "software": "reco/v1"}]')

    assert d0ctl("export", "prod:r", "--format", "text").stdout == before
