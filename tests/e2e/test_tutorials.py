"""The tutorials of the farm and of the shift, typed in their order as a reader would."""

import re
from pathlib import Path

from tests.e2e.terminal import in_shell, terminal
from tests.support.site import Site
from tests.support.site.commands import Done

DOCS = Path(__file__).parents[2] / "docs"


def type_it(site: Site, command: str) -> Done:
    """Type one command in the reader's folder, and accept host keys."""
    if command.startswith("d0ctl node add "):  # there is no such user; all are this machine
        words = command.replace("emmy@", "").split()[1:]
        with terminal(site, *words, "--same-machine") as screen:
            screen.expect("trust this key?")
            screen.type("y\n")
            return Done(screen.end(), screen.text, "")
    return in_shell(site, command)


def commands(page: str) -> list[str]:
    """What the reader types."""
    return re.findall(r"^    \$ (.*)$", page, re.MULTILINE)


def test_all_commands_of_a_shift_do_what_the_page_says(newcomer: Site) -> None:
    page = (DOCS / "shift.md").read_text()
    for kind, name in {"sh": "reco.sh", "yaml": "night.yaml"}.items():
        (text,) = re.findall(rf"^```{kind}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
        newcomer.write(text, name)

    typed = [(command, type_it(newcomer, command)) for command in commands(page)]

    codes = {command: done.code for command, done in typed[:-1] if done.code}
    assert codes == {"d0ctl wait night": 1} or codes == {}, typed
    answers = dict(typed)
    logs = answers["d0ctl logs night --failed"].out
    assert "no calibration for run 3" in logs
    assert "the conditions server did not answer" in logs
    assert typed[[command for command, _ in typed].index("d0ctl wait night")][1].code == 1
    assert " with 7 of 8 inputs, missing: reco-3.txt" in answers["d0ctl status night"].out
    assert "no calibration, agreed with Emmy" in answers["d0ctl history night"].out
    assert (newcomer.jobs / "night.html").exists()


def test_all_commands_of_a_farm_do_what_the_page_says(newcomer: Site) -> None:
    page = (DOCS / "farm.md").read_text()
    hosts = [newcomer.start_sshd(name) for name in ("farm01", "farm02")]
    newcomer.ssh_config.write_text("".join(
        f"Host {name}.example.org\n  HostName {farm.address}\n  Port {farm.port}\n"
        f"  User {farm.user}\n  IdentityFile {farm.identity}\n"
        for name, farm in zip(("farm01", "farm02"), hosts, strict=True)
    ))  # fmt: skip
    (job,) = re.findall(r"^```yaml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    newcomer.write(job, "where.yaml")

    answers = {command: type_it(newcomer, command) for command in commands(page)}

    wrong = {command: str(done) for command, done in answers.items() if done.code}
    assert list(wrong) == ["d0ctl site diff site.yaml"], wrong
    both = answers["d0ctl report usage where --by node"].out
    assert "farm01" in both and "farm02" in both and "localhost" not in both
    one = answers["d0ctl report usage where2 --by node"].out
    assert "farm01" in one and "farm02" not in one
    assert len((newcomer.jobs / "out/all.txt").read_text().splitlines()) == 8
    assert "new disk" in answers["d0ctl why farm02"].out
    assert "0/3" in answers["d0ctl node list"].out
