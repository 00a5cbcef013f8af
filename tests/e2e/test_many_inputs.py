"""A merge of ten thousand small files on a real node."""

from tests.support.site import Site

FILES = 10_000

MERGE = """\
job: merge
stages:
  - lines:
      - run: xargs cat < {inputs.list} > all
        inputs: {glob: "parts/*"}
        outputs: all
"""


def test_a_merge_reads_ten_thousand_files_by_their_list(site: Site) -> None:
    site.alone()
    site.add("farm")
    folder = site.jobs / "parts"
    folder.mkdir()
    for number in range(FILES):
        (folder / str(number)).write_text(f"{number}\n")
    site.start_daemon()

    site.submit(MERGE)
    site.submit("job: other\nstages: [{lines: [{run: 'true'}]}]")
    assert site.ok("wait", "other") == "`other` is successful\n"
    assert site.ok("wait", "merge") == "`merge` is successful\n"

    assert sorted(map(int, site.result("merge/all").split())) == list(range(FILES))
    assert site.ask("select outcome from attempt") == [("successful",)] * 2
