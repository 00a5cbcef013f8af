"""The job file of the design, and that every short form means its long form."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from msgspec.structs import replace

from d0ctl.jobfile.reader import read, read_text
from d0ctl.jobfile.spec import Acquire, Disposition, InputSpec, JobSpec, OutputSpec

from .conftest import Faults, Lines, Read, launched

RECO = """\
job: reco001
title: Re-reconstruction with recoanalysis
originator: reco@fnal.gov
priority: 50
stages:
  - name: reco
    lines:
      - for: {raw: {glob: "raw/*.raw"}}      # one line a raw file
        packages:
          - binaries:
              - run: "reco --in {raw} --out {raw.stem}.reco"
                inputs:  [{file: "{raw}", acquire: pre-fetch, disposition: deletable}]
                outputs: [{file: "{raw.stem}.reco", size: 200MB,
                           disposition: [forward, retain-indef]}]
                runtime: 20m
  - name: merge
    lines:
      - packages:
          - binaries:
              - run: "merge {inputs} > all.root"
                inputs: {from: reco}
                outputs: [all.root]
"""


def whole(spec: JobSpec) -> Any:
    """All that a job says, in a form that can be compared."""
    stages = [(stage.name, stage.require, list(stage.lines)) for stage in spec.stages]
    return replace(spec, stages=(), source="", text="", warnings=()), stages


def test_a_job_file_sets_the_mails_of_its_originator(job: Read, faults: Faults) -> None:
    rest = "stages: [{lines: [{run: x}]}]"

    assert job(rest).mail is None
    assert job(f"mail: when-needed\n{rest}").mail == "when-needed"
    (answer,) = faults(f"mail: nevr\n{rest}")
    assert answer.endswith("`nevr` is not one of `everything`, `when-needed`, `never` "
                         "(did you mean `never`?)")  # fmt: skip


def test_the_job_of_the_design_is_read_completely(job: Read, folder: Path) -> None:
    spec = job(RECO)

    assert (spec.name, spec.named, spec.priority) == ("reco001", True, 50)
    assert (spec.originator, spec.packages, spec.directory) == ("reco@fnal.gov", 4, str(folder))
    reco = list(spec.stages[0].lines)
    assert [line.name for line in reco] == ["raw=a.raw", "raw=b.raw", "raw=c.raw"]
    binary = reco[1].packages[0].binaries[0]
    assert binary.name == "reco"
    assert binary.script == "reco --in raw/b.raw --out b.reco"
    assert binary.runtime == 1200
    assert binary.inputs == (
        InputSpec(
            file=f"{folder}/raw/b.raw",
            made=False,
            acquire=Acquire.PRE_FETCH,
            disposition=Disposition.DELETABLE,
            local="raw/",
        ),
    )
    dispositions = frozenset({Disposition.FORWARD, Disposition.RETAIN_INDEF})
    assert binary.outputs == (OutputSpec("b.reco", size=200_000_000, dispositions=dispositions),)
    (merge,) = spec.stages[1].lines
    binary = merge.packages[0].binaries[0]
    assert launched(merge) == "merge a.reco b.reco c.reco > all.root"
    assert binary.inputs[0] == InputSpec("a.reco", required=False)


def test_iterating_twice_gives_the_same_lines(job: Read) -> None:
    stage = job(RECO).stages[0]

    assert list(stage.lines) == list(stage.lines)


def test_a_job_file_may_be_json(job: Read) -> None:
    as_json = json.dumps(yaml.safe_load(RECO), indent="\t")

    assert whole(job(as_json)) == whole(job(RECO))


def test_json_may_escape_what_lies_beyond_two_bytes(lines: Lines) -> None:
    text = json.dumps({"stages": [{"lines": [{"run": "echo", "outputs": ["\U0001f600.root"]}]}]})

    (line,) = lines(text)

    assert line.packages[0].binaries[0].outputs[0].file == "\U0001f600.root"


BINARY = "run: 'cat {inputs}', inputs: [{file: raw/a.raw}], outputs: [{file: x}], cpu: 50"


@pytest.mark.parametrize(
    ("short", "long"),
    [
        (f"{{{BINARY}, name: one}}", f"{{name: one, packages: [{{binaries: [{{{BINARY}}}]}}]}}"),
        (f"{{binaries: [{{{BINARY}}}]}}", f"{{packages: [{{binaries: [{{{BINARY}}}]}}]}}"),
        (f"{{packages: [{{{BINARY}}}]}}", f"{{packages: [{{binaries: [{{{BINARY}}}]}}]}}"),
        (
            f"{{{BINARY}, cpus: 2, early-start: yes}}",
            f"{{early-start: yes, packages: [{{cpus: 2, binaries: [{{{BINARY}}}]}}]}}",
        ),
        ("{run: x, inputs: raw/a.raw}", "{run: x, inputs: [{file: raw/a.raw}]}"),
        ("{run: x, outputs: a}", "{run: x, outputs: [{file: a}]}"),
        ("{run: x, outputs: [a, b]}", "{run: x, outputs: [{file: a}, {file: b}]}"),
        ("{run: x, inputs: {glob: 'raw/*'}}", "{run: x, inputs: [{glob: 'raw/*'}]}"),
        ("{run: x, inputs: {from: zero}}", "{run: x, inputs: [{from: zero}]}"),
        ("{run: x, nodes: n1, needs: sam}", "{run: x, nodes: [n1], needs: [sam]}"),
        (
            "{run: x, outputs: {file: a, disposition: store}}",
            "{run: x, outputs: [{file: a, disposition: [store]}]}",
        ),
        ("{for: {n: [1, 2]}, run: 'x {n}'}", "{for: {n: {list: [1, 2]}}, run: 'x {n}'}"),
        ("{run: x, log-rules: ERROR}", "{run: x, log-rules: [{match: ERROR}]}"),
    ],
)
def test_a_short_form_means_its_long_form(job: Read, short: str, long: str) -> None:
    text = "stages: [{name: zero, lines: [{run: z, outputs: z.out}]}, {lines: [LINE]}]"

    assert whole(job(text.replace("LINE", short))) == whole(job(text.replace("LINE", long)))


def test_every_field_of_the_records_has_its_place(job: Read, folder: Path) -> None:
    (folder / "wrap-v1").touch()
    spec = job(
        """\
