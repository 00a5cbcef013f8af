"""An agent process with traps and short waits: `python agent.py ORDERS HOME`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[3]))

from d0ctl.agents import __main__ as agents
from d0ctl.agents import feeder
from d0ctl.agents import round as rounds
from d0ctl.store.tasks import state
from tests.chaos import trap


def main() -> None:
    """Shorten what waits for seconds or minutes elsewhere, lay the traps, and work."""
    agents.IDLE_S, agents.REST_S, rounds.REST_S = 0.5, 0.3, 0.3
    feeder.FIRST_REST_S, feeder.LONGEST_REST_S = 0.1, 0.5
    state.LONGEST_HOLD_S = 1.0  # one that is frozen for longer loses its tasks to others
    trap.lay(sys.argv.pop(1), "agent")
    agents.main()


if __name__ == "__main__":
    main()
