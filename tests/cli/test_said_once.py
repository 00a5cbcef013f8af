"""`status` says each thing once, and only what is true."""

import json
import shlex
import time
from pathlib import Path

import pytest

from d0ctl.model import Address
from d0ctl.show.card_contents import about
from d0ctl.show.cards import jobs
from d0ctl.show.cards import package as package_card
from d0ctl.show.drawing.sheet import Sheet
from d0ctl.show.drawing.spans import text
from d0ctl.show.why.production import Obstacle
from d0ctl.store.nodes import placement, registry
from tests.cli.conftest import Type
from tests.cli.test_standing import down, drive
from tests.support.building import job, line, package, production
from tests.support.site import Site


def test_a_card_lists_running_packages_once_and_why_names_them(site: Site, d0ctl: Type) -> None:
    drive(site)
    site.submit(production())
    site.launch("prod/1/1/1")
    site.launch("prod/1/2/1")

    card, answer = d0ctl("status", "prod").stdout, d0ctl("why", "prod").stdout

    assert (card.count("prod/1/1/1"), card.count("prod/1/2/1")) == (1, 1)
    assert "`prod/1/1/1` has been running on `localhost` for" in answer


def test_what_stops_all_jobs_is_said_once_above_the_card(site: Site, d0ctl: Type) -> None:
    drive(site)
    site.submit(production())
    site.launch("prod/1/1/1")
    d0ctl("node", "drain", "localhost", "--reason", "new disk")

    card, jobs = d0ctl("status", "prod").stdout, d0ctl("status").stdout

    stop = "✘ 0 of 1 node takes packages: `localhost` drained (new disk): d0ctl node resume"
    assert card.startswith(stop)
    assert jobs.startswith(stop)
    assert (card.count("takes packages"), card.count("d0ctl node resume")) == (1, 1)


def test_nodes_that_a_person_drained_for_a_reason_are_resumed_on_lines_of_their_own(
    site: Site, d0ctl: Type
) -> None:
    drive(site)
    registry.add(site.store, Address("far", "ssh", "far"), cpus=2)
    site.up("far")
    site.submit(production())
    d0ctl("node", "drain", "localhost", "far", "--reason", "new disk")

    jobs = d0ctl("status").stdout

    unless = "   # once its reason no longer holds\n"
    assert f"  $ d0ctl node resume localhost{unless}  $ d0ctl node resume far{unless}" in jobs


def test_a_nearly_full_disk_is_said_first_once_and_in_the_document(site: Site, d0ctl: Type) -> None:
    text = "its disk is nearly full: 500 MB of 63 GB free"
    drive(site)
    site.submit(production())
    site.up(disk_free=500_000_000, disk_total=63_000_000_000)

    screen, document = d0ctl("status").stdout, json.loads(d0ctl("status", "--json").stdout)

    (obstacle,) = document["obstacles"]
    assert obstacle == {"text": f"`localhost`: {text}", "commands": ["d0ctl node check localhost"]}
    assert unwrapped(screen).startswith(f"✘ `localhost`: {text}")
    assert unwrapped(d0ctl("status", "prod").stdout).count(text) == 1
    assert f"`localhost`: {text}" in unwrapped(d0ctl("why", "prod").stdout)
    assert "stands still" not in screen


def test_production_stands_still_while_no_node_has_its_reserve_of_disk(
    site: Site, d0ctl: Type
) -> None:
    drive(site)
    site.submit(production())
    site.up(disk_free=1_400_000, disk_total=63_000_000)
    text = "1.4 MB of 63 MB free on its disk, less than its reserve of 3.1 MB"

    check = d0ctl("status", "--check")

    assert check.exit_code == 5
    assert check.stdout.startswith("stands still: 0 of 1 node takes packages: `localhost` full; ")
    assert unwrapped(d0ctl("status").stdout).count(text) == 1
    assert unwrapped(d0ctl("why", "prod").stdout).count(text) == 1

    registry.add(site.store, Address("far", "ssh", "far"), cpus=2)
    site.up("far")

    assert d0ctl("status", "--check").exit_code == 0


