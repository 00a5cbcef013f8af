"""The choices of what a list is sorted by."""

from collections.abc import Callable, Mapping
from functools import partial

from msgspec import Struct

from d0ctl_tui.app_interface import AppInterface
from d0ctl_tui.screens.dialogs.search_box import Choice, Finder
from d0ctl_tui.screens.dialogs.search_results import best_first


class Sorting(Struct, frozen=True):
    """What a list can be sorted by, whether the largest comes first, and the present order."""

    orders: Mapping[str, bool]
    order: str
    reverse: bool = False

    @property
    def arrow(self) -> str:
        """The direction: down if the largest comes first."""
        return "↓" if self.orders[self.order] is not self.reverse else "↑"

    @property
    def is_usual(self) -> bool:
        """Whether it is the order without any choice."""
        return self.order == next(iter(self.orders)) and not self.reverse

    def by(self, order: str) -> "Sorting":
        """Return the list in another order; in the same one, the other way round."""
        return Sorting(self.orders, order, order == self.order and not self.reverse)


def choices(
    sorting: Sorting, typed: str, take: Callable[[str, bool], object], kind: str = ""
) -> list[Choice]:
    """Return the orders that contain the typed text, the best match first, else the present one."""
    found = []
    for order in sorted(sorting.orders, key=lambda order: order != sorting.order):
        now = order == sorting.order
        new = sorting.by(order)
        about = "the other way round" if now else "largest first" if new.arrow == "↓" else ""
        if all(word in f"{kind} {order}".lower() for word in typed.lower().split()):
            found.append(Choice(order, about, sorting.arrow if now else "", kind=kind[:7],
                                do=partial(take, order, new.reverse)))  # fmt: skip
    return best_first(found, typed)


def ask_order(
    dashboard: AppInterface, name: str, sorting: Sorting, show: Callable[[], object]
) -> None:
    """Ask for the order of a list, keep it until the dashboard ends, and show the list in it."""

    def take(order: str, reverse: bool) -> None:
        dashboard.orders[name] = order, reverse
        show()

    def done(choice: Choice | None) -> None:
        if choice is not None and choice.do is not None:
            choice.do()

    def find(typed: str) -> list[Choice]:
        return choices(sorting, typed, take)

    title = f"sort {name} by; the same again: the other way round"
    dashboard.app.push_screen(Finder(dashboard, title, find), done)
