"""InGrid, use case I: a concatenation that starts with its first input, and ends after its last."""

from tests.support.site import Site
from tests.support.waiting import wait_until

PARTS = 20

CONCATENATE = """\
job: concat
stages:
  - name: parts
    lines:
      - for: {{n: {{range: [1, {parts}]}}}}
        run: |
          while [ ! -e {folder}/go-{{n}} ]; do sleep 0.05; done
          echo {{n}} > part-{{n}}
        outputs: "part-{{n}}"
  - name: concat
    lines:
      - early-start: yes
        nodes: desk
        run: |
          exec 3< {{inputs.list}}
          while :; do
            closed=
            [ ! -e {{inputs.list}}.closed ] || closed=yes
            while read -r part <&3; do cat "$part" >> all; cp all {folder}/seen; done
            [ -z "$closed" ] || break
            sleep 0.1
          done
        inputs: {{from: parts}}
        outputs: all
"""


def go(site: Site, *numbers: int) -> None:
    """Let some of the parts be made."""
    for number in numbers:
        (site.folder / f"go-{number}").touch()


def seen(site: Site) -> list[str]:
    """What has been put together so far."""
    path = site.folder / "seen"
    return path.read_text().split() if path.exists() else []


def start(site: Site) -> None:
    """Two nodes, a daemon, and the concatenation on its way."""
    site.alone()
    site.add("farm", cpus=2)
    site.add("desk", cpus=1)
    site.start_daemon()
    site.submit(CONCATENATE.format(parts=PARTS, folder=site.folder))


def test_a_concatenation_starts_with_input_1_and_ends_after_the_last(site: Site) -> None:
    start(site)

    go(site, 1)
    wait_until(lambda: seen(site) == ["1"], what="the first part is read")
    site.wait_phase("concat/2/1/1", "running")  # its start message may be held for a moment
    go(site, *range(2, PARTS + 1))

    site.ok("wait", "concat")
    merged = (site.home.root / "results" / "concat" / "all").read_text().split()
    assert sorted(merged, key=int) == [str(number) for number in range(1, PARTS + 1)]
    assert merged[0] == "1"
    assert len(site.package("concat/2/1/1")["attempts"]) == 1
    site.ok("doctor")


def test_a_concatenation_goes_on_when_the_daemon_is_killed_and_its_node_is_cut_off(
    site: Site,
) -> None:
    start(site)
    go(site, 1)
    wait_until(lambda: seen(site) == ["1"], what="the first part is read")

    site.kill_daemon()
    go(site, 2)
    site.start_daemon()
    wait_until(lambda: len(seen(site)) == 2, what="the second part is read")
    site.sshds["desk"].cut()
    go(site, *range(3, PARTS + 1))

    site.ok("wait", "concat")
    merged = (site.home.root / "results" / "concat" / "all").read_text().split()
    assert sorted(merged, key=int) == [str(number) for number in range(1, PARTS + 1)]
    assert len(site.package("concat/2/1/1")["attempts"]) == 1


def test_a_drop_of_the_awaited_inputs_lets_a_concatenation_end(site: Site) -> None:
    start(site)
    go(site, *range(1, PARTS))
    wait_until(lambda: len(seen(site)) == PARTS - 1, what="all parts but one are read")

    site.ok("kill-line", f"concat/1/{PARTS}", "--drop-outputs", "--yes")
    site.ok("wait", "concat")

    merged = (site.home.root / "results" / "concat" / "all").read_text().split()
    assert sorted(merged, key=int) == [str(number) for number in range(1, PARTS)]
    assert site.json("status", "concat")["dropped"] == 1


def test_a_concatenation_that_requires_a_part_ends_without_the_lines_that_failed(
    site: Site,
) -> None:
    site.submit(
        """\
job: some
stages:
  - name: parts
    lines:
      - for: {n: {range: [1, 3]}}
        run: test {n} != 2 && echo {n} > part-{n}
        outputs: "part-{n}"
  - name: concat
    require: 60%
    lines:
      - early-start: yes
        run: |
          until [ -e {inputs.list}.closed ]; do sleep 0.1; done
          cat $(cat {inputs.list}) > all
        inputs: {from: parts}
        outputs: all
"""
    )

    site.ok("run", "some")

    merged = (site.home.root / "results" / "some" / "all").read_text().split()
    assert sorted(merged) == ["1", "3"]
    assert site.json("status", "some")["dropped"] == 1
