"""`results`: the final outputs of a job, copied with checks and never over another file."""

import hashlib
import os
from pathlib import Path

import pytest

from d0ctl.cli.commands.looking.pages import result_copies
from d0ctl_wrapper.host import packing
from tests.cli.conftest import Type
from tests.support import jobs
from tests.support.building import document, job, line, package, production
from tests.support.rows import change
from tests.support.site import Site

TEXT = b"0123456789" * 1000
SUM = "sha256:" + hashlib.sha256(TEXT).hexdigest()


@pytest.fixture
def made(site: Site) -> Path:
    """A job with two results, of which one is made; its folder."""
    site.submit(job(("a", [line(package("sub/one.root")), line(package("two.root"))])))
    site.finish("prod/1/1/1")
    with site.store.writing():
        change(site.store, "file", {"name": "sub/one.root"}, size=len(TEXT), checksum=SUM)
    folder = site.store.home.results / "prod"
    (folder / "sub").mkdir(parents=True)
    (folder / "sub" / "one.root").write_bytes(TEXT)
    return folder


def test_results_are_not_copied_to_a_file(made: Path, tmp_path: Path, d0ctl: Type) -> None:
    (tmp_path / "x.txt").write_text("mine")

    refused = d0ctl("results", "prod", "--copy", str(tmp_path / "x.txt"))

    assert (refused.exit_code, "is not a folder" in refused.stderr) == (2, True), refused.stderr
    assert (tmp_path / "x.txt").read_text() == "mine"


def test_results_are_listed_with_size_checksum_and_place(made: Path, d0ctl: Type) -> None:
    result = d0ctl("results", "prod")
    answer = document(d0ctl("results", "prod", "--json").stdout)

    one, two = result.stdout.splitlines()
    assert one.split() == ["sub/one.root", "10", "kB", SUM[:19] + "…", str(made / "sub/one.root")]
    assert two.endswith("not made yet: prod/1/2/1 is ready")
    assert result.stderr == "2 files; 1 made, 10 kB\n"
    assert answer["folder"] == str(made)
    assert [(file["name"], file["checksum"], file["path"]) for file in answer["files"]] == [
        ("sub/one.root", SUM, str(made / "sub/one.root")), ("two.root", None, None),
    ]  # fmt: skip
    assert "one.root" not in d0ctl("results", "prod:t*").stdout
    assert d0ctl("results", "prod:x*").exit_code == 3
    assert d0ctl("results", "pro*").exit_code == 2


def test_a_result_that_was_delivered_and_is_gone_is_missing(
    site: Site, made: Path, d0ctl: Type
) -> None:
    (made / "sub" / "one.root").unlink()
    with site.store.writing():
        change(site.store, "location", node_id=None)

    gone, _ = d0ctl("results", "prod").stdout.splitlines()

    assert gone.endswith("missing from results/")


@pytest.mark.usefixtures("made")
def test_a_result_that_is_not_made_has_the_word_of_status(d0ctl: Type) -> None:
    d0ctl("hold", "prod")

    assert d0ctl("results", "prod").stdout.endswith(
        "not made yet: prod/1/2/1 is ready, its job is held\n"
    )


def test_a_result_that_can_not_be_made_is_blocked_as_in_status(site: Site, d0ctl: Type) -> None:
    site.submit(production(lines=1))
    site.fail("prod/1/1/1")

    assert "blocked" in d0ctl("status", "prod").stdout
    assert "not made yet: prod/3/1/1 is blocked" in d0ctl("results", "prod").stdout


@pytest.mark.usefixtures("made")
def test_a_copy_is_made_once_and_says_what_is_not_made(d0ctl: Type, tmp_path: Path) -> None:
    target = tmp_path / "copies"

    first = d0ctl("results", "prod", "--copy", str(target))
    again = d0ctl("results", "prod:sub/*", "--copy", str(target), "--json")

    assert (target / "sub" / "one.root").read_bytes() == TEXT
    assert (first.exit_code, first.stdout) == (1, f"copied 1 file, 10 kB, to {target}\n")
    assert first.stderr == (
        "`two.root` was not copied: not made yet: prod/1/2/1 is ready\nd0ctl why prod:two.root\n"
    )
    assert again.exit_code == 0
    assert document(again.stdout) == {
        "folder": str(target), "copied": 0, "kept": 1, "bytes": 0, "failed": [],
    }  # fmt: skip
    assert [path.name for path in (target / "sub").iterdir()] == ["one.root"]


