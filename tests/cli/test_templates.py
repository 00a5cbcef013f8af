"""init and template: job files to begin with."""

from pathlib import Path

import pytest

from d0ctl.config import Home
from d0ctl.jobfile import job_templates
from tests.cli.conftest import Type
from tests.cli.test_terminal import on_a_terminal
from tests.support.building import document

OWN = """\
# How we simulate.
template:
  about: our simulation
  parameters:
    energy: {type: integer, help: beam energy in GeV}
    detector: {one-of: [full, fast]}

# What it is given.
parameters:
  energy:                # of the beam
  detector: "full"       # or fast
  'note': 'it''s ours'

stages:
  - lines:
      - run: echo {energy} {detector} {note} > out
        outputs: [out]
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for new job files, where commands are typed."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def own(home: Home) -> None:
    """A template of the site."""
    home.templates.mkdir(parents=True)
    (home.templates / "ours.yaml").write_text(OWN)


BUILT_IN = sorted(job_templates.found(None))


@pytest.mark.parametrize("name", [name for name in BUILT_IN if name not in ("glob", "software")])
def test_a_job_file_from_each_template_runs_unchanged(d0ctl: Type, folder: Path, name: str) -> None:
    assert d0ctl("init", name).exit_code == 0

    assert d0ctl("validate", "job.yaml", "--strict").exit_code == 0
    assert d0ctl("run", "job.yaml").exit_code == 0
    assert list((folder / "home" / "results").glob("job-001/*.txt"))


def test_a_job_file_for_a_glob_runs_on_the_matching_files(d0ctl: Type, folder: Path) -> None:
    d0ctl("init", "glob")
    reply = d0ctl("validate", "job.yaml")
    assert (reply.exit_code, "no file matches `raw/*.raw`" in reply.stderr) == (2, True)

    (folder / "raw").mkdir()
    (folder / "raw" / "a.raw").write_text("12345")
    assert d0ctl("run", "job.yaml").exit_code == 0
    assert (folder / "home/results/job-001/a.txt").read_text().strip() == "5"


def test_a_file_for_software_names_what_the_catalogue_has(
    d0ctl: Type, site_file: Path, folder: Path
) -> None:
    assert d0ctl("site", "apply", str(site_file), "--yes").exit_code == 0
    title = document(d0ctl("software", "list", "--json").stdout)["software"][0]
    wanted = f"software={title['name']}/{title['version']}"

    assert d0ctl("init", "software", "--set", wanted).exit_code == 0
    assert d0ctl("validate", "job.yaml").exit_code == 0
    assert "needs a value" in d0ctl("init", "software", "-o", "b.yaml").stderr


def test_a_value_is_written_where_the_default_was_and_comments_stay(own: None, d0ctl: Type) -> None:
    words = ("--set", "energy=7000", "--set", "detector=fast", "--set", "note=it's: new")
    text = d0ctl("template", "new", "ours", *words, "-o", "-").stdout

    expected = OWN[: OWN.index("template:")] + OWN[OWN.index("# What") :]
    for default, value in (
        ("energy:                #", "energy: 7000                #"),
        ('"full"', "fast"),
        ("'it''s ours'", '"it\'s: new"'),
    ):
        expected = expected.replace(default, value)
    assert text == expected


def test_templates_are_listed_with_those_of_the_site(own: None, d0ctl: Type) -> None:
    listed = d0ctl("template", "list").stdout
    assert [line.split()[0] for line in listed.splitlines()] == [*BUILT_IN, "ours"]
    assert "our simulation" in listed

    found = document(d0ctl("template", "list", "--json").stdout)["templates"][-1]
    assert (found["template"], found["about"]) == ("ours", "our simulation")


def test_a_template_says_what_its_parameters_are(own: None, d0ctl: Type) -> None:
    card = d0ctl("template", "show", "ours").stdout.splitlines()

    assert card[0] == "ours  our simulation"
    rows = [line.split(maxsplit=3) for line in card if line.startswith("  ")]
    assert rows[0] == ["energy", "integer", "needed", "beam energy in GeV"]
    assert rows[1] == ["detector", "full", "|", "fast  full"]
    assert "d0ctl template new ours --set energy=... -o job.yaml" in card[-1]


def test_a_value_that_does_not_fit_is_refused_and_nothing_is_written(
    own: None, d0ctl: Type, folder: Path
) -> None:
    reply = d0ctl("template", "new", "ours", "--set", "energy=x", "--set", "detector=slow")

    assert reply.exit_code == 2
    assert reply.stderr.splitlines() == [
        "parameter `energy` takes a whole number, not `x`",
        "parameter `detector` takes one of `full`, `fast`, not `slow`",
    ]
    assert not (folder / "ours.yaml").exists()


def test_an_existing_file_is_kept_unless_forced(d0ctl: Type, folder: Path) -> None:
    (folder / "job.yaml").write_text("mine")

    reply = d0ctl("init", "single")
    assert (reply.exit_code, "the file job.yaml already exists" in reply.stderr) == (4, True)
    assert (folder / "job.yaml").read_text() == "mine"
    assert d0ctl("init", "single", "--force").exit_code == 0
    assert (folder / "job.yaml").read_text() != "mine"


def test_a_misspelt_template_is_answered_with_the_existing_ones(own: None, d0ctl: Type) -> None:
    assert "did you mean `merge`?" in d0ctl("init", "merg").stderr
    assert d0ctl("init", "merg").exit_code == 3
    assert "which pattern? array, chain" in d0ctl("init").stderr
    assert "no parameter `enrgy` (did you mean `energy`?)" in d0ctl(
        "template", "new", "ours", "--set", "enrgy=1", "--set", "energy=1"
    ).stderr  # fmt: skip
    assert "can't be written" in d0ctl("init", "single", "-o", "no/such/job.yaml").stderr


def test_a_person_on_a_terminal_is_asked(folder: Path) -> None:
    answers = "merg\nmerge\nmany\n6\n\n\nsim.yaml\n"
    code, seen = on_a_terminal("init", answer=answers)

    assert code == 0, seen
    assert "there is no pattern `merg` (did you mean `merge`?)" in seen
    assert "takes a whole number, not `many`" in seen
    text = (folder / "sim.yaml").read_text()
    assert "number: 6\n" in text and "events: 1000\n" in text


def test_the_wizard_says_which_answers_do_not_fit(folder: Path) -> None:
    code, seen = on_a_terminal("init", answer="software\nreco\n2\n\n")

    assert code == 0, seen
    assert "job.yaml:15:19: `software` takes software as NAME/VERSION" in seen
