"""A home whose disk fills up while its job runs."""

import subprocess
from contextlib import suppress

from tests.support.site import Site
from tests.support.users import mounted, needs_root

FILLS = """\
job: fills
policy:
  stage-in: {delay: 1s}
  stage-out: {delay: 1s}
  missing-input: {delay: 1s}
  launch-failed: {delay: 1s}
  disk-full: {delay: 1s}
stages:
  - lines:
      - for: {n: {range: [1, 20]}}
        packages:
          - run: 'head -c 300k /dev/zero > "{n}.dat"'
            outputs: [{file: "{n}.dat", disposition: retain-indef}]
"""


@needs_root
def test_a_run_that_fills_the_disk_of_its_home_says_so_and_can_be_continued(
    newcomer: Site,
) -> None:
    with mounted(newcomer.home.root, "3m"):
        newcomer.home.root.chmod(0o700)
        done = newcomer.d0ctl("run", newcomer.write(FILLS))

        assert done.code == 5, done
        assert done.err.splitlines()[-2:] == [
            f"d0ctl: the disk of the home `{newcomer.home.root}` is full",
            f"df -h {newcomer.home.root}",
        ]
        assert sum(newcomer.look().values()) == 20

        subprocess.run(["mount", "-o", "remount,size=64m", newcomer.home.root], check=True)
        newcomer.d0ctl("run", "fills")
        newcomer.d0ctl("retry", "fills:failed", "--yes")
        newcomer.ok("run", "fills")
        assert newcomer.counts("fills") == {"done": 20}
        newcomer.ok("doctor")


@needs_root
def test_status_and_its_check_say_that_the_disk_of_the_home_is_full(newcomer: Site) -> None:
    with mounted(newcomer.home.root, "12m"):
        newcomer.home.root.chmod(0o700)
        newcomer.ok("submit", newcomer.write(FILLS))
        full = f"the disk of the home `{newcomer.home.root}` is full"
        with suppress(OSError), (newcomer.home.root / "filler").open("wb", buffering=0) as filler:
            while True:
                filler.write(bytes(100_000))

        check = newcomer.d0ctl("status", "--check")

        assert (check.code, check.out) == (5, f"stands still: {full}\n")
        status = newcomer.d0ctl("status")
        assert full in " ".join((status.out + status.err).split())
        (newcomer.home.root / "filler").unlink()
        assert full not in newcomer.d0ctl("status", "--check").out
