"""`why` of a file: there or not, made by whom, in which state, and who waits for it."""

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
from tests.support.building import Site, document, job, line, package, production
from tests.support.rows import change, delete, read


def do(site: Site, verb: str, target: str, **more: Any) -> None:
    """Do something to packages."""
    actions.apply(
        site.store,
        request(verb, parse(target), **more),
        actor="emmy",
        note="bad sample",
        now=time.time(),
    )


def reader(*inputs: InputSpec) -> PackageSpec:
    """A package that makes nothing of these inputs."""
    return PackageSpec("1", (BinarySpec("tool", script="tool", inputs=inputs),))


def test_a_file_that_is_not_there_yet_names_its_maker_its_state_and_who_waits(
    site: Site, d0ctl: Type
) -> None:
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


def test_a_file_whose_maker_failed_says_why_and_what_to_type(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.fail("prod/1/2/1", stderr="no such field\n")

    found = reported(d0ctl, "gen-2")

    assert found["answer"] == (
        "file `gen-2` of job `prod` does not exist yet: its maker `prod/1/2/1` failed: "
        "exit-code: binary 1 (tool) ended with exit code 3"
    )
    assert found["stderr"] == "no such field\n"
    assert "d0ctl kill-line prod/1/2 --drop-outputs" in found["commands"]
    assert "`prod/1/2/2` waits for it and for 1 more file" in found["facts"]


def test_a_file_that_is_there_says_where_and_who_needs_it(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.finish("prod/1/1/1")

    found = reported(d0ctl, "prod:gen-1")

    assert found["answer"] == "file `gen-1` of job `prod` exists: 10 B, made by `prod/1/1/1`"
    assert found["status"] == "present"
    assert found["facts"][0].startswith("a copy is on `localhost`: /tmp/base/cache/")
    assert "`prod/1/1/2` needs it and is ready" in found["facts"]
    assert found["details"]["file"]["copies"][0]["node"] == "localhost"


def test_a_result_says_so_and_that_nobody_reads_it(site: Site, d0ctl: Type) -> None:
    site.submit(job(("a", [line(package("plot.png"))])))
    site.finish("prod/1/1/1")

    facts = reported(d0ctl, "plot.png")["facts"]

    assert "it is a result" in facts
    assert "no other package reads it" in facts


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
    assert "`prod/1/2/2` stays done, but no package reads its outputs" in found["facts"]
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
        "file `gen-1` of job `prod` was made, is lost, and will be made again: "
        "its maker `prod/1/1/1` is ready"
    )
    assert any("an output was lost before its last consumer" in fact for fact in found["facts"])


def test_a_file_that_nobody_needs_any_more_is_gone_and_can_be_made_again(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production(lines=1))
    for path in ("prod/1/1/1", "prod/1/1/2"):
        site.finish(path)
    with site.store.writing():
        delete(site.store, "location")
        change(site.store, "file", {"name": "gen-1"}, present=0)

    found = reported(d0ctl, "prod:gen-1")

    assert found["status"] == "purged"
    assert found["answer"].endswith("it was removed when no package needed it any more")
    assert found["commands"] == ["d0ctl set-status prod/1/1/1 unscheduled"]
    assert "1 package that read it has ended" in found["facts"]


def test_a_file_that_is_there_in_part_says_so(site: Site, d0ctl: Type) -> None:
    site.submit(production(lines=1))
    site.finish("prod/1/1/1")
    with site.store.writing():
        change(site.store, "file", {"name": "gen-1"}, partial=1)

    found = reported(d0ctl, "prod:gen-1")

    assert found["status"] == "partial"
    assert "is partial: 10 B, as far as `prod/1/1/1` had written it" in found["answer"]


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
    ("acquire", "locator", "words"),
    [("none", None, "it is already on the nodes"), ("self", None, "fetched by the binaries"),
     ("pre-fetch", "root://se//raw/a.raw", "it is `root://se//raw/a.raw`"),
     ("pre-fetch", None, "raw/a.raw` on this machine")],
)  # fmt: skip
def test_a_file_from_outside_says_where_it_comes_from(
    site: Site, d0ctl: Type, tmp_path: Path, acquire: Any, locator: str | None, words: str
) -> None:
    raw = InputSpec("raw/a.raw", made=False, acquire=acquire, locator=locator)
    site.submit(job(("a", [line(reader(raw))]), directory=str(tmp_path)))

    found = reported(d0ctl, "prod:raw/a.raw")

    assert found["status"] == "outside"
    assert words in found["answer"]
    assert "`prod/1/1/1` needs it and is ready" in found["facts"]


