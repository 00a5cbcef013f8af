"""Failures in figures: by reason, node, software and input."""

import time

import pytest
from msgspec.structs import replace

from d0ctl.config import Home
from d0ctl.policy.blame import Share, blame
from d0ctl.store import Store
from d0ctl.store.views import activity
from tests.cli.conftest import Type
from tests.support.building import document, job, line, package, production
from tests.support.printed import check
from tests.support.rows import change
from tests.support.site import Site


def several(site: Site) -> None:
    """Two packages that failed alike, one that failed otherwise, one lost."""
    site.submit(production())
    for number in (1, 2):
        site.fail(f"prod/1/{number}/1", cpu=1800.0)
    site.finish("prod/1/3/1")
    site.fail("prod/1/3/2", reason="seg-fault", detail="ended by SIGSEGV", cpu=3600.0)


def test_failures_are_grouped_with_counts_a_sample_and_what_they_cost(
    d0ctl: Type, site: Site
) -> None:
    several(site)

    answer = document(d0ctl("report", "failures", "prod", "--json").stdout)

    assert (answer["failures"], answer["packages"], answer["failed"]) == (3, 3, 3)
    assert answer["cpu_hours"] == 2.0
    first, second = answer["by_reason"]
    assert (first["reason"], first["count"], first["cpu_hours"]) == ("exit-code", 2, 1.0)
    assert first["sample"]["message"] == "binary 1 (tool) ended with exit code 3"
    assert second["sample"]["path"] == "prod/1/3/2"
    assert [(row["node"], row["count"]) for row in answer["by_node"]] == [("localhost", 3)]
    assert [(row["software"], row["count"]) for row in answer["by_software"]] == [
        ("(no software)", 3)
    ]
    assert [(row["input"], row["count"]) for row in answer["by_input"]] == [("gen-3", 1)]


@pytest.mark.parametrize(
    ("words", "count"),
    [((), 3), (("prod/1/1",), 1), (("prod/1/1-2/1",), 2), (("--reason", "seg-fault"), 1)],
)
def test_any_selector_narrows_it(
    d0ctl: Type, site: Site, words: tuple[str, ...], count: int
) -> None:
    several(site)

    assert document(d0ctl("report", "failures", *words, "--json").stdout)["failures"] == count


def test_only_failures_since_a_time_are_counted(d0ctl: Type, site: Site) -> None:
    several(site)
    change(site.store, "attempt", ended=time.time() - 7200)
    change(site.store, "attempt", {"id": 1}, ended=time.time())

    assert document(d0ctl("report", "failures", "--since", "1h", "--json").stdout)["failures"] == 1
    assert document(d0ctl("report", "failures", "--since", "3h", "--json").stdout)["failures"] == 3


def test_people_read_a_table(d0ctl: Type, site: Site) -> None:
    several(site)

    answer = d0ctl("report", "failures").stdout

    assert answer.startswith(
        "3 failures of 3 packages, 3 failed now, 0 tried again by d0ctl, 2.00 CPU hours"
    )
    assert "by reason" in answer
    assert "exit-code" in answer
    assert "on a page with plots: d0ctl report usage --html report.html\n" in answer
    assert "report usage 'prod/1/*' --html" in d0ctl("report", "failures", "prod/1/*").stdout


def test_a_report_without_failures_is_empty_and_an_unknown_selector_an_error(
    d0ctl: Type, site: Site, home: Home
) -> None:
    site.submit(production())

    assert d0ctl("report", "failures").stdout == "nothing has failed\n"
    filtered = d0ctl("report", "failures", "--since", "2h").stdout
    assert filtered == "no failure matches these options\n"
    assert d0ctl("report", "failures", "pord").exit_code == 3


