"""`why` of a file: there or not, made by whom, in which state, and who waits for it."""

import re
import time
from pathlib import Path
from typing import Any

import pytest

from d0ctl import actions
from d0ctl.actions import request
from d0ctl.jobfile.spec import BinarySpec, InputSpec, OutputSpec, PackageSpec
from d0ctl.select import parse
from d0ctl.store.files import copies
from tests.cli.conftest import Type
from tests.cli.file_answers import reader, reported
from tests.support.building import job, line, package, production
from tests.support.rows import change, read
from tests.support.site import Site


def do(site: Site, verb: str, target: str, **more: Any) -> None:
    """Do something to packages."""
    actions.apply(
        site.store,
        request(verb, parse(target), **more),
        actor="emmy",
        note="bad sample",
        now=time.time(),
    )


def test_why_of_a_file_not_yet_made_names_maker_and_readers(site: Site, d0ctl: Type) -> None:
    site.up()
    site.submit(production())

    found = reported(d0ctl, "prod:sim-1")

    assert found["answer"] == (
        "file `sim-1` of job `prod` does not exist yet: its maker `prod/1/1/2` waits for package "
        "`prod/1/1/1` before it in its line, which is ready"
    )
    assert (found["path"], found["status"], found["phase"]) == ("prod:sim-1", "missing", "waiting")
    assert "`prod/2/1/1` waits for it and for 2 more files" in found["facts"]
    assert found["commands"] == ["d0ctl why prod/1/1/1"]
    assert found["details"]["file"]["maker"] == "prod/1/1/2"
    assert found["details"]["file"]["readers"] == [
        {"path": "prod/2/1/1", "phase": "waiting", "missing": 3, "dropped": False}
    ]


def test_why_of_a_file_with_a_failed_maker_gives_the_reason_and_a_command(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production())
    site.fail("prod/1/2/1", stderr="no such field\n")

    found = reported(d0ctl, "gen-2")

    assert found["answer"] == (
        "file `gen-2` of job `prod` does not exist yet: its maker `prod/1/2/1` failed: "
        "exit-code: binary 1 (tool) ended with exit code 3"
    )
    assert found["stderr"] == "no such field\n"
    assert "d0ctl kill-line prod/1/2 --drop-outputs" in found["commands"]
    assert "`prod/1/2/2` is blocked: it waits for it" in found["facts"]


def test_readers_of_a_file_that_is_never_made_are_called_blocked(site: Site, d0ctl: Type) -> None:
    readers = [line(package(f"plot-{number}", needs=["gen"])) for number in range(7)]
    site.submit(job(("gen", [line(package("gen"))]), ("plot", readers)))
    site.fail("prod/1/1/1")

    facts = reported(d0ctl, "prod:gen")["facts"]
    last = d0ctl("status", "prod/2/*").stdout.splitlines()[-1]

    assert "`prod/2/1/1` is blocked: it waits for it" in facts
    assert "and it is read by 2 more packages: 2 blocked" in facts
    assert "blocked" in last


