"""A merge of each 20 files on a real node, whole and after a line above it was dropped."""

from pathlib import Path

from tests.support.site import Site
from tests.support.site.commands import EXAMPLES

MERGE = """\
job: mc
stages:
  - name: sim
    lines:
      - for: {n: {range: [1, 45]}}
        run: echo {n} > 'sim {n}.txt'
        outputs: "sim {n}.txt"
  - name: merge
    lines:
      - for: {part: {from: sim, by: 20}}
        run: |
          cat {part} > merged-{part.index}.txt
          for name in {part}; do echo "$name"; done > names-{part.index}.txt
        inputs: [rules.txt, "{part}"]
        check: test $(cat {part} | wc -l) = $(cat merged-{part.index}.txt | wc -l)
        outputs: ["merged-{part.index}.txt", "names-{part.index}.txt"]
      - for: {part: {from: sim, by: 40, whole: yes}}
        run: [sort, -n, -o, "list-{part.index}.txt", "{part}"]
        inputs: "{part}"
        outputs: list-{part.index}.txt
"""


def numbers(path: Path) -> list[int]:
    """The numbers in a result."""
    return [int(line) for line in path.read_text().split()]


def test_each_20_files_are_merged_and_a_dropped_one_leaves_its_group(site: Site) -> None:
    site.add("farm")
    site.alone()
    site.write("not to be merged", "rules.txt")
    site.submit(MERGE, "--hold")

    site.ok("kill-line", "mc/1/22", "--drop-outputs", "--reason", "bad run")
    site.ok("release", "mc")
    site.ok("run", "mc")

    results = site.home.root / "results" / "mc"
    merged = [numbers(results / f"merged-{number}.txt") for number in (1, 2, 3)]
    assert merged == [
        list(range(1, 21)),
        [21, *range(23, 41)],
        list(range(41, 46)),
    ]
    names = (results / "names-2.txt").read_text().splitlines()
    assert names == [f"sim {number}.txt" for number in merged[1]]
    assert numbers(results / "list-1.txt") == [n for n in range(1, 41) if n != 22]


def test_the_example_merges_in_two_steps(site: Site) -> None:
    site.ok("run", EXAMPLES / "merge" / "job.yaml")

    histogram = (site.home.root / "results" / "merge" / "all.txt").read_text().split()
    assert sum(map(int, histogram[1::2])) == 50 * 1000


SPLIT = """\
job: mc
stages:
  - name: split
    lines:
      - for: {n: [1, 2]}
        run: for i in 1 2 3 4 5; do echo {n}$i > part-{n}-$i; done
        outputs: {file: "part-{n}-*", late: yes}
  - name: merge
    lines:
      - for: {part: {from: split, by: 4}}
        run: cat {part} > merged-{part.index}.txt
        inputs: "{part}"
        outputs: {file: "merged-{part.index}.txt", result: yes}
  - name: all
    lines:
      - for: {half: {from: merge, by: 2}}
        run: cat {half} > all-{half.index}.txt
        inputs: "{half}"
        outputs: all-{half.index}.txt
"""


def test_files_whose_number_nobody_knew_are_merged_in_groups(site: Site) -> None:
    site.submit(SPLIT)

    site.ok("run", "mc")

    results = site.home.root / "results" / "mc"
    merged = [numbers(results / f"merged-{number}.txt") for number in (1, 2, 3)]
    assert merged == [[11, 12, 13, 14], [15, 21, 22, 23], [24, 25]]
    assert numbers(results / "all-1.txt") == merged[0] + merged[1]
    assert numbers(results / "all-2.txt") == merged[2]
    site.ok("doctor")


COUNTED = """\
job: split
parameters: {parts: 2}
stages:
  - name: split
    lines:
      - run: for i in $(seq {parts}); do echo $i > part-$i; done
        outputs: {file: "part-*", late: yes}
  - name: reco
    lines:
      - for: {part: {from: split, by: 1}}
        run: cat {part} > reco-{part.index}.txt
        inputs: "{part}"
        outputs: reco-{part.index}.txt
"""


def test_groups_of_late_outputs_that_an_update_would_change_are_kept_by_going_back(
    site: Site,
) -> None:
    site.submit(COUNTED)
    site.ok("run", "split")
    site.ok("update", "split", "--set", "parts=3", "--again")
    site.d0ctl("run", "split")

    whys = [" ".join(site.ok("why", part).split()) for part in ("split", "split/1/1/1")]
    site.ok("update", "split", "--previous")
    site.ok("retry", "split:failed")
    site.ok("run", "split")

    for why in whys:
        assert "the lines of groups stay" in why and "fix the cause" not in why, why
        assert "`d0ctl update split --previous` goes back" in why
    assert site.result("split/reco-2.txt") == "2\n"
    assert site.ok("doctor")
