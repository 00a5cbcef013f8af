"""Transports: commands of plug-ins for the schemes of locators."""

import pytest

from tests.plugins.conftest import Add
from tests.support.site import Site

JOB = """\
job: moved
policy: {stage-in: {tries: 0}}
stages:
  - lines:
      - run: cat in.txt in.txt > out.txt
        inputs: {file: in.txt, locator: "lab:/FOLDER/in.txt"}
        outputs: {file: out.txt, locator: "lab:/FOLDER/out.txt", disposition: store}
"""


def job(site: Site) -> str:
    """A job whose input and output are in a folder that it reaches by a plug-in."""
    (site.folder / "in.txt").write_text("a\n")
    return JOB.replace("FOLDER", str(site.folder))


def test_the_daemon_moves_files_by_the_commands_of_a_plugin(site: Site) -> None:
    site.start_daemon()

    site.submit(job(site))

    assert site.d0ctl("wait", "moved").code == 0
    assert (site.folder / "out.txt").read_text() == "a\na\n"


def test_the_commands_of_the_site_count_more(site: Site) -> None:
    text = "transfer: {lab: {fetch: 'echo {source} >{dest}', store: 'true {source} {dest}'}}"
    site.ok("site", "apply", site.write(text, "site.yaml"), "--yes")

    site.ok("run", site.write(job(site)))

    assert not (site.folder / "out.txt").exists()


def test_without_a_plugin_there_is_no_command(bare_site: Site) -> None:
    done = bare_site.d0ctl("validate", bare_site.write(job(bare_site)))

    assert (done.code, "the site has no command to fetch `lab:` files" in done.err) == (2, True)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("it = 5", "must be a mapping with the keys `fetch`, `store` or both"),
        ("it = {'get': 'x'}", "must be a mapping with the keys `fetch`, `store` or both"),
        ("it = {'fetch': 5}", "must be a command as text, not int"),
        ("it = {'fetch': 'cp {source} x'}", "has a fault: `fetch` needs `{dest}`"),
        ("it = {'store': 'cp {source} {dest}'}", "no command to fetch `lab:` files"),
        ("1 / 0", "can't be imported: ZeroDivisionError: division by zero"),
    ],
)
def test_a_transport_that_fails_is_a_fault(bare_site: Site, add: Add, code: str, said: str) -> None:
    add("transport", "lab", code)

    done = bare_site.d0ctl("validate", bare_site.write(job(bare_site)))

    assert (done.code, said in done.err) == (2, True), done


def test_a_transport_that_is_gone_fails_the_package_and_not_the_daemon(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = site.write(job(site))
    site.ok("submit", path)
    monkeypatch.delenv("PYTHONPATH")
    daemon = site.start_daemon().pid

    assert site.d0ctl("wait", "moved").code == 1
    ends = site.package("moved/1/1/1")["attempts"]
    assert [one["reason"] for one in ends] == ["stage-in"]
    assert site.json("daemon", "status")["pid"] == daemon
