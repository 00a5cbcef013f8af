"""A cache that jobs have filled up to its capacity, and the person who makes space in it."""

import re

from tests.support.site import Site

KEEPER = """\
job: {name}
stages:
  - name: make
    lines:
      - for: {{n: [1, 2, 3, 4, 5, 6]}}
        nodes: [farm]
        run: head -c 3000000 /dev/zero > part{{n}}
        outputs: [{{file: "part{{n}}", size: 3MB, disposition: {word}}}]
"""


def test_files_that_stay_until_space_is_needed_stop_no_package(site: Site) -> None:
    site.add("farm")
    site.alone()
    site.start_daemon()
    site.ok("cluster", "set", "farm", "capacity=9MB")
    site.submit(KEEPER.format(name="kept", word="retain-temp"))

    assert site.ok("wait", "kept", "--timeout", "60s") == "`kept` is successful\n"

    assert "of 9.0 MB" in site.ok("report", "disk", "farm")
    left = site.ok("file", "list", "kept").splitlines()
    assert [row.split(maxsplit=5)[5] for row in left] == ["purged"] * 4 + ["on farm"] * 2
    assert "because space was needed" in site.ok("why", "kept:part1")
    assert "stands still" not in site.ok("status")

    # files that a person wants to stay do stop packages
    site.submit(KEEPER.format(name="stay", word="retain-indef"))
    stopped = site.d0ctl("wait", "stay", "--timeout", "60s")
    assert stopped.code == 1, stopped
    assert "of its cache left, needs 3.1 MB" in stopped.out + stopped.err


FILL = """\
job: fill
stages:
  - name: make
    lines:
      - for: {n: [1, 2, 3]}
        nodes: [farm]
        run: head -c 3000000 /dev/zero > part{n}
        outputs: [{file: "part{n}", disposition: retain-temp}]
  - name: sum
    lines:
      - {nodes: [farm], run: "cat {inputs} | wc -c > sum", inputs: [part1, part2], outputs: sum}
"""

READER = """\
job: {name}
hold: {hold}
stages: [{{lines: [{{nodes: [farm], run: "wc -c < {part} > size", inputs: ["fill:{part}"],
                     outputs: size}}]}}]
"""

LARGE = """\
job: {name}
stages: [{{lines: [{{nodes: [{node}], disk: 5MB, run: "echo {name} > out", outputs: out}}]}}]
"""


def test_a_full_cache_holds_packages_until_a_person_frees_what_none_needs(site: Site) -> None:
    for name in ("farm", "other"):
        site.add(name)
    site.alone()
    site.start_daemon()
    site.submit(FILL)
    site.ok("wait", "fill")
    for name, part in (("later", 3), ("never", 1), ("none", 2)):
        site.submit(READER.format(name=name, hold="yes", part=f"part{part}"))
    for name in ("never", "none"):  # these may be tried again, so that only a person removes files
        site.ok("kill", name, "--yes")
    site.ok("cluster", "set", "farm", "capacity=10MB")
    for node in ("farm", "other"):
        site.submit(LARGE.format(name=f"on-{node}", node=node))

    # while it is full, a package that needs space there waits, and the other node goes on
    assert site.ok("wait", "on-other") == "`on-other` is successful\n"
    assert site.phase("on-farm/1/1/1") == "ready"
    answer = site.ok("why", "on-farm/1/1/1")
    assert "is ready, and it waits for disk on `farm`\n" in answer
    assert "- node `farm` has 1.0 MB of its cache of 10 MB left, needs 5.0 MB\n" in answer
    assert "  $ d0ctl node free farm 4MB\n" in answer
    assert "cache of 10 MB: 9.0 MB in use" in site.ok("cluster", "list")

    plan = site.ok("node", "free", "farm", "4MB", "--dry-run").splitlines()
    assert plan[0] == "would free 6.0 MB on `farm`: 2 copies"
    assert [re.sub(r"\d+\.\d s$", "SHORT", line) for line in sorted(plan[1:3])] == [
        "  fill:part1  3.0 MB  was made in SHORT",
        "  fill:part2  3.0 MB  was made in SHORT",
    ]
    assert re.fullmatch(r"2 files would be made again if read: \S+ s of run time", plan[3])
    assert site.phase("on-farm/1/1/1") == "ready"

    assert site.ok("node", "free", "farm", "4MB", "--yes").startswith("freed 6.0 MB on `farm`")
    assert site.ok("wait", "on-farm") == "`on-farm` is successful\n"
    refused = site.d0ctl("node", "free", "farm", "1MB", "--yes")
    assert (refused.code, "nothing in the cache of `farm`" in refused.err) == (4, True), refused

    # the file that a package needs has stayed, and one that was freed is made again to be read
    site.ok("release", "later")
    site.submit(READER.format(name="again", hold="no", part="part1"))
    for job in ("later", "again"):
        assert site.ok("wait", job) == f"`{job}` is successful\n"
        assert site.result(f"{job}/size") == "3000000\n"
    assert site.result("fill/sum") == "6000000\n"
    tries = [len(site.package(f"fill/1/{line}/1")["attempts"]) for line in (1, 2, 3)]
    assert tries == [2, 1, 1]
    assert {outcome for _, outcome, _ in site.attempts()} == {"successful"}