def test_the_input_that_stands_out_is_blamed(d0ctl: Type, site: Site) -> None:
    readers = [line(package(f"bad-{n}", needs=["bad"])) for n in range(3)]
    readers += [line(package(f"good-{n}", needs=["good"])) for n in range(3)]
    site.submit(job(("a", [line(package("bad")), line(package("good"))]), ("b", readers)))
    site.finish("prod/1/1/1")
    site.finish("prod/1/2/1")
    for number in range(1, 7):
        if number < 4:
            site.fail(f"prod/2/{number}/1")
        else:
            site.finish(f"prod/2/{number}/1")

    (one,) = document(d0ctl("report", "failures", "--json").stdout)["blamed"]

    assert one["sentence"] == (
        "input `bad` stands out: all 3 attempts of packages that read it failed, 0 of 5 of others"
    )


def test_a_sample_is_printed_once_and_inputs_only_if_they_set_failures_apart(
    d0ctl: Type, site: Site
) -> None:
    bad = [line(package(f"bad-{n}", needs=["bad", "common"])) for n in range(3)]
    good = [line(package(f"good-{n}", needs=["good", "common"])) for n in range(3)]
    makers = [line(package(name)) for name in ("bad", "good", "common")]
    site.submit(job(("a", makers), ("b", bad + good)))
    for number in (1, 2, 3):
        site.finish(f"prod/1/{number}/1")
    for number in (1, 2, 3, 4):
        site.fail(f"prod/2/{number}/1")
    for number in (5, 6):
        site.finish(f"prod/2/{number}/1")

    answer = d0ctl("report", "failures", "prod").stdout

    assert "input `bad` stands out" in answer and "d0ctl why prod:bad\n" in answer
    assert answer.count("prod/2/4/1") == 1
    tables = answer.partition("by reason\n")[2]
    assert "localhost  4 failures" in tables
    assert tables.partition("by input\n")[2].split()[:3] == ["bad", "3", "failures"]
    assert "common" not in tables and "good" not in tables


def read_by_all(site: Site) -> None:
    """A hundred packages that read a common script, and of each ten one the input that is bad."""
    makers = [line(package(name)) for name in ("script", "bad", "good")]
    readers = [line(package(f"out-{n}", needs=["script", "good" if n % 10 else "bad"]))
               for n in range(100)]  # fmt: skip
    site.submit(job(("a", makers), ("b", readers)))
    for number in (1, 2, 3):
        site.finish(f"prod/1/{number}/1")
    for number in range(100):
        end = site.finish if number % 10 else site.fail
        end(f"prod/2/{number + 1}/1")


def test_a_script_that_all_packages_read_explains_no_failures(d0ctl: Type, site: Site) -> None:
    read_by_all(site)

    answer = d0ctl("report", "failures", "prod").stdout
    rows = document(d0ctl("report", "failures", "prod", "--json").stdout)["by_input"]

    assert "input `bad` stands out: all 10 attempts" in answer and "`script`" not in answer
    assert [row["input"] for row in rows] == ["bad", "script"]
    assert {failed.input for failed in activity.failed(site.store, [1], 99)} == {"bad"}


