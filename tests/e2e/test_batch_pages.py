"""The first steps of docs/slurm.md and docs/htcondor.md, typed in their order as a reader would."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests.e2e.terminal import in_shell, terminal
from tests.support.htcondor import Pool
from tests.support.site import Site
from tests.support.site.commands import Done
from tests.support.slurm import Slurm

DOCS = Path(__file__).parents[2] / "docs"

HOME = ".local/share/d0ctl"
"""The home of a reader, in that of the user."""

WAITS = "no machine is free (Resources)"


def steps(page: str) -> str:
    """The first steps on a page."""
    text = (DOCS / page).read_text()
    found = re.search(r"^## From nothing.*?(?=^## )", text, re.MULTILINE | re.DOTALL)
    assert found
    return found[0]


def yaml(page: str) -> list[str]:
    """The files that a reader writes on the way."""
    return re.findall(r"^```yaml\n(.*?)^```$", steps(page), re.MULTILINE | re.DOTALL)


def become_reader(site: Site, page: str, variables: Mapping[str, str]) -> None:
    """Give a newcomer the login node and the files of a page; only sizes and names differ."""
    login = site.start_sshd("login")
    settings = "".join(f"export {name}='{value}'\n" for name, value in variables.items())
    (login.home / ".bashrc").write_text(settings)
    site.ssh_config.write_text(
        f"Host login.example.org\n  HostName {login.address}\n  Port {login.port}\n"
        f"  User {login.user}\n  IdentityFile {login.identity}\n"
    )
    home = Path(site.environment["HOME"]) / HOME
    home.parent.mkdir(parents=True, exist_ok=True)
    site.home.root.mkdir(parents=True)
    home.symlink_to(site.home.root)
    ours = yaml(page)[0].replace("emmy@", "").replace("16GB", "1GB") + "    poll: 1s\n"
    assert ours.count("login.example.org") == ours.count("1GB") == 1
    (home / "site.yaml").write_text(ours)
    (job,) = yaml("slurm.md")[1:]
    assert "sleep 20" in job
    site.write(job.replace("sleep 20", site.gate("end")), "night.yaml")


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Slurm]:
    """A Slurm with one machine of the size, and the partition, of the page."""
    with Slurm(tmp_path / "slurm", nodes=1, cpus=8) as engine:
        engine.call("scontrol", "create", "PartitionName=short", "Nodes=s1", "MaxTime=INFINITE")
        yield engine


@pytest.fixture
def slurm_user(newcomer: Site, engine: Slurm) -> Iterator[Site]:
    """A reader with an account on a login node of Slurm."""
    become_reader(newcomer, "slurm.md", engine.variables)
    yield newcomer
    newcomer.d0ctl("daemon", "stop")


@pytest.fixture
def condor_user(newcomer: Site, pool: Pool) -> Iterator[Site]:
    """A reader with an account on an access point, whose tools are stand-ins."""
    become_reader(newcomer, "htcondor.md", pool.variables)
    yield newcomer
    newcomer.d0ctl("daemon", "stop")
    pool.clear()


def type_it(site: Site, command: str) -> Done:
    """Type one command, and answer what it asks."""
    if command != "d0ctl site apply":
        return in_shell(site, command)
    with terminal(site, *command.split()[1:]) as screen:
        screen.expect("apply this? [y/N]")
        screen.type("y\n")
        screen.expect("trust this key? [y/N]")
        screen.type("y\n")
        return Done(screen.end(), screen.text, "")


def type_all(site: Site, commands: list[str]) -> list[str]:
    """Type commands, which all succeed, and return what they print."""
    answers = [(command, type_it(site, command)) for command in commands]
    assert [f"{command}: {done}" for command, done in answers if done.code] == []
    return [" ".join(done.out.split()) for _, done in answers]


def test_the_first_steps_with_slurm_do_what_the_page_says(slurm_user: Site, engine: Slurm) -> None:
    typed = re.findall(r"^    \$ (.*)$", steps("slurm.md"), re.MULTILINE)
    start, queued, running, end = (
        typed.index(f"d0ctl {words}")
        for words in ("daemon start", "cluster list", "node list", "wait night")
    )

    first = type_all(slurm_user, typed[:start])
    full = engine.call("sbatch", "--parsable", "--exclusive", "--partition=short",
                       "--output=/dev/null", "--wrap=sleep 600").strip()  # fmt: skip
    type_all(slurm_user, typed[start:queued])
    slurm_user.wait(lambda: WAITS in slurm_user.ok("cluster", "list"), what="the pilot is queued")
    while_queued = type_all(slurm_user, typed[queued:running])
    engine.call("scancel", full)
    slurm_user.wait(
        lambda: slurm_user.look() == {"running": 4}, what="all packages run in the pilot"
    )
    while_running = type_all(slurm_user, typed[running:end])
    slurm_user.open("end")
    last = type_all(slurm_user, typed[end:])

    assert typed[:start][2] == "d0ctl cluster check batch"
    for step in ("✔ tools slurm-wlm", "✔ submission job", "✔ queue it began after", "✔ reach relay",
                 "✔ detached processes survive"):  # fmt: skip
        assert step in first[2], first[2]
    assert f"batch shared pilots: 1 queued: {WAITS}" in while_queued[0]
    assert f"cluster `batch` has 1 pilot in its queue: {WAITS}" in while_queued[1]
    assert f"is queued: {WAITS}" in while_queued[2]
    assert "batch-1 ● up 4/8 in use login.example.org" in while_running[0]
    assert "has been running on `batch-1` for" in while_running[1]
    assert "pilot `batch-1` (job" in while_running[2]
    assert last[0] == "`night` is successful"
    assert last[1].startswith("seed 1 in job ")


def test_the_first_steps_with_htcondor_do_what_the_page_says(condor_user: Site) -> None:
    typed = re.findall(r"^    (d0ctl .*)$", steps("htcondor.md"), re.MULTILINE)
    end = typed.index("d0ctl wait night")

    first = type_all(condor_user, typed[:end])
    condor_user.wait(lambda: condor_user.look() == {"running": 4}, what="all packages run")
    nodes = type_all(condor_user, ["d0ctl node list"])
    condor_user.open("end")
    last = type_all(condor_user, typed[end:])

    assert typed[1] == "d0ctl cluster check batch"
    for step in ("✔ tools", "✔ submission job", "✔ queue it began after", "✔ reach relay",
                 "✔ detached processes survive"):  # fmt: skip
        assert step in first[1], first[1]
    assert "batch-1 ● up 4/8 in use login.example.org" in nodes[0]
    assert last[0] == "`night` is successful"
