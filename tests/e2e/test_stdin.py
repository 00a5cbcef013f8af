"""Files as standard input of binaries."""

from tests.support.site import Site

JOB = """\
job: stdin
stages:
  - name: sort
    lines:
      - wrapper: start.sh
        binaries:
          - {run: sort > sorted, stdin: cards/in.txt, outputs: sorted}
          - {run: [tee, last, "{inputs}"], stdin: sorted, inputs: [], outputs: last}
      - for: {n: [1, 2]}
        run: "echo {inputs}; cat; read x || echo end"
        stdin: "cards/{n}.txt"
        inputs: [{file: "cards/{n}.txt", as: own.txt}, start.sh]
  - name: sum
    lines:
      - {run: [tee, copy], stdin: last, outputs: copy}
"""


def test_a_file_is_the_standard_input_of_a_binary(site: Site) -> None:
    (site.jobs / "cards").mkdir()
    for name, text in (("in", "b\na\n"), ("1", "one\n"), ("2", "two\n")):
        site.write(text, f"cards/{name}.txt")
    site.write('exec "$D0CTL_CHAIN"\n', "start.sh")

    site.submit(JOB)
    site.ok("run", "stdin")

    assert (site.home.root / "results/stdin/copy").read_text() == "a\nb\n"
    assert site.ok("logs", "stdin/1/3").splitlines()[-3:] == ["start.sh", "two", "end"]
    assert "stdin from own.txt" in site.ok("status", "stdin/1/3/1/1")
    assert "stdin: sorted\n" in site.ok("export", "stdin")