def test_the_check_names_nodes_that_are_down_while_others_work(site: Site, d0ctl: Type) -> None:
    drive(site)
    site.submit(production())
    registry.add(site.store, Address("far", "ssh", "far"), cpus=2)
    site.up("far")
    down(site, "localhost")

    check = d0ctl("status", "--check")

    assert check.exit_code == 0
    assert check.stdout.startswith("moving: 1 job; `localhost` down since ")


def test_a_disk_with_space_is_not_said(site: Site, d0ctl: Type) -> None:
    drive(site)
    site.submit(production())
    site.up(disk_free=30_000_000_000, disk_total=63_000_000_000)

    assert json.loads(d0ctl("status", "--json").stdout)["obstacles"] == []
    assert "disk" not in d0ctl("status").stdout


def test_a_full_disk_is_not_given_as_the_reason_why_a_job_stands_still(
    site: Site, d0ctl: Type
) -> None:
    drive(site)
    site.submit(job(("a", [line(package("big", cpus=64))])))
    site.up(disk_free=500_000_000, disk_total=63_000_000_000)

    answer = unwrapped(d0ctl("why", "prod").stdout)

    assert "`prod` stands still: no node can take 1 package" in answer
    assert "its disk" not in answer
    assert "its disk is nearly full" in unwrapped(d0ctl("status").stdout)


def test_what_stops_a_job_alone_is_in_its_documents(site: Site, d0ctl: Type) -> None:
    drive(site)
    site.submit(job(("a", [line(package("big", cpus=64))])))
    site.submit(job(("b", [line(package("small"))]), name="fine"))
    site.up()

    by_name = {row["job"]: row for row in json.loads(d0ctl("status", "--json").stdout)["jobs"]}
    card = json.loads(d0ctl("status", "prod", "--json").stdout)

    assert by_name["prod"]["obstacle"] == card["obstacle"]
    assert card["obstacle"]["text"].startswith("`prod`: no node can take 1 package")
    assert card["obstacle"]["commands"] == ["d0ctl why prod"]
    assert by_name["fine"]["obstacle"] is None


def unwrapped(text: str) -> str:
    """The words of a page, as if its lines had not been broken."""
    return " ".join(text.split())


def test_what_stops_all_jobs_is_whole_on_a_narrow_terminal() -> None:
    sheet = Sheet(40)
    jobs.stop(
        sheet, [Obstacle("0 of 1 node takes packages: `a` drained", ("d0ctl node resume a",))]
    )

    assert [text(shown) for shown in sheet.lines] == [
        "✘ 0 of 1 node takes packages: `a`", "drained", "  $ d0ctl node resume a", "",
    ]  # fmt: skip


def test_a_drained_node_that_is_up_counts_as_up(site: Site, d0ctl: Type) -> None:
    drive(site)
    site.submit(production())
    site.submit(production(name="other"))
    site.up()
    d0ctl("node", "drain", "localhost")

    assert "1 of 1 node up, 1 drained   2 active jobs" in d0ctl("status").stdout


def test_a_job_that_stands_still_has_no_estimated_end(site: Site, d0ctl: Type) -> None:
    drive(site)
    site.submit(job(("a", [line(package(f"x{n}")) for n in range(1, 6)])))
    for number in (1, 2, 3):
        site.finish(f"prod/1/{number}/1")
    moving = d0ctl("status").stdout + d0ctl("status", "prod").stdout
    down(site, "localhost")

    still = d0ctl("status").stdout + d0ctl("status", "prod").stdout

    assert moving.count(" ends ") > 1
    assert still.count("stands still") >= 2
    assert " ends " not in still


