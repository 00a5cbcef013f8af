"""Keys of a job, its stages and lines by what they change, as typed before anything runs."""

from pathlib import Path

import pytest

from tests.cli.conftest import Type
from tests.support.building import document
from tests.support.jobs import phases
from tests.support.site import Site


def submit(d0ctl: Type, folder: Path, text: str, *words: str) -> str:
    """Submit a job of this text; its name."""
    path = folder / "file.yaml"
    path.write_text(text)
    done = d0ctl("submit", str(path), "--json", *words)
    assert done.exit_code == 0, done.output
    return str(document(done.stdout)["job"])


ONE = "stages: [{lines: [{run: 'true'}]}]"


@pytest.mark.parametrize(("key", "name"), [("job: own", "own"), ("", "file-001")])
def test_a_job_has_its_own_name_or_that_of_its_file(
    d0ctl: Type, site: Site, tmp_path: Path, key: str, name: str
) -> None:
    assert submit(d0ctl, tmp_path, f"{key}\n{ONE}") == name


@pytest.mark.parametrize(("key", "is_shown"), [("title: Second pass", True), ("", False)])
def test_the_title_of_a_job_is_in_its_status(
    d0ctl: Type, site: Site, tmp_path: Path, key: str, is_shown: bool
) -> None:
    name = submit(d0ctl, tmp_path, f"{key}\n{ONE}")

    assert ("Second pass" in d0ctl("status", name).stdout) is is_shown


@pytest.mark.parametrize(("key", "is_held"), [("hold: yes", True), ("", False)])
def test_a_job_that_is_submitted_on_hold_waits_for_release(
    d0ctl: Type, site: Site, tmp_path: Path, key: str, is_held: bool
) -> None:
    name = submit(d0ctl, tmp_path, f"{key}\n{ONE}")
    world = Site.of(site.store, cpus=2)

    world.schedule()
    assert site.phase(f"{name}/1/1/1") == ("ready" if is_held else "assigned")

    if is_held:
        assert d0ctl("release", name).exit_code == 0
        world.schedule()
        assert site.phase(f"{name}/1/1/1") == "assigned"


@pytest.mark.parametrize(("key", "placed"), [("cpu: 20", 10), ("cpu: 95", 2), ("cpus: 1", 2)])
def test_packages_that_use_a_part_of_a_cpu_share_it(
    d0ctl: Type, site: Site, tmp_path: Path, key: str, placed: int
) -> None:
    line = f"{{for: {{n: {{range: [1, 12]}}}}, run: 'echo {{n}}', {key}}}"
    submit(d0ctl, tmp_path, f"stages: [{{lines: [{line}]}}]")

    assert Site.of(site.store, cpus=2).schedule() == placed


def test_a_job_with_a_higher_priority_is_scheduled_first(
    d0ctl: Type, site: Site, tmp_path: Path
) -> None:
    for key in ("job: low\npriority: 10", "job: usual", "job: high\npriority: 51"):
        submit(d0ctl, tmp_path, f"{key}\n{ONE}")

    Site.of(site.store, cpus=1).schedule()

    phases = {name: site.phase(f"{name}/1/1/1") for name in ("low", "usual", "high")}
    assert phases == {"low": "ready", "usual": "ready", "high": "assigned"}


def test_the_priority_of_a_package_goes_before_that_of_its_line_stage_and_job(
    d0ctl: Type, site: Site, tmp_path: Path
) -> None:
    name = submit(
        d0ctl,
        tmp_path,
        """\
job: one
priority: 10
stages:
  - name: a
    lines: [{for: {n: [1, 2]}, run: "true", priority: "6{n}"}]
  - name: b
    priority: 40
    lines:
      - run: "true"
      - {priority: 90, packages: [{run: "true"}, {run: "true", priority: 5}]}
  - lines: [{run: "true"}]
""",
    )
    world, order = Site.of(site.store, cpus=1), []
    node = world.node("localhost")

    for _ in range(6):
        world.schedule()
        order += [path for path, phase in phases(site.store).items() if phase == "assigned"]
        world.hand_out(node)
        world.order(node)
        node.end(max(node.attempts), "successful")
        world.deliver(node, node.spool)

    assert order == [
        f"{name}/{path}" for path in ("2/2/1", "1/2/1", "1/1/1", "2/1/1", "3/1/1", "2/2/2")
    ]


@pytest.mark.parametrize(
    ("of_job", "of_stage", "most"),
    [("max-running: 3", "", 3), ("", "max-running: 2", 3), ("", "", 8)],
)
def test_no_more_packages_run_at_once_than_a_job_or_stage_allows(
    d0ctl: Type, site: Site, tmp_path: Path, of_job: str, of_stage: str, most: int
) -> None:
    stages = f"""\
stages:
  - lines: [{{for: {{n: {{range: [1, 7]}}}}, run: "true"}}]
    {of_stage}
  - lines: [{{run: "true"}}]
"""
    job = submit(d0ctl, tmp_path, f"{of_job}\n{stages}")
    world = Site.of(site.store, cpus=20)

    world.schedule()
    world.schedule()

    assert list(phases(site.store).values()).count("assigned") == most
    shown = d0ctl("status", f"{job}/1" if of_stage else job).stdout
    assert ("at once" in shown) is (most < 8)
    world.settle()
    assert set(phases(site.store).values()) == {"done"}


@pytest.mark.parametrize(("key", "name"), [("name: first", "first"), ("", "n=7")])
def test_a_line_is_shown_by_its_name(
    d0ctl: Type, site: Site, tmp_path: Path, key: str, name: str
) -> None:
    line = f"{{for: {{n: [7]}}, packages: [{{run: 'echo {{n}}'}}]{', ' if key else ''}{key}}}"
    job = submit(d0ctl, tmp_path, f"stages: [{{lines: [{line}]}}]")

    assert name in d0ctl("status", f"{job}/1/1").stdout


@pytest.mark.parametrize(("key", "phase"), [("required: no", "waiting"), ("", "dropped")])
def test_a_package_continues_without_a_dropped_input_only_if_it_is_not_required(
    d0ctl: Type, site: Site, tmp_path: Path, key: str, phase: str
) -> None:
    job = submit(
        d0ctl,
        tmp_path,
        f"""\
stages:
  - lines:
      - {{run: touch a, outputs: a}}
      - {{run: touch b, outputs: b}}
      - run: "cat {{inputs}}"
        inputs: [{{file: a, required: no}}, {{file: b{", " if key else ""}{key}}}]
""",
    )

    assert d0ctl("kill-line", f"{job}/1/2", "--drop-outputs", "--yes").exit_code == 0

    assert site.phase(f"{job}/1/3/1") == phase


@pytest.mark.parametrize(
    ("others", "phase"),
    [
        ("a", "dropped"),
        ("cards", "dropped"),
        ("{file: cards, required: no}", "ready"),
        ("{glob: 'card?'}", "ready"),
    ],
)
def test_the_last_input_that_is_not_required_drops_its_package(
    d0ctl: Type, site: Site, tmp_path: Path, others: str, phase: str
) -> None:
    (tmp_path / "cards").touch()
    job = submit(
        d0ctl,
        tmp_path,
        f"""\
stages:
  - lines:
      - {{run: touch a, outputs: a}}
      - {{run: touch b, outputs: b}}
      - {{run: "cat {{inputs}}", inputs: [{others}, {{file: b, required: no}}]}}
""",
    )

    assert d0ctl("kill-line", f"{job}/1/2", "--drop-outputs", "--yes").exit_code == 0

    assert site.phase(f"{job}/1/3/1") == phase
