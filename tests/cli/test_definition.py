"""Each field of the records of the D0 Job Definition (section 2) is kept, and shown by `status`."""

from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Type
from tests.support import rows
from tests.support.building import document
from tests.support.site import Site

JOB = """
job: case
originator: emmy@lab
priority: 60
hold: yes
stages:
  - name: reco
    lines:
      - early-start: no
        packages:
          - wrapper: start.sh
            wrapper-parameters: {CHAIN: reco}
            nodes: localhost
            binaries:
              - name: reco
                run: cp raw.dat out.reco
                software: reco/v12-01
                parameters: {cards: standard}
                needs: SAM
                cpu: 99
                runtime: 20m
                work-size: 2GB
                inputs:
                  - {file: raw.dat, locator: /data/raw.dat, size: 1GB, acquire: pre-fetch,
                     disposition: retain-temp}
                outputs:
                  - {file: out.reco, size: 200MB, locator: /store/out.reco,
                     disposition: [store, retain-indef]}
"""

FIELDS: dict[str, tuple[str, dict[str, tuple[str, Any]]]] = {
    "job": ("case", {
        "Job ID": ("job", "case"),
        "Originator ID": ("originator", "emmy@lab"),
        "Priority": ("priority", 60),
        "Hold": ("held.reason", "held at submission"),
    }),
    "stage": ("case/1", {"Job Parent": ("job", "case"), "Stage ID": ("stage", 1)}),
    "line": ("case/1/1", {
        "Stage Parent": ("stage", 1), "Line ID": ("line", 1), "Early-start": ("early_start", False),
    }),
    "package": ("case/1/1/1", {
        "Line Parent": ("line", 1),
        "Package Sequence": ("package", 1),
        "Status": ("status", "unscheduled"),
        "Failure History": ("failures", []),
        "Startup Script ID": ("asked.wrapper", "start.sh"),
        "Startup Script Parameter Set": ("asked.wrapper_parameters", {"CHAIN": "reco"}),
        "Node Restriction List": ("asked.nodes", ["localhost"]),
        "Scheduled Node": ("node", None),
        "Platform ID": ("asked.platform", None),
    }),
    "binary": ("case/1/1/1/1", {
        "Package Parent": ("package", "case/1/1/1"),
        "Binary Sequence": ("binary", 1),
        "Software ID and Version": ("asked.software", "reco/v12-01"),
        "SAM Required": ("asked.needs", ["SAM"]),
        "CPU Requirement": ("asked.cpu", 99),
        "Input Parameter Set": ("asked.parameters", {"cards": "standard"}),
        "Input: Base Name": ("inputs.0.file", "raw.dat"),
        "Input: Locator": ("inputs.0.locator", "/data/raw.dat"),
        "Input: Size": ("inputs.0.size_asked", 10**9),
        "Input: Acquisition": ("inputs.0.acquire", "pre-fetch"),
        "Input: Disposition": ("inputs.0.disposition", "retain-temp"),
        "Output: Base Name": ("outputs.0.file", "out.reco"),
        "Output: Locator": ("outputs.0.locator", "/store/out.reco"),
        "Output: Estimated size": ("outputs.0.size_asked", 200 * 10**6),
        "Output: Dispositions": ("outputs.0.dispositions", ["retain-indef", "store"]),
        "Estimated size of work files": ("asked.work_size", 2 * 10**9),
        "Estimated run time": ("asked.runtime", 1200.0),
        "Start Time": ("started", None),
        "End Time": ("ended", None),
        "Invoking Script": ("script", "cp raw.dat out.reco"),
    }),
}  # fmt: skip
"""The fields of each record: where the JSON document has it, and its value."""


def at(found: Any, place: str) -> Any:
    """What stands at a place of a document."""
    for key in place.split("."):
        found = found[int(key)] if isinstance(found, list) else found[key]
    if place.endswith("file"):
        return Path(found).name
    return sorted(found) if place.endswith("dispositions") else found


@pytest.fixture
def case(d0ctl: Type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A submitted job with every field."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "start.sh").write_text('"$@"\n')
    (tmp_path / "reco.yaml").write_text(JOB)
    (tmp_path / "site.yaml").write_text(
        "nodes: {localhost: {services: SAM}}\n"
        "software: {name: reco, version: v12-01, script: reco}\n"
    )
    assert d0ctl("site", "apply", "site.yaml").exit_code == 0
    assert d0ctl("submit", "reco.yaml", "--force").exit_code == 0


@pytest.mark.parametrize("record", FIELDS)
def test_status_shows_each_field_of_a_record(case: None, d0ctl: Type, record: str) -> None:
    selector, fields = FIELDS[record]

    printed = document(d0ctl("status", selector, "--json").stdout)

    assert {name: at(printed, place) for name, (place, _) in fields.items()} == {
        name: value for name, (_, value) in fields.items()
    }


def test_the_cards_of_packages_and_binaries_show_their_requests(case: None, d0ctl: Type) -> None:
    assert "startup script start.sh" in d0ctl("status", "case/1/1/1").stdout
    words = "software reco/v12-01, cards=standard, needs SAM, 99 % of a CPU, about 20 min 00 s"
    assert f"{words}, 2.0 GB of scratch files" in d0ctl("status", "case/1/1/1/1").stdout


def test_the_script_of_software_is_the_command_of_a_binary_without_one(
    case: None, d0ctl: Type, tmp_path: Path
) -> None:
    (tmp_path / "bare.yaml").write_text(
        "stages: [{lines: [{software: reco/v12-01, outputs: out.reco}]}]\n"
    )
    assert d0ctl("submit", "bare.yaml", "--as", "bare", "--force").exit_code == 0

    assert "\ncommand\n  reco\n" in d0ctl("status", "bare/1/1/1/1").stdout
    assert document(d0ctl("status", "bare/1/1/1/1", "--json").stdout)["script"] == "reco"


def test_an_attempt_has_the_platform_of_its_node(site: Site, d0ctl: Type, tmp_path: Path) -> None:
    (tmp_path / "one.yaml").write_text("stages: [{lines: [{run: 'true'}]}]\n")
    assert d0ctl("submit", str(tmp_path / "one.yaml"), "--as", "one").exit_code == 0
    site.finish("one/1/1/1")

    rows.change(site.store, "node", {"name": "localhost"}, platform="linux-riscv64")

    (attempt,) = document(d0ctl("status", "one/1/1/1", "--json").stdout)["attempts"]
    assert attempt["platform"] == "linux-riscv64"