def test_why_of_an_existing_file_lists_its_copies_and_readers(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.finish("prod/1/1/1")

    found = reported(d0ctl, "prod:gen-1")

    assert found["answer"] == "file `gen-1` of job `prod` exists: 10 B, made by `prod/1/1/1`"
    assert found["status"] == "present"
    assert found["facts"][0].startswith("a copy is on `localhost`: /tmp/base/cache/")
    assert "`prod/1/1/2` needs it and is ready" in found["facts"]
    assert found["details"]["file"]["copies"][0]["node"] == "localhost"


def test_why_of_a_result_without_readers_mentions_both(site: Site, d0ctl: Type) -> None:
    site.submit(job(("a", [line(package("plot.png"))])))
    site.finish("prod/1/1/1")

    facts = reported(d0ctl, "plot.png")["facts"]

    assert "it is a result" in facts
    assert "no package reads it" in facts


def test_a_dropped_file_says_by_whom_and_how_it_comes_back(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    do(site, "kill-line", "prod/1/2", drop_outputs=True)

    found = reported(d0ctl, "prod:sim-2")

    assert found["answer"].startswith(
        "file `sim-2` of job `prod` is dropped: package `prod/1/2/2` was dropped by emmy, "
    )
    assert found["answer"].endswith(": bad sample")
    assert found["status"] == "dropped"
    assert found["commands"][0] == "d0ctl restore-line prod/1/2"
    assert "`prod/2/1/1`, which is waiting, runs without it" in found["facts"]


def test_a_file_of_a_dropped_line_that_had_been_made_stays_out_of_all_lists(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production(lines=2))
    site.finish("prod/1/2/1")
    site.finish("prod/1/2/2")
    do(site, "kill-line", "prod/1/2", drop_outputs=True)

    found = reported(d0ctl, "prod:sim-2")

    assert "is dropped: line `prod/1/2` that made it was dropped" in found["answer"]
    assert "`prod/1/2/2` stays successful, but no package reads its outputs" in found["facts"]
    assert found["commands"] == ["d0ctl restore-line prod/1/2"]


def test_a_file_that_was_lost_is_made_again(site: Site, d0ctl: Type) -> None:
    site.up()
    site.submit(production(lines=1))
    site.finish("prod/1/1/1")
    ((file, cluster),) = read(site.store, "location", "file_id", "cluster_id", by="file_id")
    with site.store.writing():
        copies.lose(site.store, [(file, cluster)], now=time.time())

    found = reported(d0ctl, "prod:gen-1")

    assert found["status"] == "lost"
    assert found["answer"].startswith(
        "file `gen-1` of job `prod` was made before, and will be made again: "
        "its maker `prod/1/1/1` is ready"
    )
    assert any(
        "an output is needed again, but was removed or lost" in fact for fact in found["facts"]
    )


def test_why_of_a_partial_file_mentions_it(site: Site, d0ctl: Type) -> None:
    site.submit(production(lines=1))
    site.finish("prod/1/1/1")
    with site.store.writing():
        change(site.store, "file", {"name": "gen-1"}, partial=1)

    found = reported(d0ctl, "prod:gen-1")

    assert found["status"] == "partial"
    assert "is partial: 10 B, written by `prod/1/1/1`" in found["answer"]
    assert "10 B, partial" in d0ctl("file", "list", "prod:gen-1").stdout


def test_a_late_output_says_how_many_files_it_stands_for(site: Site, d0ctl: Type) -> None:
    many = BinarySpec("tool", script="tool", outputs=(OutputSpec("hit-*.root", late=True),))
    site.submit(job(("a", [line(PackageSpec("1", (many,)))]),
                    ("b", [line(package("all", needs=["hit-*.root"]))])))  # fmt: skip
    assert "does not exist yet" in reported(d0ctl, "prod:hit-*.root")["answer"]
    files_made = [{"name": f"hit-{n}.root", "path": f"/n/hit-{n}.root", "size": 7,
                   "checksum": "sha256:7", "late": "hit-*.root"} for n in (1, 2)]  # fmt: skip
    site.launch("prod/1/1/1")
    site.end("prod/1/1/1", outputs=files_made)

    assert reported(d0ctl, "prod:hit-*.root")["answer"] == (
        "`hit-*.root` of job `prod` stands for 2 files that `prod/1/1/1` has made"
    )
    assert "`prod/2/1/1` needs it and is ready" in reported(d0ctl, "hit-2.root")["facts"]


@pytest.mark.parametrize(
    ("acquire", "locator", "words", "location"),
    [("none", None, "it is expected on the nodes", "on the nodes, not checked"),
     ("self", None, "fetched by the binaries", "fetched by its readers"),
     ("pre-fetch", "root://se//a.raw", "it is `root://se//a.raw`", "at root://se//a.raw"),
     ("pre-fetch", None, "raw/a.raw` on this machine", "on this machine")],
)  # fmt: skip
def test_a_file_from_outside_says_where_it_comes_from(
    site: Site, d0ctl: Type, tmp_path: Path, acquire: Any, locator: str | None, words: str,
    location: str,
) -> None:  # fmt: skip
    raw = InputSpec("raw/a.raw", made=False, acquire=acquire, locator=locator)
    site.submit(job(("a", [line(reader(raw))]), directory=str(tmp_path)))
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "a.raw").touch()

    found = reported(d0ctl, "prod:raw/a.raw")

    assert found["status"] == "outside"
    assert words in found["answer"]
    assert "`prod/1/1/1` needs it and is ready" in found["facts"]
    files = d0ctl("file", "list", "prod")
    assert files.stdout.rstrip().endswith(f"  {location}")
    assert files.stderr.startswith("1 file; 0 present, 1 from outside, ")
    listed = re.search(r"a\.raw +\S +(.+?)  ", d0ctl("status", "prod/1/1/1").stdout)
    assert listed
    assert (listed[1] == "not checked") == (acquire in ("none", "self") or locator is not None)


def test_a_file_of_very_many_readers_names_a_few_and_counts_the_rest(
    site: Site, d0ctl: Type
) -> None:
    lines = [line(package(f"o{n}", needs=["all"])) for n in range(9)]
    site.submit(job(("a", [line(package("all"))]), ("b", lines)))

    facts = reported(d0ctl, "prod:all")["facts"]

    assert "and it is read by 4 more packages: 4 waiting" in facts


def test_packages_that_ended_without_a_file_are_not_said_to_have_read_it(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production(lines=2))
    site.finish("prod/1/1/1")
    site.finish("prod/1/1/2")
    d0ctl("kill-line", "prod/1/2", "--drop-outputs", "--yes")
    site.finish("prod/2/1/1")

    without = "1 package that would have read it has ended"
    for name, fact in (
        ("gen-1", "1 package that read it has ended"),  # by `prod/1/1/2`
        ("gen-2", without),  # by `prod/1/2/2`, which is dropped
        ("sim-2", without),  # by `prod/2/1/1`, which has succeeded
    ):
        said = [each for each in reported(d0ctl, f"prod:{name}")["facts"] if "ended" in each]
        assert said == [fact]


def test_the_explanations_of_a_file_are_printed_unchanged(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.finish("prod/1/1/1")

    lines = d0ctl("why", "prod:gen-1").stdout.splitlines()

    assert lines[0] == "file `gen-1` of job `prod` exists: 10 B, made by `prod/1/1/1`"
    assert lines[-1] == "  $ d0ctl status prod/1/1/1"


def test_a_pattern_that_no_file_matched_is_not_gone(real_site: Site) -> None:
    output = "{file: 'x*', late: yes, min-count: 0}"
    stages = f"[{{lines: [{{run: 'true', outputs: {output}}}]}}]"

    said = real_site.d0ctl("run", real_site.write(f"job: one\nstages: {stages}\n"))

    assert (said.code, "warning" in said.err) == (0, False)
    answer = real_site.ok("why", "one:x*")
    assert answer.startswith("`x*` of job `one` stands for 0 files that `one/1/1/1` has made\n")


def test_a_delivered_result_names_its_path_beside_the_copy_on_its_node(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production(lines=1))
    for package_path in ("1/1/1", "1/1/2", "2/1/1", "3/1/1"):
        site.finish(f"prod/{package_path}")
    path = site.home.result("prod", "plot.png")
    assert "it is a result" in reported(d0ctl, "prod:plot.png")["facts"]
    path.parent.mkdir(parents=True)
    path.touch()

    assert f"it is a result: {path}" in reported(d0ctl, "prod:plot.png")["facts"]
