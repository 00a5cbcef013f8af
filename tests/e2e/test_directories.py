"""Directories that are moved between this machine and a node, and end in results/."""

from tests.support.site import Site

JOB = """\
job: dirs
stages:
  - name: plot
    lines:
      - for: {run: {glob: "runs/*/"}}
        run: |
          mkdir -p plots/{run.name}
          cat {run}hits.txt calib/latest > plots/{run.name}/all.txt
          ln -s all.txt plots/{run.name}/first
          echo changed > calib/gains.txt
        inputs: ["{run}", calib/]
        outputs: {file: "plots/{run.name}/", disposition: retain-temp}
        nodes: farm
  - name: merge
    lines:
      - run: |
          mkdir merged
          cat plots/*/first > merged/all.txt
          cat calib/gains.txt >> merged/all.txt
          touch run.sh; chmod +x run.sh; mv run.sh merged
          ls -d {inputs} > inputs.txt
        inputs: [{from: plot}, calib/]
        outputs: [merged/, inputs.txt]
        nodes: localhost
  - name: split
    lines:
      - {run: "mkdir p-1 p-2; touch p-1/x", outputs: {file: "p-*/", late: yes}, nodes: farm}
  - name: count
    lines:
      - {run: "find {inputs} > found.txt", inputs: {from: split}, outputs: found.txt}
"""


def test_directories_are_inputs_and_outputs_on_every_node(site: Site) -> None:
    site.add("farm")
    for run in ("r1", "r2"):
        (site.jobs / "runs" / run).mkdir(parents=True)
        site.write(f"hits {run}\n", f"runs/{run}/hits.txt")
    (site.jobs / "calib").mkdir()
    site.write("gains\n", "calib/gains.txt")
    (site.jobs / "calib" / "latest").symlink_to("gains.txt")

    site.submit(JOB)
    done = site.ok("run", "dirs")

    results = site.home.root / "results" / "dirs"
    assert (results / "merged/all.txt").read_text().splitlines() == [
        "hits r1", "gains", "hits r2", "gains", "gains",
    ]  # fmt: skip
    assert (results / "merged/run.sh").stat().st_mode & 0o100
    names = ["calib/", "plots/r1/", "plots/r2/"]
    assert (results / "inputs.txt").read_text().split() == names
    assert sorted((results / "found.txt").read_text().split()) == ["p-1/", "p-1/x", "p-2/"]
    assert "  merged/\n" in done
    assert "no problems found" in site.ok("doctor", "--nodes")

    site.ok("set-status", "dirs/2", "unscheduled", "--yes")
    site.write("other\n", "calib/gains.txt")
    site.ok("run", "dirs")
    assert (results / "merged/all.txt").read_text().endswith("other\n")

    assert "purged" in site.ok("file", "purge", "dirs:plots/r?/", "--yes")
    assert "on farm" not in site.ok("file", "list", "dirs:plots/r?/")
