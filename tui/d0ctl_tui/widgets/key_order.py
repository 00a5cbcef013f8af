"""Keys one after the other: those typed while a box opens are for the box."""

import time
from collections import deque
from typing import Any

from textual import events
from textual.app import App
from textual.screen import Screen
from textual.widget import Widget

from d0ctl_tui.app_events import KeyHandled

PATIENCE_S = 1.0
"""How long a key may take before the next one no longer waits for it."""


class KeyOrder(App[None]):
    """Textual sends each key at once to the widget in front, which may still open a box."""

    def __init__(self, *, ansi_color: bool | None = None) -> None:
        super().__init__(ansi_color=ansi_color)
        self._keys: deque[events.Key] = deque()
        self._in_hand: KeyHandled | None = None
        self._in_hand_since = 0.0
        self._typed_at: Screen[Any] | None = None

    async def on_event(self, event: events.Event) -> None:
        """Keep a key until the one before it is handled."""
        if not isinstance(event, events.Key) or event.is_forwarded:
            await super().on_event(event)
            return
        self._keys.append(event)
        if self._in_hand is not None:
            self.set_timer(PATIENCE_S, self._send_late)
        await self._send_late()

    async def on_key_handled(self, message: KeyHandled) -> None:
        """Send the next key, once a screen that was opened by the last one has its focus."""
        if message is not self._in_hand or not self.screen_stack:  # it has none when it ends
            return
        if self.screen is not self._typed_at:
            self._follow_up(self.screen)
            return
        self._in_hand = None
        await self._send_key()

    async def _send_late(self) -> None:
        """Send a key unless the one before it is in hand: a widget that closes loses messages."""
        if self._in_hand is None or time.monotonic() - self._in_hand_since > PATIENCE_S:
            await self._send_key()

    async def _send_key(self) -> None:
        if self._keys and self.screen_stack:
            self._in_hand_since = time.monotonic()
            target = self.focused or self.screen
            await super().on_event(self._keys.popleft())
            self._follow_up(target)

    def _follow_up(self, target: Widget) -> None:
        """Send a message after the key: it takes the same way, so it arrives when that is done."""
        self._typed_at, self._in_hand = self.screen, KeyHandled()
        target.post_message(self._in_hand)
