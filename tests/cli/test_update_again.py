"""update --again: what is out of date runs again, and nothing else."""

import re
import time
from pathlib import Path

import pytest

from d0ctl.store.checks.check import faults
from d0ctl.store.files import copies
from tests.cli.conftest import Type
from tests.support.rows import change, insert, read
from tests.support.site import Site

CHAIN = """\
job: prod
stages:
  - {name: gen, lines: [{for: {n: [1, 2, 3]}, run: "true", outputs: "gen-{n}"}]}
  - name: select
    lines:
      - for: {n: [1, 2, 3]}
        run: "true"
        inputs: "gen-{n}"
        outputs: "sel-{n}"
  - {name: merge, lines: [{run: "true", inputs: {from: select}, outputs: all}]}
"""


@pytest.fixture
def file(site: Site, d0ctl: Type, tmp_path: Path) -> Path:
    """The job file of a job that is successful, and of whose files only the result is left."""
    path = tmp_path / "prod.yaml"
    path.write_text(CHAIN)
    assert d0ctl("submit", str(path)).exit_code == 0
    for package in ("1/1/1", "1/2/1", "1/3/1", "2/1/1", "2/2/1", "2/3/1", "3/1/1"):
        site.finish(f"prod/{package}")
    made = [file for file, name in read(site.store, "file", "id", "name") if name != "all"]
    with site.store.writing():
        copies.lose(site.store, [(file, 1) for file in made], now=time.time())
    return path


def waiting(site: Site) -> list[str]:
    """The packages that run again, by their paths."""
    paths = [f"prod/{stage}/{line}/1" for stage in (1, 2) for line in (1, 2, 3)]
    return [path for path in [*paths, "prod/3/1/1"] if site.phase(path) != "done"]


def test_lines_that_the_job_file_no_longer_has_do_not_run_again(
    site: Site, d0ctl: Type, file: Path
) -> None:
    file.write_text(CHAIN.replace("[1, 2, 3]", "[1, 2]"))

    planned = d0ctl("update", "prod", "--again", "--dry-run").stdout
    d0ctl("update", "prod", "--again")

    assert "in all: 5 packages to run again\n" in planned
    assert waiting(site) == [f"prod/{path}/1" for path in ("1/1", "1/2", "2/1", "2/2", "3/1")]
    assert read(site.store, "file", "name", result=1) == [("all",)]
    assert faults(site.store) == []


def test_a_successful_package_that_a_drop_leaves_without_inputs_is_dropped_too(
    site: Site, d0ctl: Type, file: Path
) -> None:
    planned = d0ctl("kill-line", "prod/1/2", "--drop-outputs", "--dry-run").stdout
    dropped = d0ctl("kill-line", "prod/1/2", "--drop-outputs").stdout

    left = "successful, and left without inputs, so that their files are dropped, too: 1 package\n"
    assert f"{left}  prod/2/2/1" in planned
    assert "the files of 1 successful package, left without inputs, are dropped, too\n" in dropped
    assert "1 package has read these files or what was made of them" in dropped
    d0ctl("update", "prod", "--again")
    assert waiting(site) == [f"prod/{path}/1" for path in ("1/1", "1/3", "2/1", "2/3", "3/1")]
    for path in ("1/1", "1/3", "2/1", "2/3", "3/1"):
        site.finish(f"prod/{path}/1")

    back = d0ctl("restore-line", "prod/1/2", "--again")

    assert back.exit_code == 0
    assert "prod/2/2/1" in waiting(site)
    assert read(site.store, "line", "id", dropped=None, named=1) == []
    assert faults(site.store) == []


