"""P12: files between two nodes: many small ones for a merge, and a large one beside scp."""

import statistics
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

from d0ctl.store import Store, open_store
from tests.bench.bounds import rounds
from tests.bench.measure import PROCESS_PATIENCE_S, Figure, Options
from tests.bench.site import d0ctl, daemon, passing_home, ssh_nodes, wait_done
from tests.bench.throughput import SLOTS
from tests.support import debian_program
from tests.support.sshd import Sshd

ROUNDS = 3

MANY = 400
LARGE = 1_000_000_000

MERGE = """
job: {name}
stages:
  - name: make
    lines:
      - for: {{i: {{range: [1, {many}]}}}}
        nodes: node0
        run: "echo {{i}} > a{{i}}.txt"
        outputs: "a{{i}}.txt"
  - name: merge
    lines:
      - nodes: node1
        run: "cat {{inputs}} > all.txt"
        inputs: {{from: make}}
        outputs: [{{file: all.txt, disposition: deletable}}]
"""

COPY = """
job: {name}
stages:
  - name: make
    lines:
      - {{nodes: node0, run: "head -c {large} /dev/urandom > large.raw", outputs: large.raw}}
  - name: use
    lines:
      - {{nodes: node1, run: "wc -c < large.raw", inputs: large.raw}}
"""

GAP = """
select (select min(attempt.started)
          from attempt join package on package.id = attempt.package_id
         where package.job_id = :job and package.stage_id = (select max(id) from stage))
       - (select max(attempt.ended)
            from attempt join package on package.id = attempt.package_id
           where package.job_id = :job and package.stage_id < (select max(id) from stage))
"""
"""From the end of the last maker to the start of the package that reads its file."""


def measure(options: Options) -> Iterator[Figure]:
    """How long a merge waits for its files, and the rates of a large file."""
    gaps, rates, others = [], [], []
    with passing_home() as home, ssh_nodes(home, 2, cpus=SLOTS) as sshds:
        with daemon(home, 2), open_store(home) as store:
            jobs = iter(range(1, 100))

            def gap(text: str, count: int) -> float:
                number = next(jobs)
                path = home.root.parent / "bench.yaml"
                path.write_text(text.format(name=f"bench{number}", many=MANY, large=LARGE))
                words = d0ctl(home, "submit", path)
                subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
                wait_done(store, count, number)
                return _gap(store, number)

            for _ in rounds(ROUNDS, options.within_s / 4):
                gaps.append(gap(MERGE, MANY + 1))
            for _ in rounds(ROUNDS, options.within_s / 4):
                rates.append(LARGE / gap(COPY, 2) / 1e6)
                others.append(LARGE / scp(home.root.parent, sshds[1]) / 1e6)
    yield Figure(
        "P12", f"merge of {MANY} small files of another node, its wait", statistics.median(gaps),
        "s", "0.3 s", f"{min(gaps):.2f} to {max(gaps):.2f}",
    )  # fmt: skip
    for what, found, budget in (
        ("1 GB from node to node", rates, "scp x0.8"),
        ("peer: scp of 1 GB, one hop", others, ""),
    ):
        rate, spread = statistics.median(found), f"{min(found):.0f} to {max(found):.0f}"
        yield Figure("P12", what, rate, "MB/s", budget, spread)
    ratio = statistics.median(rates) / statistics.median(others)
    yield Figure("P12", "  d0ctl as a part of scp", ratio, "")


def _gap(store: Store, job: int) -> float:
    gap: float = store.connection.execute(GAP, {"job": job}).fetchone()[0]
    return gap


def scp(folder: Path, sshd: Sshd) -> float:
    """Seconds of scp for a large file into the folder of a node."""
    source = folder / "scp.raw"
    with source.open("wb") as file:
        subprocess.run(["head", "-c", str(LARGE), "/dev/urandom"], check=True, stdout=file)
    program = debian_program("scp", "openssh-client")
    settings = ("IdentitiesOnly=yes", "StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null")
    options = [word for setting in settings for word in ("-o", setting)]
    words = ["-q", "-F", "none", "-i", str(sshd.identity), "-P", str(sshd.port), *options]
    target = f"{sshd.user}@{sshd.address}:{sshd.folder}/scp.raw"
    began = time.monotonic()
    subprocess.run(
        [str(program), *words, str(source), target],
        check=True,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=PROCESS_PATIENCE_S,
    )
    took = time.monotonic() - began
    source.unlink()
    (sshd.folder / "scp.raw").unlink()
    return took