def test_a_file_from_outside_is_found_by_its_path_and_missed_where_it_is_gone(
    site: Site, d0ctl: Type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "a.raw").touch()
    site.submit(job(("a", [line(reader(InputSpec("raw/a.raw", made=False)))]),
                    directory=str(tmp_path)))  # fmt: skip
    monkeypatch.chdir(tmp_path / "raw")

    assert reported(d0ctl, "a.raw")["path"] == "prod:raw/a.raw"
    site.submit(job(("a", [line(reader(InputSpec(str(tmp_path / "x/b.raw"), made=False)))]),
                    name="next", directory=str(tmp_path)))  # fmt: skip
    for name in ("next:x/b.raw", str(tmp_path / "x/b.raw")):
        assert reported(d0ctl, name)["details"]["file"]["file"] == str(tmp_path / "x/b.raw")
    assert (
        "it does not exist now, so whoever reads it can't have it"
        not in (reported(d0ctl, str(tmp_path / "raw" / "a.raw"))["facts"])
    )
    (tmp_path / "raw" / "a.raw").unlink()
    assert reported(d0ctl, "raw/a.raw")["facts"][0].startswith("it does not exist now")


def test_a_file_of_several_jobs_has_to_be_named_with_its_job(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.submit(production("next"))

    result = d0ctl("why", "gen-1")

    assert result.exit_code == 2
    assert "`gen-1` is a file of 2 jobs: say of which" in result.stderr
    assert "d0ctl why next:gen-1" in result.stderr


def test_a_file_that_is_not_there_is_told_with_the_nearest(site: Site, d0ctl: Type) -> None:
    site.submit(production())

    for words, hint in [(("prod:gen-11",), "did you mean `gen-1`?"),
                        (("prod:faild",), "did you mean `failed`?"),
                        (("nothing.root",), "d0ctl why JOB:NAME"),
                        (("--file", "prod:failed"), "d0ctl file list prod")]:  # fmt: skip
        result = d0ctl("why", *words)
        assert result.exit_code == 3
        assert hint in result.stderr


def test_a_file_like_no_other_of_the_job_is_answered_with_the_list_of_its_files(
    site: Site, d0ctl: Type
) -> None:
    site.submit(production())

    missed = d0ctl("why", "prod:zzzzz")
    unknown = d0ctl("why", "elsewhere")

    assert missed.stderr == "d0ctl: job `prod` has no file `zzzzz`\nd0ctl file list prod\n"
    assert unknown.stderr.startswith("d0ctl: there is no job `elsewhere`, nor a node or file of")


def test_states_of_a_job_and_jobs_come_before_files_of_their_name(site: Site, d0ctl: Type) -> None:
    site.submit(job(("a", [line(package("failed", "prod"))])))

    assert reported(d0ctl, "prod")["path"] == "prod"
    assert reported(d0ctl, "prod:ready")["path"] == "prod/1/1/1"
    assert reported(d0ctl, "--file", "prod:failed")["path"] == "prod:failed"
    assert reported(d0ctl, "--file", "prod")["path"] == "prod:prod"


def test_a_file_of_very_many_readers_names_a_few_and_counts_the_rest(
    site: Site, d0ctl: Type
) -> None:
    lines = [line(package(f"o{n}", needs=["all"])) for n in range(9)]
    site.submit(job(("a", [line(package("all"))]), ("b", lines)))

    facts = reported(d0ctl, "prod:all")["facts"]

    assert "and it is read by 4 more packages: 4 waiting" in facts


def test_the_sentences_are_what_is_printed(site: Site, d0ctl: Type) -> None:
    site.submit(production())
    site.finish("prod/1/1/1")

    lines = d0ctl("why", "prod:gen-1").stdout.splitlines()

    assert lines[0] == d0ctl("file", "list", "prod:gen-1").stdout.splitlines()[0].strip()
    assert lines[1] == "file `gen-1` of job `prod` exists: 10 B, made by `prod/1/1/1`"
    assert lines[-1] == "  $ d0ctl status prod/1/1/1"


def test_an_input_is_found_by_its_name_without_the_folder(site: Site, d0ctl: Type) -> None:
    site.submit(job(("one", [line(reader(InputSpec("/data/raw/r1.raw", made=False)))])))

    assert "file `/data/raw/r1.raw` of job `prod`" in d0ctl("why", "prod:r1.raw").stdout
    assert d0ctl("why", "prod:1.raw").exit_code == 3


def reported(d0ctl: Type, *words: str) -> dict[str, Any]:
    """What `why` says, as a document."""
    result = d0ctl("why", *words, "--json")
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = document(result.stdout)
    return found