def test_a_package_that_ran_while_its_input_was_dropped_does_not_run_again_without(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    (tmp_path / "prod.yaml").write_text(CHAIN)
    d0ctl("submit", str(tmp_path / "prod.yaml"))
    site.finish("prod/1/2/1")
    site.launch("prod/2/2/1")
    d0ctl("kill-line", "prod/1/2", "--drop-outputs")
    site.end("prod/2/2/1")

    refused = d0ctl("update", "prod", "--again")

    assert refused.exit_code == 4
    assert "`prod/2/2/1` would run again without `gen-2`, which is dropped" in refused.stderr
    assert d0ctl("kill-line", "prod/2/2", "--drop-outputs").exit_code == 0
    assert d0ctl("update", "prod", "--again").exit_code == 0


def test_parameters_are_not_changed_for_a_part_of_a_job(d0ctl: Type, file: Path) -> None:
    refused = d0ctl("update", "prod/2", "--set", "n=5", "--again")

    assert refused.exit_code == 2
    error = "d0ctl: `--set` changes the parameters of a whole job, not of a part"
    assert refused.stderr.splitlines() == [error, "d0ctl update prod"]


def test_a_changed_file_is_not_said_to_matter_for_lines_that_were_removed(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    path, tool = tmp_path / "prod.yaml", tmp_path / "gen.sh"
    text = CHAIN.replace('run: "true", outputs: "gen', 'run: "true", inputs: gen.sh, outputs: "gen')
    tool.write_text("one")
    path.write_text(text)
    d0ctl("submit", str(path))
    for package in ("1/1/1", "1/2/1", "1/3/1", "2/1/1", "2/2/1", "2/3/1", "3/1/1"):
        site.finish(f"prod/{package}")
    change(site.store, "file", {"name": str(tool)}, checksum="sha256:1", size=3)
    path.write_text(text.replace("[1, 2, 3]", "[1, 2]"))
    d0ctl("update", "prod", "--accept")
    tool.write_text("other")

    removed = d0ctl("results", "prod").stderr
    path.write_text(text)
    d0ctl("update", "prod")
    back = d0ctl("status", "prod").stdout

    assert "has changed since 2 finished packages read it" in removed
    assert "7 packages of `prod` are out of date" in " ".join(back.split())


TWO = CHAIN.replace(
    """        run: "true"
        inputs: "gen-{n}"
        outputs: "sel-{n}"
""",
    """        packages:
          - {run: "true", inputs: "gen-{n}", outputs: "sel-{n}"}
          - {run: "true", inputs: "sel-{n}", outputs: "fit-{n}"}
""",
)
"""The same with a second package in the lines of `select`."""


def counted(text: str) -> int:
    """The number of packages that run again, as the last sentence on it says."""
    found = re.findall(r"^(?:in all: )?([0-9]+) packages? to run again", text, re.MULTILINE)
    return int(found[-1])


def test_packages_added_to_a_dropped_line_are_dropped_and_nothing_runs_for_them(
    site: Site, d0ctl: Type, file: Path
) -> None:
    d0ctl("kill-line", "prod/2/2", "--drop-outputs")
    file.write_text(TWO)

    planned = d0ctl("update", "prod", "--again", "--dry-run").stdout
    d0ctl("update", "prod", "--again")

    assert site.phase("prod/2/2/2") == "dropped"
    assert waiting(site) == [f"prod/{path}/1" for path in ("1/1", "1/3", "2/1", "2/3", "3/1")]
    assert counted(planned) == len(waiting(site))
    assert faults(site.store) == []
    d0ctl("restore-line", "prod/2/2", "--again")
    assert site.phase("prod/2/2/2") == "waiting"
    assert faults(site.store) == []


def test_no_package_runs_again_for_files_that_others_will_make(
    site: Site, d0ctl: Type, file: Path
) -> None:
    file.write_text(TWO)
    d0ctl("update", "prod", "--again")
    for path in (*(f"{stage}/{line}/1" for stage in (1, 2) for line in (1, 2, 3)),
                 "2/1/2", "2/2/2", "2/3/2", "3/1/1"):  # fmt: skip
        site.finish(f"prod/{path}")
    made = [file for file, name in read(site.store, "file", "id", "name") if name != "all"]
    with site.store.writing():
        copies.lose(site.store, [(file, 1) for file in made], now=time.time())
    file.write_text(CHAIN)

    planned = d0ctl("update", "prod", "--again", "--dry-run").stdout
    d0ctl("update", "prod", "--again")

    assert waiting(site) == ["prod/1/1/1", "prod/1/2/1", "prod/1/3/1", "prod/3/1/1"]
    assert counted(planned) == len(waiting(site))


def test_packages_that_run_again_with_a_changed_file_are_not_called_out_of_date(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    path, tool = tmp_path / "prod.yaml", tmp_path / "gen.sh"
    text = CHAIN.replace('run: "true", outputs: "gen', 'run: "true", inputs: gen.sh, outputs: "gen')
    tool.write_text("one")
    path.write_text(text)
    d0ctl("submit", str(path))
    for package in ("1/1/1", "1/2/1", "1/3/1", "2/1/1", "2/2/1", "2/3/1", "3/1/1"):
        site.finish(f"prod/{package}")
    change(site.store, "file", {"name": str(tool)}, checksum="sha256:1", size=3)
    gone = [file for file, name in read(site.store, "file", "id", "name") if name == "gen-1"]
    with site.store.writing():
        copies.lose(site.store, [(file, 1) for file in gone], now=time.time())
    tool.write_text("other")
    path.write_text(text + "  - {name: new, lines: [{run: 'true', inputs: gen-1, outputs: new}]}\n")

    planned = d0ctl("update", "prod").stdout

    assert "1 package to run again, because its outputs were removed: 1 successful\n" in planned
    assert "2 packages out of date, run before files were changed, dropped" in planned
    assert "out of date, too: 4 packages that have read their files\n" in planned
    assert "6 packages of `prod` are out of date" in " ".join(
        d0ctl("status", "prod").stdout.split()
    )


def test_an_update_ends_a_remark_that_is_out_of_date_itself(
    site: Site, d0ctl: Type, file: Path
) -> None:
    insert(site.store, "outdated_package", package_id=site.id_of("prod/1/1/1"), job_id=1,
           by_recipe=0)  # fmt: skip

    d0ctl("update", "prod", "--again")

    assert "out of date" not in d0ctl("status", "prod").stdout


@pytest.mark.parametrize("line", [1, 2, 3])
def test_a_merge_is_up_to_date_if_the_job_file_lacks_the_line_without_which_it_ran(
    site: Site, d0ctl: Type, file: Path, line: int
) -> None:
    d0ctl("kill-line", f"prod/1/{line}", "--drop-outputs")
    d0ctl("update", "prod", "--again")
    for path in [path for path in waiting(site) if path != "prod/3/1/1"]:
        site.finish(path)
    site.finish("prod/3/1/1")
    file.write_text(CHAIN.replace("1, 2, 3", ", ".join(n for n in "123" if n != str(line))))

    planned = d0ctl("update", "prod", "--dry-run").stdout
    d0ctl("update", "prod")

    assert "out of date" not in planned
    assert "out of date" not in d0ctl("status", "prod").stdout
    assert d0ctl("update", "prod", "--again").stdout.startswith("`prod` already matches")


def test_a_job_that_went_on_after_its_end_is_not_said_to_have_taken_the_idle_time(
    site: Site, d0ctl: Type, file: Path
) -> None:
    change(site.store, "job", {"name": "prod"}, ended=time.time())
    assert " · took " in d0ctl("status", "prod").stdout

    file.write_text(CHAIN.replace("[1, 2, 3]", "[1, 2, 3, 4]"))
    d0ctl("update", "prod")
    went_on = d0ctl("status", "prod").stdout

    assert " after its submission\n" in went_on
    assert " · took " not in went_on and " so far" not in went_on
