"""Inputs under their paths, on a real node: from stages, beside the job file, renamed and flat."""

from tests.support.site import Site

JOB = """\
job: layout
stages:
  - name: reco
    lines:
      - for: {run: [run1, run2]}
        run: echo {run} > {run}/AOD.root
        outputs: "{run}/AOD.root"
  - name: merge
    lines:
      - run: |
          cat {inputs} > merged.txt
          find . ! -type d ! -name found.txt | sort > found.txt
          cat cuts/v2/loose.txt run1/AOD.root db >> merged.txt
          cat {inputs.list} > list.txt
        inputs:
          - {from: reco}
          - cuts/v2/loose.txt
          - {file: cuts/v1/loose.txt, as: db, writable: yes}
          - {glob: "cuts/v?/tight.txt", as: "tight/"}
        outputs: [merged.txt, found.txt, list.txt]
      - run: ls > flat.txt; cat AOD.root loose.txt >> flat.txt
        inputs: [run1/AOD.root, cuts/v2/loose.txt]
        layout: flat
        outputs: flat.txt
"""


def test_inputs_of_one_base_name_are_merged_by_their_paths_and_as_they_are_renamed(
    site: Site,
) -> None:
    site.add("farm")
    site.alone()
    for version in ("v1", "v2"):
        (site.jobs / "cuts" / version).mkdir(parents=True)
        site.write(f"loose {version}\n", f"cuts/{version}/loose.txt")
    site.write("tight\n", "cuts/v1/tight.txt")

    site.submit(JOB)
    site.ok("run", "layout")

    results = site.home.root / "results" / "layout"
    names = ["run1/AOD.root", "run2/AOD.root", "cuts/v2/loose.txt", "db", "tight/tight.txt"]
    assert (results / "list.txt").read_text().split() == names
    found = (results / "found.txt").read_text().split()
    assert sorted(f"./{name}" for name in [*names, "merged.txt"]) == found
    assert (results / "merged.txt").read_text().splitlines() == [
        "run1", "run2", "loose v2", "loose v1", "tight", "loose v2", "run1", "loose v1",
    ]  # fmt: skip
    assert (results / "flat.txt").read_text().splitlines() == [
        "AOD.root", "flat.txt", "loose.txt", "run1", "loose v2",
    ]  # fmt: skip


EARLY = """\
job: early
stages:
  - name: parts
    lines:
      - for: {n: [1, 2]}
        run: echo {n} > p{n}/part
        outputs: "p{n}/part"
  - name: all
    lines:
      - early-start: yes
        run: |
          exec 3< {inputs.list}
          while :; do
            closed=
            [ ! -e {inputs.list}.closed ] || closed=yes
            while read -r part <&3; do echo "$part: $(cat "$part")" >> all; done
            [ -z "$closed" ] || break
            sleep 0.1
          done
        inputs: {from: parts}
        outputs: all
"""


def test_inputs_that_come_after_the_start_keep_their_paths(site: Site) -> None:
    site.submit(EARLY)
    site.ok("run", "early")

    text = (site.home.root / "results" / "early" / "all").read_text()
    assert sorted(text.splitlines()) == ["p1/part: 1", "p2/part: 2"]
