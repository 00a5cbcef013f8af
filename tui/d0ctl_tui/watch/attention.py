"""What catches the attention of people who only watch, as part of the app."""


class Attention:
    """What is shown of the many things that happen."""

    shows_all = False
    """Whether the list of changes has all of them, and not only what matters."""

    def show(self) -> None:
        """Update the screen in front, and the one under a box in front."""
        raise NotImplementedError

    def action_all_changes(self) -> None:
        """List all changes, or only what matters."""
        self.shows_all = not self.shows_all
        self.show()
