"""What monitors read: metrics of Prometheus, and the views by Datasette."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from tests.support.site import Site


@pytest.fixture
def used(site: Site) -> Site:
    """A site where of four packages one has failed, and where a held job waits."""
    site.d0ctl("run", "--as", "mc", "--array", "1-4", "--", "test {n} -ne 3")
    site.ok("submit", "--as", "later", "--hold", "--array", "1-2", "--", "true")
    return site


def samples(text: str) -> dict[str, float]:
    """The values by name and labels, as Prometheus reads them."""
    return {
        " ".join((one.name.removeprefix("d0ctl_"), *one.labels.values())): one.value
        for family in text_string_to_metric_families(text)
        for one in family.samples
    }


def test_prometheus_reads_open_jobs_failures_and_nodes(used: Site) -> None:
    found = samples(used.ok("report", "metrics"))

    assert found["failures_open mc"] == 1
    assert found["packages later unscheduled"] == 2
    assert "packages mc failed" not in found, "a job that has ended needs no series for each status"
    assert found["daemon_running"] == 0
    assert found["node_slots localhost"] > 0
    assert found["node_slots_used localhost"] == 0


def test_acknowledged_failures_are_no_longer_open(used: Site) -> None:
    used.ok("acknowledge", "mc:failed", "--reason", "known")
    found = samples(used.ok("report", "metrics"))

    assert "failures_open mc" not in found
    assert found["status"] == used.d0ctl("status", "--check").code


def test_the_file_of_metrics_is_replaced_as_a_whole(used: Site, tmp_path: Path) -> None:
    target = tmp_path / "d0ctl.prom"
    target.write_text("old")
    used.ok("report", "metrics", "--output", str(target))

    assert samples(target.read_text()) == samples(used.ok("report", "metrics"))
    assert list(tmp_path.glob(".*")) == []

    done = used.d0ctl("report", "metrics", "--output", str(tmp_path / "gone" / "d0ctl.prom"))
    assert (done.code, "can't write" in done.err) == (4, True), done


def test_datasette_describes_the_views_and_hides_the_tables(used: Site, tmp_path: Path) -> None:
    metadata = tmp_path / "views.json"
    metadata.write_text(used.ok("schema", "datasette"))

    def get(path: str) -> str:
        words = [sys.executable, "-m", "datasette", str(used.home.database), "-m", str(metadata)]
        return subprocess.run(
            [*words, "--get", path], check=True, capture_output=True, text=True
        ).stdout

    assert "How many copies d0ctl knows of".lower() in get("/d0ctl/v_file").lower()
    found = json.loads(get("/d0ctl.json"))
    assert [one["name"] for one in found["tables"] if not one["hidden"]] == []
    by_reason = next(one["name"] for one in found["queries"] if "reason and node" in one["title"])
    rows = json.loads(get(f"/d0ctl/{by_reason}.json?job=mc&_shape=array"))
    assert [(row["reason"], row["failures"]) for row in rows] == [("exit-code", 1)]