def test_the_card_of_a_failed_package_quotes_its_errors_once(site: Site) -> None:
    site.submit(production())
    site.fail("prod/1/1/1", stderr="Fatal: corrupt block\n")
    now = time.time()
    card = about(site.store, "prod/1/1/1", now)
    assert isinstance(card, package_card.Package)

    quoted = []
    for log in ("event 1\nFatal: corrupt block\n", "event 1\n", None):
        sheet = Sheet()
        package_card.draw(sheet, card, now, log=log)
        quoted.append("\n".join(map(text, sheet.lines)).count("│ Fatal: corrupt block"))

    assert quoted == [1, 1, 1]


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("priority 70 prod", "priority prod 70"),
        ("priority 70 prod/1 prod/2", "priority prod/1 prod/2 70"),
        ("set-status successful prod/1/1/1", "set-status prod/1/1/1 successful"),
        ("file set-disposition deletable 'prod:f*'", "file set-disposition 'prod:f*' deletable"),
        ("node free 2GB localhost", "node free localhost 2GB"),
    ],
)
def test_arguments_the_wrong_way_round_are_answered_with_the_right_one(
    site: Site, d0ctl: Type, typed: str, meant: str
) -> None:
    site.submit(production())

    refused = d0ctl(*shlex.split(typed))

    assert refused.exit_code == 2
    assert refused.stderr.endswith(f"\nd0ctl {meant}\n"), refused.stderr
    assert "can't be a job's name" in d0ctl("priority", "70", "80").stderr


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        ("status prod make", "unexpected argument `make`|d0ctl status prod/make"),
        ("logs prod 2", "unexpected argument `2`|d0ctl logs prod/2"),
        ("why prod plot", "unexpected argument `plot`|d0ctl why prod/plot"),
        ("results prod nothing", "unexpected argument `nothing`|d0ctl results --help"),
        ("results prod plot.png", "unexpected argument `plot.png`|d0ctl results prod:plot.png"),
        ("results prod/2", "`prod/2` does not name a file|JOB:NAME, as in 'prod:*'"),
        ("file list plot.png", "`plot.png` does not name a file|JOB:NAME, as in reco001:plot.png"),
        ("completion install bash", "unexpected argument `bash`|"
                                    "d0ctl completion install --shell bash"),
        ("logs prod --tail 5", "no such option `--tail`|did you mean `--lines`?"),
        ("kill prod --nodes x", "no such option `--nodes`: did you mean `--node`?|"
                                "d0ctl kill --help"),
        ("edit prod --nodes x", "no such option `--nodes`|`--on NODE` says where to run, "
                                "`--node NODE` chooses packages that are there"),
        ("submit not.yaml there.yaml", "one job file at a time|"
                                       "d0ctl submit not.yaml && d0ctl submit there.yaml"),
        ("kill prod --comment x", "no such option `--comment`|did you mean `--reason`?"),
        ("edit prod memory=4GB", "`memory=4GB` is the value of an option|"
                                 "d0ctl edit prod --memory 4GB"),
        ("edit prod.yaml --cpus 2", "`prod.yaml` is a job file; its job is needed here|"
                                    "d0ctl status"),
        ("update prod other.yaml", "`update` takes a job, not a job file: `other.yaml`|"
                                   "d0ctl update prod --file other.yaml"),
        ("submit a.yaml n=5", "a parameter is the value of `--set`|d0ctl submit a.yaml --set n=5"),
        ("status 7", "`7` can't be a job's name|"
                     "a selector reads JOB/STAGE/LINE/PACKAGE, as in `reco001/2/3/1`"),
    ],
)  # fmt: skip
def test_words_that_do_not_fit_are_answered_with_those_that_do(
    site: Site, d0ctl: Type, typed: str, answer: str
) -> None:
    site.submit(production())

    refused = d0ctl(*shlex.split(typed))

    assert (refused.exit_code, refused.stderr.rstrip().split("\n")) == (
        2, [f"d0ctl: {answer.split('|')[0]}", answer.split("|")[1]],
    )  # fmt: skip


def test_two_job_files_are_answered_with_a_command_for_each(
    d0ctl: Type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.yaml", "b.yaml"):
        (tmp_path / name).write_text("stages: [{lines: [{run: 'true'}]}]")

    refused = d0ctl("submit", "a.yaml", "b.yaml")

    assert refused.stderr == (
        "d0ctl: one job file at a time\nd0ctl submit a.yaml && d0ctl submit b.yaml\n"
    )


def test_status_adds_up_failures_when_all_jobs_have_ended(site: Site, d0ctl: Type) -> None:
    for name in ("one", "two"):
        site.submit(job(("only", [line(package("x"))]), name=name))
        site.fail(f"{name}/1/1/1")
    placement.end_jobs(site.store, now=time.time())

    said = d0ctl("status").stdout
    assert "2 failed   no daemon: 1 node not connected" in said and "active job" not in said
    drive(site)
    assert "of 1 node up" in d0ctl("status").stdout
    d0ctl("archive", "one", "two", "--yes", "--as", "spring")
    assert "2 failed\n" in d0ctl("status", "--archive", "spring").stdout
