"""Every page at the width of a terminal: lines break between words, and nothing is cut off."""

from pathlib import Path

import pytest

from tests.cli import test_changing
from tests.cli.conftest import Type
from tests.cli.test_changing import commands
from tests.cli.test_notify import post, say, server
from tests.support.rows import change
from tests.support.site import Site
from tests.support.typed_page import typed
from tests.tasks.making import text
from tests.tasks.test_merge import merging

calls = test_changing.calls

STORY = "the third disk of the second crate is full and nobody has come to change it yet today"

PACKAGE = ["prod/1/1/1"]

TASK = ["demo"]

PAGES = {
    "status": PACKAGE, "why": PACKAGE, "history": PACKAGE, "peek": PACKAGE, "wait": ["prod"],
    "logs": ["prod", "--failed"], "results": ["prod"], "report failures": ["prod"],
    "file list": ["prod"], "eta": ["prod"], "notify show": ["1"], "template show": ["merge"],
    "validate": ["FILE"], "rehearse": ["FILE"], "policy try": ["SITE"], "site check": ["SITE"],
    "site diff": ["SITE"], "node check": ["doubted"], "software verify": ["reco/v1"],
    "cluster check": ["doubted"], "store locate": ["store:attic/a.raw"],
    "task status": TASK, "task why": TASK, "task history": TASK,
    "task kill": TASK, "task finish": TASK, "task resume": TASK, "task acknowledge": TASK,
    "task retry": TASK, "task avalanche": TASK, "task incexec": TASK, "task reassign": TASK,
    "task submit": ["TASK"], "archive": ["dropped"], "update": ["prod", "FILE"],
    "clone": ["prod", "--as", "other"], "file purge": ["prod"], "node free": ["doubted"],
    "file set-disposition": ["prod", "discard"], "store delete": ["store:attic/a.raw"],
    "token remove": ["anna"], "backup": ["BACKUP"],
}  # fmt: skip
"""The arguments of commands, beside those that change something; the others have none."""

ELSEWHERE = {
    "top", "tui", "serve", "daemon run", "daemon start", "daemon restart", "daemon install",
    "daemon uninstall", "completion install", "completion uninstall",
}  # fmt: skip
"""Commands that stay on the terminal, have their own tests of it, or start a process."""

FILES = {"init", "template new", "site show", "export", "report metrics"}
"""Commands that print the lines of a file as they are."""

DRAWN = {"report timeline", "report usage", "status"}
"""Commands whose pages show less on fewer columns: bars, columns of a table, lists side by side."""


@pytest.fixture
def arguments(
    site: Site, d0ctl: Type, tmp_path: Path, calls: dict[str, list[str]],
    monkeypatch: pytest.MonkeyPatch,
) -> dict[str, list[str]]:  # fmt: skip
    """The arguments of every command, on a site with long stories everywhere."""
    monkeypatch.setenv("NO_COLOR", "1")
    site.fail("prod/1/1/1", detail=STORY)
    merging(site.store)
    say(site, **server(), command=["/bin/true"])
    post(site, title=f"x: {STORY}")
    change(site.store, "delivery", last_error=STORY, tries=3)
    task = tmp_path / "task.yaml"
    task.write_text(text(name="other"))
    for words in (["node", "drain", "localhost"], ["pause", "prod"], ["task", "pause", *TASK]):
        assert d0ctl(*words, "--reason", STORY, "--yes").exit_code == 0
    assert d0ctl("event", "key").exit_code == 0
    files = {"TASK": task} | {name: tmp_path / file for name, file in (
        ("FILE", "job.yaml"), ("SITE", "site.yaml"), ("BACKUP", "backup.db"))}  # fmt: skip
    pages = {name: [str(files.get(word, word)) for word in words] for name, words in PAGES.items()}
    return calls | pages


def test_every_page_breaks_its_lines_between_words_and_cuts_nothing(
    arguments: dict[str, list[str]],
) -> None:
    faults = {}
    for name in sorted(set(commands()) - ELSEWHERE):
        words = [*name.split(), *arguments.get(name, [])]
        words += [] if name in test_changing.READS else ["--dry-run"]
        whole, page = typed(words, 500), typed(words, 80)
        long = [] if name in FILES else [line for line in page.splitlines() if is_broken(line)]
        lost = set() if name in DRAWN else words_of(whole) - words_of(page)
        if long or lost or "…" in page:
            faults[name] = (long, lost, page)
        assert page, name

    assert faults == {}


def is_broken(line: str) -> bool:
    """Whether a terminal breaks this line within a word; a path or a command may be too long."""
    return len(line) > 80 and len(line.split()) > 1 and not line.startswith("d0ctl ")


def words_of(page: str) -> set[str]:
    """The words of a page, without times, which go on; the end of a line may replace a colon."""
    words = {word.strip(":") for word in page.split()}
    return {word for word in words if len(word) > 3 and not any(map(str.isdigit, word))}
