"""Jobs that run until a test lets them end, and their logs as they are followed."""

from pathlib import Path

from tests.support.site import Site

CHAIN = """\
job: chain
parameters: {{go: {go}}}
stages:
  - lines:
      - packages:
          - binaries:
              - run: |
                  printf 'one \\033[31m\\n'
                  echo 'to err' >&2
                  echo 1/4 >> "$D0CTL_PROGRESS"
                  head -c 100000 /dev/zero > made.bin
                  until [ -e {{go}} ]; do sleep 0.05; done
                  echo last
              - run: 'echo two; printf "no end"'
"""


def start(site: Site, text: str, go: Path) -> str:
    """Start a daemon and a job of one package, and return once that runs; its path."""
    site.start_daemon()
    path = site.submit(text.format(go=go)) + "/1/1/1"
    site.wait_phase(path, "running")
    return path
