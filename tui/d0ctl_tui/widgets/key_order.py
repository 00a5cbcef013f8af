"""Keys and pastes one after the other: they wait for the first row, and for boxes that open."""

from collections import deque
from collections.abc import Sequence
from typing import Any

from textual import events
from textual.app import App
from textual.screen import Screen
from textual.widget import Widget

from d0ctl_tui.app_events import KeyHandled

Typed = events.Key | events.Paste
"""What a person types: a key, or a pasted text, which waits like a key."""

LOOK_AGAIN_S = 0.5
"""How often a key that waits looks whether the widget that has the one before is still there."""


class KeyOrder(App[None]):
    """Textual sends each key at once to the widget in front, which may still open a box."""

    def __init__(self, *, ansi_color: bool | None = None) -> None:
        super().__init__(ansi_color=ansi_color)
        self._keys: deque[Typed] = deque()
        self._in_hand: KeyHandled | None = None
        self._in_hand_at: Widget | None = None
        self._typed_at: Screen[Any] | None = None
        self._last_sent: Typed | None = None
        self._is_answer = False
        self._takes_keys = False
        self.input_at = 0.0

    async def on_event(self, event: events.Event) -> None:
        """Keep a key or paste until the one before it is handled."""
        if not isinstance(event, Typed) or event.is_forwarded:
            await super().on_event(event)
            return
        self._keys.append(_as_enter(event) if _is(event, "ctrl+j") else event)
        if len(self._keys) == 1:  # else one of them looks again already
            await self._send_next()

    def take_keys(self, *, drops_waiting: bool) -> None:
        """Handle keys from now on, also those that have waited, unless they are dropped."""
        if drops_waiting:
            self._keys.clear()
        self._takes_keys = True
        self.call_later(self._send_next)

    def hand_on(self, keys: Sequence[Typed]) -> None:
        """Give keys that a box got to the screen in front, before all that wait.

        The box is closed, so a key that was sent to it and that it has not handled is one of them.
        """
        late = [] if self._in_hand is None else [self._last_sent]
        again = [*keys, *(key for key in late if key is not None and key not in keys)]
        self._keys.extendleft(map(_unsent, reversed(again)))
        self._in_hand = self._in_hand_at = None
        self.call_later(self._send_next)

    async def on_key_handled(self, message: KeyHandled) -> None:
        """Send the next key, once a screen that was opened by the last one has its focus."""
        if message is not self._in_hand or not self.screen_stack:  # it has none when it ends
            return
        if self.screen is not self._typed_at:
            self._follow_up(self.screen)
            return
        if self._is_answer:  # the field has only now posted it: a second message follows it
            self._is_answer = False
            if self._in_hand_at is not None and self._follow_up(self._in_hand_at):
                self.set_timer(LOOK_AGAIN_S, self._send_next)  # the field may close before
                return
        self._in_hand = self._in_hand_at = None
        await self._send_key()

    async def _send_next(self) -> None:
        """Send a key, unless the one before it is in hand of a widget that is still there."""
        if self._in_hand_at is None or not self._in_hand_at.post_message(KeyHandled()):
            await self._send_key()
        elif self._keys:
            self.set_timer(LOOK_AGAIN_S, self._send_next)

    def before_key(self) -> None:
        """Do what comes before each key."""

    async def _send_key(self) -> None:
        if self._takes_keys and self._keys and self.screen_stack:
            if self.screen.is_modal and self.screen is not self._typed_at:
                self._follow_up(self.screen)  # an answer has opened it: its focus comes first
                self.set_timer(LOOK_AGAIN_S, self._send_next)
                return
            if self._is_leaving and not any(_is(key, "escape") for key in self._keys):
                self.set_timer(LOOK_AGAIN_S, self._send_next)  # a click may close the box
                return
            self.before_key()
            target = self.focused or self.screen
            self._last_sent = self._keys.popleft()
            self._is_answer = _is(self._last_sent, "enter")
            self.input_at = self._last_sent.time
            await super().on_event(self._last_sent)
            self._follow_up(target)

    @property
    def _is_leaving(self) -> bool:
        """Whether the box in front was answered and still searches for the row to go to."""
        return bool(getattr(self.screen, "is_leaving", False))

    def _follow_up(self, target: Widget) -> bool:
        """Send a message after the key: it takes the same way, so it arrives when that is done.

        Return whether the target is still there.
        """
        self._typed_at, self._in_hand, self._in_hand_at = self.screen, KeyHandled(), target
        return target.post_message(self._in_hand)


def _is(typed: Typed, key: str) -> bool:
    """Return whether it is a key of this name."""
    return isinstance(typed, events.Key) and typed.key == key


def _as_enter(typed: Typed) -> Typed:
    """Return an enter, as which a terminal sends ctrl+j before it gives single keys."""
    enter = events.Key("enter", "\r")
    enter.time = typed.time
    return enter


def _unsent(typed: Typed) -> Typed:
    """Return the same key or paste, as one that no widget has got yet."""
    again: Typed
    if isinstance(typed, events.Paste):
        again = events.Paste(typed.text)
    else:
        again = events.Key(typed.key, typed.character)
    again.time = typed.time  # when a person typed it, also if a box has got it before
    return again