@pytest.mark.parametrize("most", [9, 500])
def test_readers_of_an_input_are_counted_or_estimated(
    d0ctl: Type, site: Site, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr("d0ctl.store.files.suspects.MOST_READERS", most)
    read_by_all(site)

    rows = d0ctl("report", "failures", "prod").stdout.partition("by input\n")[2].split("\n\n")[0]

    assert [row.split()[0] for row in rows.splitlines()] == ["bad"]


def test_if_no_package_of_a_stage_succeeded_no_input_explains_its_failures(
    d0ctl: Type, site: Site
) -> None:
    readers = [line(package(f"out-{n}", needs=["bad" if n % 2 else "worse"])) for n in range(8)]
    site.submit(job(("a", [line(package("bad")), line(package("worse"))]), ("b", readers)))
    site.finish("prod/1/1/1")
    site.finish("prod/1/2/1")
    for number in range(1, 9):
        site.fail(f"prod/2/{number}/1")

    answer = d0ctl("report", "failures", "prod").stdout

    assert "by input" not in answer and "stands out" not in answer


def test_an_input_that_also_finished_packages_read_comes_after_one_that_only_failed_ones_read(
    d0ctl: Type, site: Site
) -> None:
    makers = [line(package(name)) for name in ("script", "half", "bad")]
    needs = [["script"], ["script", "half"], ["script", "half", "bad"], ["script", "bad"]]
    readers = [line(package(f"out-{n}", needs=needs[n % 4])) for n in range(40)]
    readers += [line(package(f"other-{n}", needs=["script", "half"])) for n in range(30)]
    site.submit(job(("a", makers), ("b", readers)))
    for number in (1, 2, 3):
        site.finish(f"prod/1/{number}/1")
    for number in range(70):
        end = site.fail if "bad" in needs[number % 4] or number >= 40 else site.finish
        end(f"prod/2/{number + 1}/1")

    tables = d0ctl("report", "failures", "prod").stdout.partition("by input\n")[2]

    rows = tables.partition("\n\n")[0].splitlines()
    assert [row.split()[0] for row in rows] == ["bad", "half"]


def test_the_inputs_in_the_document_are_those_of_all_failures(d0ctl: Type, site: Site) -> None:
    site.submit(job(("a", [line(package("x"))]), ("b", [line(package("y", needs=["x"]))])))
    site.finish("prod/1/1/1")
    site.fail("prod/2/1/1")

    report = document(d0ctl("report", "failures", "--json").stdout)

    assert [(row["input"], row["count"]) for row in report["by_input"]] == [("x", 1)]
    assert "by input" not in d0ctl("report", "failures").stdout


def test_runs_without_software_are_not_blamed_as_software(site: Site, d0ctl: Type) -> None:
    site.submit(job(("a", [line(package(f"x-{n}")) for n in range(4)])))
    others = [package(f"y-{n}") for n in range(4)]
    others = [
        replace(one, binaries=tuple(replace(binary, name="other") for binary in one.binaries))
        for one in others
    ]
    site.submit(job(("b", [line(one) for one in others]), name="two"))
    for number in range(1, 5):
        site.fail(f"prod/1/{number}/1")
        site.finish(f"two/1/{number}/1")

    answer = d0ctl("report", "failures").stdout

    assert "stands out" not in answer
    assert "(no software)  4 failures" in answer


@pytest.mark.parametrize(
    ("failed", "number", "all_failed", "all_number", "is_blamed"),
    [(4, 4, 4, 8, True), (4, 4, 4, 7, True), (4, 4, 4, 6, False),
     (2, 2, 2, 20, False), (4, 10, 5, 100, False), (6, 10, 10, 20, False), (9, 10, 11, 100, True)],
    ids=["all of it", "three others", "two others", "too few", "mostly well",
         "as bad elsewhere", "nine of ten"],
)  # fmt: skip
def test_only_values_that_differ_from_other_attempts_are_blamed(
    failed: int, number: int, all_failed: int, all_number: int, is_blamed: bool
) -> None:
    found = blame("node", [Share("a", failed, number)], all_failed, all_number)

    assert (found is not None) == is_blamed


def test_the_disk_report_foresees_each_cache_and_one_by_the_hour(d0ctl: Type, store: Store) -> None:
    Site.of(store).up(disk_total=1000, disk_free=900)

    row = "control (this machine)  100 B of 1.0 kB  does not grow"
    assert row in d0ctl("report", "disk").stdout
    assert "10%" in d0ctl("report", "disk", "control").stdout
    text = d0ctl("report", "disk", "--json").stdout
    check(["report", "disk", "--json"], text)
    (cache,) = document(text)["caches"]
    assert (cache["space"], cache["used"], cache["peak"], cache["full_at"]) == (
        1000, 100, 100, None
    )  # fmt: skip
    wrong = d0ctl("report", "disk", "nowhere")
    assert wrong.exit_code == 3 and "there is no node `nowhere`, nor a cluster" in wrong.stderr
    assert "  control (this machine)  100 B" in d0ctl("report", "disk", "localhost").stdout
