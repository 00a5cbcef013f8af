"""Files from outside that an attempt did not find, while they are away and once they are back."""

import json
from pathlib import Path

import pytest

from d0ctl.config import Home
from tests.cli.conftest import Type
from tests.cli.test_standing import drive
from tests.support.rows import change, insert, value
from tests.support.site import Site

JOB = """\
job: more
stages:
  - lines:
      - for: {n: {range: [1, 2]}}
        run: cat cal.txt > o-{n}.txt
        inputs: cal.txt
        outputs: o-{n}.txt
"""

SUM = """\
job: sum
stages:
  - lines:
      - run: cat {inputs} > sum.txt
        inputs: {from: more/stage1}
        outputs: sum.txt
"""


@pytest.fixture
def cal(site: Site, d0ctl: Type, tmp_path: Path) -> Path:
    """An input that was removed, so that two packages cool off."""
    (tmp_path / "more.yaml").write_text(JOB)
    cal = tmp_path / "cal.txt"
    cal.write_text("1\n")
    assert d0ctl("submit", str(tmp_path / "more.yaml")).exit_code == 0
    cal.unlink()
    drive(site)
    site.up()
    for path in ("more/1/1/1", "more/1/2/1"):
        site.fail(path, reason="missing-input", detail=f"input `{cal}` does not exist")
        assert site.phase(path) == "cooloff"
    return cal


def shown(d0ctl: Type, *words: str) -> str:
    """The words of a page, without its columns."""
    return " ".join(d0ctl(*words).stdout.split())


def test_an_input_that_was_not_found_and_does_not_exist_is_not_shown_as_available(
    d0ctl: Type, cal: Path
) -> None:
    page = shown(d0ctl, "status", "more/1/1/1")
    (document,) = json.loads(d0ctl("status", "more/1/1/1", "--json").stdout)["inputs"]

    assert "inputs 1 still missing" in page
    assert f"{cal.name} ✘ does not exist pre-fetch" in page
    assert document["present"] is False


def test_an_input_of_a_waiting_package_is_missing_unless_it_or_a_copy_exists(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    (tmp_path / "more.yaml").write_text(JOB)
    cal = tmp_path / "cal.txt"
    cal.write_text("1\n")
    d0ctl("submit", str(tmp_path / "more.yaml"))
    site.up()
    there = shown(d0ctl, "status", "more/1/1/1")
    cal.unlink()
    away = shown(d0ctl, "status", "more/1/1/1")
    file = value(site.store, "file", "id", name=str(cal))
    insert(site.store, "location", file_id=file, cluster_id=1, path="/cache/1", made=1.0)
    copied = shown(d0ctl, "status", "more/1/1/1")

    assert f"{cal.name} ✔ available" in there and f"{cal.name} ✔ available" in copied
    assert "inputs 1 still missing" in away and f"{cal.name} ✘ does not exist" in away


def test_an_input_that_came_back_is_available(d0ctl: Type, cal: Path) -> None:
    cal.write_text("2\n")

    page = shown(d0ctl, "status", "more/1/1/1")
    (document,) = json.loads(d0ctl("status", "more/1/1/1", "--json").stdout)["inputs"]

    assert f"{cal.name} ✔ available" in page
    assert document["present"] is True


def test_the_list_of_files_says_whether_an_input_exists(d0ctl: Type, cal: Path) -> None:
    away = d0ctl("file", "list", f"more:{cal}").stdout
    cal.write_text("2\n")

    back = d0ctl("file", "list", f"more:{cal}").stdout

    assert "does not exist" in away and "on this machine" not in away
    assert "on this machine" in back


@pytest.mark.parametrize("about", ["more", "more/1/1/1"])
def test_why_says_that_an_input_came_back(d0ctl: Type, cal: Path, about: str) -> None:
    away = d0ctl("why", about).stdout
    cal.write_text("2\n")

    back = d0ctl("why", about).stdout

    assert "exists now" not in away
    assert "cal.txt` exists now: a retry reads it at once\n" in back
    assert "d0ctl retry more" in back


def test_why_of_a_file_that_came_back_says_how_packages_read_it_at_once(
    d0ctl: Type, cal: Path
) -> None:
    cal.write_text("2\n")

    answer = d0ctl("why", "more:cal.txt").stdout

    assert "- it exists now: a retry of packages that did not find it reads it\n" in answer
    assert "  $ d0ctl retry more:cooloff\n" in answer


def test_why_of_a_file_that_nobody_missed_says_nothing_of_a_retry(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    (tmp_path / "more.yaml").write_text(JOB)
    (tmp_path / "cal.txt").write_text("1\n")
    d0ctl("submit", str(tmp_path / "more.yaml"))

    answer = d0ctl("why", "more:cal.txt").stdout

    assert "exists now" not in answer and "retry" not in answer


def test_an_input_of_a_successful_package_that_was_removed_since_is_not_shown_as_there(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    (tmp_path / "more.yaml").write_text(JOB)
    cal = tmp_path / "cal.txt"
    cal.write_text("1\n")
    d0ctl("submit", str(tmp_path / "more.yaml"))
    site.finish("more/1/1/1")
    there = shown(d0ctl, "status", "more/1/1/1")
    cal.unlink()

    away = shown(d0ctl, "status", "more/1/1/1")
    binary = shown(d0ctl, "status", "more/1/1/1/1")

    assert f"{cal.name} ✔" in there
    assert f"{cal.name} · does not exist pre-fetch" in away and "still missing" not in away
    assert f"{cal.name} · does not exist pre-fetch" in binary


def test_a_result_that_was_removed_by_hand_is_not_shown_as_there(
    site: Site, d0ctl: Type, home: Home, tmp_path: Path
) -> None:
    (tmp_path / "more.yaml").write_text(JOB)
    (tmp_path / "cal.txt").write_text("1\n")
    (tmp_path / "sum.yaml").write_text(SUM)
    d0ctl("submit", str(tmp_path / "more.yaml"))
    site.finish("more/1/1/1")
    result = home.result("more", "o-1.txt")
    result.parent.mkdir(parents=True, exist_ok=True)
    result.write_text("1\n")
    file = value(site.store, "file", "id", name="o-1.txt")
    change(site.store, "location", {"file_id": file}, cluster_id=1, path=str(result))
    d0ctl("submit", str(tmp_path / "sum.yaml"))
    there = shown(d0ctl, "status", "sum/1/1/1"), shown(d0ctl, "status", "more/1/1/1")
    result.unlink()

    reader, maker = shown(d0ctl, "status", "sum/1/1/1"), shown(d0ctl, "status", "more/1/1/1")

    assert all("o-1.txt ✔" in page for page in there)
    assert "o-1.txt · missing from results/ from more/1/1/1" in reader
    assert "o-1.txt · missing from results/ result" in maker
    assert "control:" in there[1] and "control:" not in maker