job: full
title: All of it
originator: me@lab
priority: 7
hold: yes
parameters: {energy: 1e3, run: 012, flag: no, tries: 3}
policy: {exit-code: {tries: "{parameters.tries}", delay: [1m, 2m]}, never: {memory: no}}
stages:
  - name: only
    require: 97%
    lines:
      - name: first
        early-start: on
        packages:
          - name: p
            nodes: [n1, n2]
            exclude-nodes: n3
            platform: linux
            cpus: 4
            memory: 2GiB
            disk: 10GB
            wall-time: 1d
            wrapper: wrap-v1
            wrapper-parameters: {mode: "{parameters.run}"}
            environment: {RUN: "{parameters.run}", HOME_: "${HOME}"}
            policy: {"site:full": {passive: yes}}
            looping: 30m
            binaries:
              - name: b
                run: [prog, "--e={energy}", "{parameters.n}", "{inputs}"]
                software: prog/v2
                parameters: {n: 12:30}
                inputs:
                  - {file: /data/in.raw, locator: "sam:in.raw", size: 1KB,
                     checksum: "md5:00000000000000000000000000000000",
                     acquire: self, disposition: retain-temp, required: no}
                outputs:
                  - {file: out/o.root, locator: "x:/y", size: 5, min-size: 1,
                     checksum: cccccccccccccccccccccccccccccccc,
                     disposition: [], result: yes, late: yes}
                runtime: 90
                work-size: 3MB
                cpu: 99
                needs: [sam]
                log-rules: [{match: "^E(R+)OR", reason: "site:beam", passive: no}]
                progress: {log: "event (\\\\d+)/(\\\\d+)"}
                check: "test -s {outputs}"
