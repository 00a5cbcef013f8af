"""The python of a node under test: it runs what it is given, with traps, lies and a boot id.

`node.py ORDERS BOOT PYTHON_OPTIONS PATH relay`, by the python that the options are for.
"""

import os
import runpy
import sys
from functools import partial
from pathlib import Path

ROOT = str(Path(__file__).resolve().parents[2])

sys.path.insert(0, ROOT)
from tests.chaos import middle, trap  # noqa: E402

sys.path.remove(ROOT)

ROLES = {"detach.py": "wrapper", "helpers.py": "helper"}
"""Who a forked process is, by the file that forks it."""


def main() -> None:
    """Be a relay, or stand between a relay and its control host."""
    orders, boot, *words = sys.argv[1:]
    if words[0] == "behind":
        words.pop(0)
    else:
        order = trap.take(orders, "middle")
        if order is not None:
            options = [*words[: words.index("-S") + 1]]
            command = [sys.executable, *options, __file__, orders, boot, "behind", *words]
            sys.exit(middle.stand(command, order, lambda words: trap.note(orders, words)))
    path, *arguments = words[words.index("-S") + 1 :]
    sys.argv = [path, *arguments]
    sys.path.insert(0, path)
    from d0ctl_wrapper.host import process
    from d0ctl_wrapper.relay.attempts import pool

    pool.IDLE_S = 0.2
    process.boot_id = lambda: Path(boot).read_text().strip()
    os.register_at_fork(after_in_child=partial(become_child, orders))
    trap.lay(orders, "relay")
    runpy.run_module("d0ctl_wrapper", run_name="__main__")


def become_child(orders: str) -> None:
    """Have no trap of the parent, but one of one's own; called right from `os.fork`."""
    trap.lift()
    file = Path(sys._getframe(1).f_code.co_filename).name
    if file in ROLES:
        trap.lay(orders, ROLES[file])


if __name__ == "__main__":
    main()