def test_files_that_are_not_copied_for_one_reason_are_counted(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    site.submit(job(("a", [line(package("one.root")), line(package("two.root"))])))
    (site.store.home.results / "prod").mkdir(parents=True)
    for number, name in ((1, "one.root"), (2, "two.root")):
        site.finish(f"prod/1/{number}/1")
        (site.store.home.results / "prod" / name).write_bytes(TEXT)
        with site.store.writing():
            change(site.store, "file", {"name": name}, size=len(TEXT), checksum=SUM)
    (tmp_path / "file").write_text("")

    result = d0ctl("results", "prod", "--copy", str(tmp_path / "file" / "inside"))

    assert result.stderr.startswith("2 files were not copied, such as `one.root`: ")
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.usefixtures("made")
@pytest.mark.parametrize("part", [TEXT[:4000], b"of another file", TEXT + b"more"])
def test_a_copy_that_broke_off_is_completed(d0ctl: Type, tmp_path: Path, part: bytes) -> None:
    begun = result_copies.part_of(tmp_path / "sub" / "one.root")
    begun.parent.mkdir()
    begun.write_bytes(part)

    result = d0ctl("results", "prod:sub/one.root", "--copy", str(tmp_path))

    assert result.exit_code == 0
    assert (tmp_path / "sub" / "one.root").read_bytes() == TEXT
    assert not begun.exists()


def test_a_begun_copy_is_continued_and_not_read_again(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_bytes(b"x" * 4000 + TEXT[4000:])
    result_copies.part_of(target).write_bytes(TEXT[:4000])

    result_copies.copy(source, target, SUM)

    assert target.read_bytes() == TEXT


@pytest.mark.usefixtures("made")
@pytest.mark.parametrize("kind", ["file", "link", "folder"])
def test_another_file_is_never_overwritten(d0ctl: Type, tmp_path: Path, kind: str) -> None:
    mine = tmp_path / "sub" / "one.root"
    mine.parent.mkdir()
    if kind == "file":
        mine.write_text("a person's")
    elif kind == "link":
        mine.symlink_to(tmp_path / "elsewhere")
    else:
        mine.mkdir()
    before = mine.lstat()

    result = d0ctl("results", "prod:sub/one.root", "--copy", str(tmp_path))

    assert result.exit_code == 1
    assert f"another file is at `{mine}`" in result.stderr
    assert (mine.lstat().st_ino, mine.lstat().st_mtime) == (before.st_ino, before.st_mtime)


def test_a_spoilt_result_is_not_copied(made: Path, d0ctl: Type, tmp_path: Path) -> None:
    (made / "sub" / "one.root").write_bytes(TEXT[:-1] + b"x")

    result = d0ctl("results", "prod:sub/one.root", "--copy", str(tmp_path / "to"))

    assert result.exit_code == 1
    assert "differs from its checksum sha256:" in result.stderr
    assert not list((tmp_path / "to" / "sub").iterdir())


def test_a_result_in_a_store_is_fetched_and_checked(
    site: Site, d0ctl: Type, tmp_path: Path
) -> None:
    site.submit(job(("a", [line(package("one.root"))])))
    site.finish("prod/1/1/1")
    stored = {"stored": '["store:tape/run1/one.root"]', "locator": "store:tape/run1/one.root"}
    with site.store.writing():
        change(site.store, "file", {"name": "one.root"}, checksum=SUM, result=0, **stored)
    (tmp_path / "site.yaml").write_text(f"stores: {{tape: {{directory: {tmp_path}/tape}}}}\n")
    d0ctl("site", "apply", str(tmp_path / "site.yaml"), "--yes")
    (tmp_path / "tape" / "run1").mkdir(parents=True)
    (tmp_path / "tape" / "run1" / "one.root").write_bytes(TEXT[::-1])
    spoilt = d0ctl("results", "prod", "--copy", str(tmp_path / "to"))
    (tmp_path / "tape" / "run1" / "one.root").write_bytes(TEXT)

    assert (spoilt.exit_code, "differs from its checksum" in spoilt.stderr) == (1, True)
    assert d0ctl("results", "prod", "--copy", str(tmp_path / "to")).exit_code == 0
    assert (tmp_path / "to" / "one.root").read_bytes() == TEXT
    assert (
        "nothing to copy: 1 file is in"
        in d0ctl("results", "prod", "--copy", str(tmp_path / "to")).stdout
    )
    assert "store:tape/run1/one.root" in d0ctl("results", "prod").stdout


def test_a_folder_is_copied_as_it_is(tmp_path: Path) -> None:
    source, target = tmp_path / "source", tmp_path / "to" / "target"
    (source / "empty").mkdir(parents=True)
    (source / "a.txt").write_text("a")
    (source / "link").symlink_to("a.txt")
    checksum = packing.digest(os.fsencode(source))[1]

    assert result_copies.copy(source, target, checksum) is True
    assert result_copies.copy(source, target, checksum) is False
    assert (target / "link").readlink() == Path("a.txt")
    (target / "a.txt").write_text("b")
    with pytest.raises(Exception, match="another file is at"):
        result_copies.copy(source, target, checksum)


def test_results_are_opened_by_the_program_of_the_desktop(
    made: Path, d0ctl: Type, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bin = tmp_path / "bin"
    bin.mkdir()
    program = bin / "xdg-open"
    program.write_text(f'#!/bin/sh\necho "$1" >> {tmp_path}/opened\n')
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{bin}:{os.environ['PATH']}")

    assert d0ctl("results", "prod", "--open").exit_code == 0
    assert d0ctl("results", "prod:*one.root", "--open").exit_code == 0
    absent = d0ctl("results", "prod:two.root", "--open")
    assert (absent.exit_code, absent.stderr.splitlines()) == (3, [
        "d0ctl: `two.root` can't be opened: not made yet: prod/1/2/1 is ready",
        "d0ctl why prod:two.root",
    ])  # fmt: skip
    assert (tmp_path / "opened").read_text().splitlines() == [str(made), f"{made}/sub/one.root"]
    assert d0ctl("results", "prod", "--open", "--json").exit_code == 2


def test_a_job_that_keeps_no_files_says_which_and_why(real_site: Site) -> None:
    one = jobs.package(jobs.binary("touch all.txt"))
    real_site.drive(real_site.submit(jobs.job("one", [one])))

    text = "`one/1/1/1`: not kept, as the package has no `outputs`: `all.txt`"

    assert text in real_site.d0ctl("results", "one").err
    assert text in real_site.ok("status", "one")
    assert text in real_site.ok("why", "one")


def test_of_several_packages_that_keep_no_files_one_is_named_and_the_others_are_counted(
    real_site: Site,
) -> None:
    packages = [jobs.simple(f"touch {number}.txt") for number in (1, 2, 3)]
    real_site.drive(real_site.submit(jobs.job("one", packages)))

    text = "`one/1/3/1`: not kept, as the package has no `outputs`: `3.txt`; likewise of 2 more "

    assert f"{text}packages\n" in real_site.d0ctl("results", "one").err
    assert text in real_site.ok("why", "one")


@pytest.mark.parametrize("stages", [1, 2])
def test_a_package_that_read_an_old_file_from_outside_is_named(
    real_site: Site, tmp_path: Path, stages: int
) -> None:
    makers, readers = [], []
    for number in (1, 2):
        old = tmp_path / f"gen-{number}.txt"
        old.write_text("old")
        makers.append(jobs.simple(f"echo new > {old.name}"))
        readers.append(jobs.simple(f"cp {old.name} r-{number}.txt", [str(old)],
                                   [f"r-{number}.txt"]))  # fmt: skip
    pairs = zip(makers, readers, strict=True)
    one, reader = jobs.stage(*(jobs.line(*pair) for pair in pairs)), "two/1/1/2"
    spec = jobs.job("two", one)
    if stages == 2:
        spec, reader = jobs.job("two", makers, readers), "two/2/1/1"
    real_site.drive(real_site.submit(spec))

    text = (
        f"`{reader}` read `{tmp_path}/gen-1.txt`, not the file of that name that `two/1/1/1` made, "
        "which was not kept, as that package has no `outputs`; the same is true of other packages"
    )

    assert text in real_site.d0ctl("results", "two").err
    assert text in real_site.d0ctl("wait", "two").err
    assert text in real_site.ok("status", "two")
    assert text in real_site.ok("why", "two")
