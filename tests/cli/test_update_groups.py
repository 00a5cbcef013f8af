"""update: files of former groups are not merged with files of the present ones."""

import time
from collections.abc import Sequence
from pathlib import Path

from d0ctl.store.files import copies
from tests.cli.conftest import Type
from tests.support.rows import read
from tests.support.site import Site

GROUPS = """\
job: prod
stages:
  - {{name: sim, lines: [{{for: {{n: {numbers}}}, run: "true", outputs: "s-{{n}}"}}]}}
  - name: merge
    lines:
      - for: {{part: {{from: sim, by: 2}}}}
        run: cat {{part}} > m-{{part.index}}
        inputs: "{{part}}"
        outputs: "m-{{part.index}}"
  - name: check
    lines:
      - for: {{one: {{from: merge, by: 1}}}}
        run: touch ok-{{one.index}}
        inputs: "{{one}}"
        outputs: "ok-{{one.index}}"
  - {{name: all, lines: [{{run: "cat {{inputs}} > all", inputs: {{from: {last}}}, outputs: all}}]}}
"""


def has_run(site: Site, d0ctl: Type, file: Path, *packages: str, last: str = "merge") -> None:
    """Submit groups of two of six files, of which some packages have run."""
    write(file, range(1, 7), last)
    assert d0ctl("submit", str(file)).exit_code == 0
    for package in packages:
        site.finish(f"prod/{package}/1")


def write(file: Path, numbers: Sequence[int], last: str = "merge") -> None:
    """Write a job file."""
    file.write_text(GROUPS.format(numbers=[*numbers], last=last))


def test_a_merge_of_groups_that_have_shifted_waits_for_again(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    file = tmp_path / "prod.yaml"
    has_run(site, d0ctl, file, "1/1", "1/2", "1/4", "1/5", "1/6", "2/1", "2/3")
    site.fail("prod/1/3/1")
    write(file, (1, 2, 4, 5, 6))

    refused = d0ctl("update", "prod")
    hint = "d0ctl update prod --again   # makes such files again first"
    assert refused.stderr.splitlines()[1] == hint
    done = d0ctl(*hint.split()[1:4])

    assert refused.exit_code == 4
    assert refused.stderr.splitlines()[0] == (
        "d0ctl: `prod/4/1/1` would read `m-3`, which was made from other inputs than it has now, "
        "beside others: inputs would count twice or be missing"
    )
    assert (done.exit_code, site.phase("prod/2/3/1")) == (0, "ready")


def test_a_group_that_is_being_merged_is_waited_for(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    file = tmp_path / "prod.yaml"
    has_run(site, d0ctl, file, "1/1", "1/2", "1/4", "1/5", "1/6", "2/1")
    site.launch("prod/2/3/1")
    site.fail("prod/1/3/1")
    write(file, (1, 2, 4, 5, 6))

    refused = d0ctl("update", "prod", "--again")

    hint = "wait until `prod/2/3/1` ends, or kill it"
    assert (refused.exit_code, refused.stderr.splitlines()[1]) == (4, hint)


def test_a_merge_does_not_lack_added_files_of_a_group_that_was_not_full(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    file = tmp_path / "prod.yaml"
    has_run(site, d0ctl, file, "1/1", "1/2", "1/3", "1/4", "1/5", "1/6", "2/2", "2/3", last="check")
    write(file, (1, 2, 3, 4, 5, 6, 7, 8), last="check")
    added = d0ctl("update", "prod", "--dry-run")
    write(file, (1, 2, 3, 5, 6, 4, 7), last="check")

    regrouped = d0ctl("update", "prod", "--dry-run")

    assert (added.exit_code, regrouped.exit_code) == (0, 4)
    assert "`prod/4/1/1` would read `ok-2`" in regrouped.stderr


def test_a_package_that_reads_one_former_file_alone_may_run(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    file = tmp_path / "prod.yaml"
    text = GROUPS.replace("by: 2", "by: 20")
    file.write_text(text.format(numbers=[1, 2], last="merge"))
    d0ctl("submit", str(file))
    for package in ("1/1", "1/2", "2/1"):
        site.finish(f"prod/{package}/1")
    file.write_text(text.format(numbers=[1, 2, 3], last="merge"))

    added = d0ctl("update", "prod")

    assert added.exit_code == 0
    assert "out of date" in added.stdout


def test_no_package_runs_again_for_a_group_that_does_not_read_it_any_more(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    file = tmp_path / "prod.yaml"
    before = [f"{stage}/{line}" for stage, most in ((1, 6), (2, 3), (3, 3), (4, 1))
              for line in range(1, most + 1)]  # fmt: skip
    has_run(site, d0ctl, file, *before)
    made = [file for file, name in read(site.store, "file", "id", "name") if name != "all"]
    with site.store.writing():
        copies.lose(site.store, [(file, 1) for file in made], now=time.time())
    write(file, (1, 3, 4, 5, 6))

    planned = d0ctl("update", "prod", "--again").stdout

    again = [path for path in before if site.phase(f"prod/{path}/1") != "done"]
    assert again == [path for path in before if path != "1/2"]
    assert f"in all: {len(again)} packages to run again\n" in planned
