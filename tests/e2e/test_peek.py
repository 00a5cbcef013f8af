"""Wrappers that are asked, and the folders of attempts."""

from pathlib import Path

from tests.e2e.following import CHAIN, start
from tests.e2e.terminal import terminal
from tests.support.site import Site
from tests.support.waiting import Pid, wait_until


def test_status_now_asks_the_wrapper(site: Site, place: str, go: Path) -> None:
    path = start(site, CHAIN, go)

    def now() -> "dict[str, object]":
        answer: dict[str, object] = site.json("status", path, "--now")["now"]
        return answer

    wait_until(lambda: now()["line"] == "1/4")
    answer = now()
    assert (answer["state"], answer["phase"], answer["binary"]) == ("running", "running", 1)
    assert (answer["done"], answer["total"], answer["percent"]) == (1, 4, 12.5)
    assert "now    reported" in site.ok("status", path, "--now")

    go.touch()
    site.ok("wait", "chain")
    assert site.json("status", path, "--now")["now"] is None
    assert "no wrapper can be asked" in site.ok("status", path, "--now")


def test_status_now_reports_a_node_that_does_not_answer(site: Site, go: Path) -> None:
    site.add("farm")
    site.alone()
    path = start(site, CHAIN, go)
    site.sshds["farm"].stop()

    for words in (["status", path, "--now"], ["peek", path]):
        done = site.d0ctl(*words)
        assert done.code == 6
        assert len(done.err.splitlines()) == 1 and "this is the state in the database" in done.err
        assert path in done.out
    assert site.d0ctl("logs", "-f", path).code == 6
    assert site.d0ctl("peek", path, "1.out").code == 6

    site.sshds["farm"].start()
    go.touch()
    site.ok("wait", "chain")


def test_a_stopped_wrapper_is_reported_as_silent(site: Site, go: Path) -> None:
    path = start(site, CHAIN, go)
    (record,) = site.folder.glob("**/attempts/*/wrapper")
    wrapper = Pid.of(int(record.read_text().split()[0]))
    assert wrapper
    wrapper.kill(19)

    done = site.d0ctl("status", path, "--now")

    wrapper.kill(18)
    assert done.code == 6
    assert "did not answer within 5 s" in done.err
    go.touch()
    site.ok("wait", "chain")


def test_the_folder_of_an_attempt_is_listed_and_its_files_are_printed(
    site: Site, place: str, go: Path
) -> None:
    path = start(site, CHAIN, go)
    is_written = lambda: any(site.folder.glob("**/attempts/*/work/made.bin"))  # noqa: E731
    wait_until(is_written, what="the file is written")

    answer = site.json("peek", path)
    sizes = {one["file"]: one["size"] for one in answer["files"]}
    assert {"1.out": 10, "1.err": 7}.items() <= sizes.items()
    assert (answer["node"], answer["state"], answer["now"]["phase"]) == (
        place,
        "running",
        "running",
    )
    assert "made.bin" in site.ok("peek", path, "work")

    assert site.ok("peek", path, "1.err") == "to err\n"
    assert site.d0ctl_bytes("peek", path, "made.bin").stdout == bytes(64 * 1024)
    assert "the last 66 kB of 100 kB: --all prints all" in site.d0ctl("peek", path, "made.bin").err
    assert site.d0ctl_bytes("peek", path, "made.bin", "--all").stdout == bytes(100_000)
    assert site.ok("peek", path, "1.err", "--bytes", "4") == "err\n"
    assert site.ok("peek", path, "1.err", "--bytes", "2", "--head") == "to"
    for outside in ("../x", "/etc/passwd", "nothing"):
        assert site.d0ctl("peek", path, outside).code == 3
    with terminal(site, "peek", path, "made.bin") as screen:
        assert screen.end() == 4
        assert "not printed on a terminal" in screen.text

    go.touch()
    site.ok("wait", "chain")
    listed = " ".join(site.ok("peek", path).split())
    assert "1.out" in listed
    assert f"only its outputs are kept, as long as they are needed: d0ctl status {path}" in listed


ENDED = """\
job: ended
stages:
  - lines:
      - run: echo half > debug.log; echo data > kept.txt; exit 3
        outputs: kept.txt
"""


def test_a_removed_working_directory_is_named_with_what_is_kept(site: Site, place: str) -> None:
    site.start_daemon()
    path = site.submit(ENDED) + "/1/1/1"
    site.wait_phase(path, "failed")

    listed = " ".join(site.ok("peek", path).split())
    refused = site.d0ctl("peek", path, "debug.log")

    (kept,) = site.folder.glob("**/cache/*/kept.txt")
    assert "its working directory was removed when it ended; its outputs (5 B) stay in" in listed
    assert refused.code == 3
    assert f"stay in `{kept.parent}` on `{place}` for `keep-failed`" in refused.err


QUIET = """\
job: quiet
stages: [{lines: [{for: {n: [1, 2, 3]}, run: "sleep 0.2", cpus: 2}]}]
"""


def test_no_file_of_a_package_is_older_than_its_launch(site: Site) -> None:
    assert site.d0ctl("run", site.write(QUIET)).code == 0

    for number in (1, 2, 3):
        (attempt,) = site.package(f"quiet/1/{number}/1")["attempts"]
        files = site.json("peek", f"quiet/1/{number}/1")["files"]
        assert min(file["time"] for file in files) >= attempt["launched"], files


def test_an_input_in_the_cache_may_be_seen_and_a_file_of_the_user_may_not(
    site: Site, go: Path
) -> None:
    private = site.folder / "mine"
    private.write_text("private")
    job = """\
job: two
stages:
  - lines: [{run: 'echo made > a', outputs: [a]}]
  - lines:
      - run: 'until [ -e %s ]; do sleep 0.05; done'
        inputs: [a, {file: %s, acquire: none}]
"""
    site.start_daemon()
    path = site.submit(job % (go, private)) + "/2/1/1"
    site.wait_phase(path, "running")

    assert site.ok("peek", path, "a") == "made\n"
    refused = site.d0ctl("peek", path, "work/mine")

    assert refused.code == 3
    assert "the path is outside of the attempt's folder" in refused.err
    go.touch()
    site.ok("wait", "two")


def test_peek_refuses_wrong_arguments(site: Site, go: Path) -> None:
    path = site.submit(CHAIN.format(go=go), "--hold") + "/1/1/1"

    for words in (
        ["status", "chain", "--now"],
        ["status", path, "--now", "--watch"],
        ["peek", path, "x", "--all", "--head"],
        ["peek", path, "x", "--bytes", "4x"],
    ):
        assert site.d0ctl(*words).code == 2, words
    assert site.d0ctl("peek", path).code == 3
    assert site.json("status", path, "--now")["now"] is None
