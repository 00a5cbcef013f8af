"""Every key of the job file is checked, stored, shown by `status`, and written back by `export`.

`tests/keys/jobfile.txt` names the test of the effect of each key.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from d0ctl.errors import BadJobFile
from d0ctl.jobfile.reader import read_text
from d0ctl.store.views.job_files import definition
from tests.cli.conftest import Type
from tests.support.building import job, line, package
from tests.support.key_examples import EXAMPLES, FILES, Document, base, example
from tests.support.key_tables import documented
from tests.support.rows import read
from tests.support.site import Site

SITE = """\
nodes: {localhost: {services: SAM}}
software: {name: reco, version: v1, script: reco}
"""

NOT_OF_THE_JOB = {("Job", "job"), ("Job", "template")}
"""The name, which differs between the jobs that are compared here, and what describes the file."""

CARDS = {"Job": ("",), "Stage": ("", "/{last}", "/{last}/1/1"), "Loops": ("/{last}",),
         "Line": ("/{last}", "/{last}/1", "/{last}/1/1"), "Group": ("/{last}",),
         "Package": ("/{last}/1", "/{last}/1/1")}  # fmt: skip
"""Where `status` shows the keys of a level, if not on the card of the binary."""

OF_BINARY = ("/{last}/1/1", "/{last}/1/1/1")

WAYS: tuple[tuple[str, ...], ...] = ((), ("--json",))
"""How `status` prints: for people, and for scripts."""

CHANGING = re.compile(r"\d{4}-\d\d-\d\dT\S+|\d\d:\d\d:\d\d|[0-9.]+ s so far")
"""What differs between two jobs because of when they were submitted."""


@pytest.fixture
def folder(site: Site, d0ctl: Type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files of the examples, at a site with files in a cache."""
    monkeypatch.chdir(tmp_path)
    for name, text in {**FILES, "site.yaml": SITE}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert d0ctl("site", "apply", "site.yaml").exit_code == 0
    site.submit(job(("cached", [line(package("small-1"))]), name="earlier"))
    site.launch("earlier/1/1/1")
    site.end("earlier/1/1/1")
    return tmp_path


def submitted(d0ctl: Type, name: str, text: str) -> str:
    """Submit a job file under a name; the job as a job file."""
    Path(f"{name}.yaml").write_text(text)
    done = d0ctl("submit", f"{name}.yaml", "--as", name, "--force")
    assert done.exit_code == 0, (name, done.output)
    return re.sub("(?m)^job: .*", "", d0ctl("export", name).stdout)


def cards(d0ctl: Type, level: str, name: str, document: Document, *words: str) -> str:
    """What `status` prints where it shows the keys of a level."""
    last = len(document["stages"])
    paths = [name + path.format(last=last) for path in CARDS.get(level, OF_BINARY)]
    shown = "".join(d0ctl("status", path, *words).stdout for path in paths)
    return CHANGING.sub("", shown.replace(name, "JOB"))


def rows(site: Site, name: str) -> Any:
    """Everything that is stored of a job, without what names its rows."""
    found = definition.read(site.store, name)
    assert found is not None
    columns = ("seq", "phase", "missing", "early", "gathered", "awaited")
    states = read(site.store, "package", *columns, job_id=found.row["id"])
    return [*states, *_plain(json.loads(json.dumps(found, default=_as_dict)))]


def _as_dict(one: Any) -> Any:
    names = getattr(one, "__struct_fields__", None)
    return {key: getattr(one, key) for key in names} if names else dict(one)


def _plain(found: Any, key: str = "") -> Iterator[tuple[str, Any]]:
    """Each value of a record with its key, except ids and what differs between submissions."""
    if isinstance(found, dict | list):
        for name, item in found.items() if isinstance(found, dict) else enumerate(found):
            yield from _plain(item, f"{key}.{name}")
    elif key != ".row.name" and not key.endswith(("id", ".maker", ".directory")):
        yield key, found


def test_examples_exist_for_exactly_the_documented_keys() -> None:
    keys = {(level, key) for level, found in EXAMPLES.items() for key in found}

    assert keys == set(documented("jobfile"))


class Plain:
    """Jobs without the key of an example: most examples of a level leave the same job."""

    def __init__(self, d0ctl: Type, level: str) -> None:
        self._d0ctl, self._level = d0ctl, level
        self._found: dict[str, tuple[str, list[str]]] = {}

    def written(self, document: Document) -> tuple[str, list[str]]:
        """The job as a job file, and its cards as `cards` prints them for each way to print."""
        text = json.dumps(document)
        if text not in self._found:
            name = f"plain{len(self._found):02}x"
            written = submitted(self._d0ctl, name, text)
            shown = [cards(self._d0ctl, self._level, name, document, *words) for words in WAYS]
            self._found[text] = written, shown
        return self._found[text]


@pytest.mark.parametrize("level", [level for level in EXAMPLES if level != "Parameter"])
def test_each_key_is_stored_shown_and_written_back(
    folder: Path, site: Site, d0ctl: Type, level: str
) -> None:
    plain = Plain(d0ctl, level)
    for number, key in enumerate(EXAMPLES[level]):
        if (level, key) in NOT_OF_THE_JOB:
            continue
        document = example(level, key)
        name, again = f"with{number:02}x", f"again{number:02}x"

        usual, shown_without = plain.written(base(level, key))
        written = submitted(d0ctl, name, json.dumps(document))
        rewritten = submitted(d0ctl, again, written)

        assert written not in (usual, ""), (level, key)
        assert rewritten == written, (level, key)
        assert rows(site, again) == rows(site, name), (level, key)
        for words, without in zip(WAYS, shown_without, strict=True):
            assert cards(d0ctl, level, name, document, *words) != without, (level, key, words)


@pytest.mark.parametrize("level", EXAMPLES)
def test_a_wrong_value_of_each_key_is_a_fault_at_its_place(folder: Path, level: str) -> None:
    for key in EXAMPLES[level]:
        text = json.dumps(example(level, key, [["wrong"]]), indent=1)
        line = text[: text.index('"wrong"')].count("\n")

        with pytest.raises(BadJobFile) as caught:
            read_text(text, directory=folder)

        found = {int(fault.split(":")[1]) for fault in caught.value.faults}
        assert found & {line - 1, line, line + 1}, (key, caught.value.faults)
