"""Every command in README, typed in its order as a reader would."""

import re
from pathlib import Path

import pytest

from tests.e2e.terminal import in_shell, terminal
from tests.support.archives import RECO, packed
from tests.support.site import Site
from tests.support.site.commands import Done

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()

FOUND = r"^    (?:\$ )?(d0ctl .*?|chmod .*?)(?:  +#.*)?$|`(d0ctl [^A-Z`]+)`"
"""A command in a block, without its remark; or one in a sentence that names no placeholder."""

ELSEWHERE = {
    "d0ctl tui": "tests/e2e/test_dashboard.py",
    'd0ctl run examples/zpeak/job.yaml --set python="$(which python)"':
        "tests/e2e/test_zpeak.py",
}  # fmt: skip
"""Commands that need a screen or minutes, and the tests that type them."""

HERE = {"emmy@farm02.example.org": "farm02.example.org"}
"""There is no such user on this machine."""

SECTIONS = (
    "Your first production", "Other ways to begin", "Look at it", "Add machines", "The site",
)  # fmt: skip
"""The sections that are typed one after the other."""

ASKING = "d0ctl node add "
"""The command that asks at the terminal for the host key."""


def commands(section: str) -> list[str]:
    """The commands of a section of README, in their order, without those typed elsewhere."""
    (text,) = re.findall(rf"^## {section}$(.*?)^## ", README, re.MULTILINE | re.DOTALL)
    found = [block or inline for block, inline in re.findall(FOUND, text, re.MULTILINE)]
    return [command for command in found if command not in ELSEWHERE]


def write_files(site: Site) -> None:
    """Make the files that README shows."""
    for kind, name in {"sh": "sim.sh", "yaml": "mc.yaml"}.items():
        (text,) = re.findall(rf"^```{kind}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
        (site.jobs / name).write_text(text)


def type_it(site: Site, command: str) -> Done:
    """Type one command, in the clone if it names a file there, and answer what it asks."""
    for theirs, ours in HERE.items():
        command = command.replace(theirs, ours)
    if command.startswith(ASKING):  # the machine is this one, which is a node already
        with terminal(site, *command.split()[1:], "--same-machine") as screen:
            screen.expect("trust this key?")
            screen.type("y\n")
            return Done(screen.end(), screen.text, "")
    return in_shell(site, command, ROOT if "examples/" in command else site.jobs)


@pytest.fixture
def reader(newcomer: Site) -> Site:
    """A reader with the files of README, and a machine under the name that README uses."""
    farm = newcomer.start_sshd("farm")
    newcomer.ssh_config.write_text(
        f"Host farm02.example.org\n  HostName {farm.address}\n  Port {farm.port}\n"
        f"  User {farm.user}\n  IdentityFile {farm.identity}\n"
    )
    write_files(newcomer)
    return newcomer


def test_all_commands_of_readme_succeed(reader: Site, tmp_path: Path) -> None:
    archive = packed(tmp_path / "reco.tar.gz", RECO)
    (site_file,) = re.findall(r"^    nodes:\n(?:    .*\n)+", README, re.MULTILINE)
    site_file = re.sub(r"archive: .*", f"archive: {archive}", site_file).replace(
        "cpus: 16}", "cpus: 16, same-machine: yes}"
    )
    for theirs, ours in HERE.items():
        site_file = site_file.replace(theirs, ours)
    reader.write(re.sub("^    ", "", site_file, flags=re.MULTILINE), "site.yaml")
    typed = [command for section in SECTIONS for command in commands(section)]

    answers = [(command, type_it(reader, command)) for command in typed]

    assert len(typed) > 15
    assert [(command, str(done)) for command, done in answers if done.code != 0] == []
    ran = dict(answers)["d0ctl run mc.yaml"]
    assert "`mc-001` is successful: 41 packages" in ran.out + ran.err
    assert "warning" not in ran.err
    merged = (reader.home.root / "results/mc-001/all.txt").read_text().splitlines()
    assert len(merged) == sum(
        (e * 37 + s * 11) % 91 > 50 for s in range(1, 21) for e in range(1, 101)
    )


def test_all_commands_of_readme_after_a_failure_succeed(reader: Site) -> None:
    script = reader.jobs / "sim.sh"
    script.write_text(script.read_text() + '[ "$1" != 17 ]\n')
    script.chmod(0o755)
    assert type_it(reader, "d0ctl run mc.yaml").code == 1

    answers = [(command, type_it(reader, command)) for command in commands("When something fails")]

    assert len(answers) > 3
    assert [(command, str(done)) for command, done in answers if done.code != 0] == []


def test_every_command_that_is_typed_elsewhere_is_in_readme() -> None:
    assert [command for command in ELSEWHERE if command not in README] == []
    assert [file for file in ELSEWHERE.values() if not (ROOT / file).exists()] == []
