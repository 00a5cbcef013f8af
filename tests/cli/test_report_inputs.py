"""`report failures` by inputs that several jobs read."""

from pathlib import Path

from tests.cli.conftest import Type
from tests.support.building import document
from tests.support.site import Site

HOGS = """
job: hogs
stages:
  - lines:
      - {for: {n: {range: [1, 4]}}, run: "python3 hog.py {n}", inputs: hog.py}
      - {for: {n: {range: [1, 4]}}, run: "sh fine.sh {n}", inputs: fine.sh}
"""


def test_an_input_from_outside_is_one_of_all_jobs_that_read_it(
    d0ctl: Type, site: Site, tmp_path: Path
) -> None:
    (tmp_path / "hog.py").write_text("x = 1\n")
    (tmp_path / "fine.sh").write_text("true\n")
    (file := tmp_path / "hogs.yaml").write_text(HOGS)
    for name in ("first", "second"):
        file.write_text(HOGS.replace("hogs", name))
        assert d0ctl("submit", str(file)).exit_code == 0
    for number in range(1, 5):
        site.fail(f"first/1/{number}/1")
        site.finish(f"first/1/{number + 4}/1")
        site.fail(f"second/1/{number}/1")
        site.finish(f"second/1/{number + 4}/1")

    report = document(d0ctl("report", "failures", "--json").stdout)
    of_one = document(d0ctl("report", "failures", "first", "--json").stdout)

    blamed = {one["input"]: one for one in report["blamed"]}
    hog = blamed[str(tmp_path / "hog.py")]
    assert (hog["failed"], hog["of"], hog["others_failed"], hog["others"]) == (8, 8, 0, 8)
    assert [row["count"] for row in report["by_input"] if row["input"].endswith("hog.py")] == [8]
    assert [one["of"] for one in of_one["blamed"]] == [4]
