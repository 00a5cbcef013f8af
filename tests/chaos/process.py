"""Run `d0ctl` with traps and with short waits: `python -m tests.chaos.process ORDERS ROLE ...`."""

import sys
from pathlib import Path

from d0ctl import cli
from d0ctl.model import Address
from tests.chaos import trap

DRIVERS = ("daemon", "second")
"""The roles of processes that drive."""


def shorten() -> None:
    """Try again soon what waits for seconds or minutes elsewhere: nothing else changes."""
    from d0ctl.daemon import task_worker, transfer_plan
    from d0ctl.daemon.steps import orders
    from d0ctl.nodes import courier, health_check
    from d0ctl.policy import pilots as waits
    from d0ctl.store.attempts import failures
    from d0ctl.store.files import copies

    courier.FIRST_WAIT_S, courier.LONGEST_WAIT_S = 0.1, 0.5
    health_check.SHORTEST_S, health_check.LONGEST_S, health_check.SILENCE_S = 0.3, 0.3, 2.0
    transfer_plan.BUSY_S, orders.PURGE_AGAIN_S, orders.ORDER_AGAIN_S = 0.2, 1.0, 1.0
    copies.RETRY_S, copies.LONGEST_RETRY_S = 0.2, 0.5
    failures.REFUSED_DELAY_S = 0.2
    task_worker.REST_S = 0.3
    waits.UNACCEPTED_S, waits.FIRST_DELAY_S, waits.LONGEST_DELAY_S = 30.0, 1.0, 4.0


def use_traps_here(trapping: str) -> None:
    """Have the relay of this machine started by the python that lays traps, as those of others."""
    from d0ctl.nodes import ship

    plain = ship.command

    def command(address: Address, python: str, path: str) -> str:
        if address.kind == "local":
            return f"exec {trapping} -I -S {path} relay"
        return plain(address, python, path)

    ship.command = command


def use_traps_in_agents(orders: str) -> None:
    """Have agents started by the program that lays traps."""
    from d0ctl.daemon import task_worker

    task_worker.PROGRAM = ("-P", str(Path(__file__).parent / "tasks" / "agent.py"), orders)


def main() -> None:
    """Lay the traps, and run the command."""
    orders, role, python = sys.argv[1:4]
    sys.argv[1:4] = []
    if role in DRIVERS:
        shorten()
        use_traps_here(python)
        use_traps_in_agents(orders)
    trap.lay(orders, role)
    cli.main()


if __name__ == "__main__":
    main()