""",
        name="full.yaml",
    )

    (stage,) = spec.stages
    (line,) = stage.lines
    (package,) = line.packages
    (binary,) = package.binaries
    assert spec.parameters == {"energy": "1e3", "run": "012", "flag": "no", "tries": "3"}
    rule = {"tries": 3, "delay": [60.0, 120.0]}
    assert spec.policy == {"exit-code": rule, "never": {"memory": None}}
    assert (spec.hold, spec.priority, spec.title) == (True, 7, "All of it")
    assert (stage.require, line.name, line.early_start) == (0.97, "first", True)
    assert (package.nodes, package.exclude_nodes) == (("n1", "n2"), ("n3",))
    assert (package.platform, package.cpus, package.memory) == ("linux", 4, 2**31)
    assert (package.disk, package.wall_time, package.looping) == (10**10, 86400, 1800)
    assert package.wrapper == InputSpec(str(folder / "wrap-v1"), made=False)
    assert package.wrapper_parameters == {"mode": "012"}
    assert package.environment == {"RUN": "012", "HOME_": "${HOME}"}
    assert package.policy == {"site:full": {"passive": True}}
    assert (binary.name, binary.script, binary.software) == ("b", None, "prog/v2")
    assert launched(line) == ["prog", "--e=1e3", "12:30", "in.raw"]
    assert binary.parameters == {"n": "12:30"}
    assert binary.inputs == (
        InputSpec(
            "/data/in.raw",
            made=False,
            locator="sam:in.raw",
            size=1000,
            checksum="md5:00000000000000000000000000000000",
            acquire=Acquire.SELF,
            disposition=Disposition.RETAIN_TEMP,
            required=False,
        ),
    )
    assert binary.outputs == (
        OutputSpec(
            "out/o.root", "x:/y", 5, 1, "md5:" + "c" * 32, frozenset(), result=True, late=True
        ),
    )
    assert (binary.runtime, binary.work_size, binary.cpu) == (90, 3_000_000, 99)
    assert (binary.needs, binary.check) == (("sam",), "test -s out/o.root")
    assert binary.log_rules == ({"match": "^E(R+)OR", "reason": "site:beam", "passive": False},)
    assert binary.progress == {"log": "event (\\d+)/(\\d+)"}


def test_unnamed_parts_have_default_names(job: Read) -> None:
    spec = job(
        "stages: [{lines: [{packages: [{run: '/opt/bin/gen 1'}, {run: '(cd x)'}]}, {run: ls}]}]",
        name="2024 run-α.yaml",
    )

    (stage,) = spec.stages
    first, second = stage.lines
    assert (spec.name, spec.named, stage.name) == ("job-2024-run", False, "stage1")
    assert (first.name, second.name) == ("1", "2")
    assert [package.name for package in first.packages] == ["1", "2"]
    assert [package.binaries[0].name for package in first.packages] == ["stage1", "stage1"]


def test_parameters_are_set_from_outside(lines: Lines) -> None:
    text = """\
parameters: {n: 2, e: 13}
stages: [{lines: [{for: {i: {range: [1, "{parameters.n}"]}}, run: "x {i} {e} {parameters.e}"}]}]
"""
    made = lines(text, n="3", e="7 TeV")

    scripts = [line.packages[0].binaries[0].script for line in made]
    assert scripts == [f"x {i} '7 TeV' '7 TeV'" for i in (1, 2, 3)]


def test_anchors_and_merges_are_followed(lines: Lines) -> None:
    (line,) = lines(
        """\
stages:
  - lines:
      - packages:
          - &one {run: echo one, cpus: 2, memory: 1GB}
          - {<<: *one, run: echo two, memory: 2GB}
"""
    )

    one, two = line.packages
    assert (one.cpus, one.memory) == (2, 10**9)
    assert (two.cpus, two.memory, two.binaries[0].script) == (2, 2 * 10**9, "echo two")


def test_a_text_is_read_without_a_file(tmp_path: Path) -> None:
    spec = read_text("stages: [{lines: [{run: echo}]}]", directory=tmp_path)

    assert (spec.name, spec.source, spec.directory) == ("job", "-", str(tmp_path))


def test_a_byte_order_mark_and_line_ends_of_windows_are_no_matter(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_bytes(b"\xef\xbb\xbfstages:\r\n  - lines:\r\n      - run: echo\r\n")

    assert read(path).packages == 1
