"""The styles of all looks, kept per screen: computing them for each part takes time."""

LOOKS = (
    *("plain", "faint", "strong", "title", "good", "bad", "warn", "live"),
    *("key", "mark", "match", "command", "cursor", "blurred", "pinned", "stale"),
)
"""The looks that a piece of text can have."""

COMPONENTS = {f"look--{role}" for role in LOOKS}
"""The looks as component classes of a screen; the style sheet gives them to screens of `WITH`."""

WITH = "looks"
"""The class of a screen in which lines are drawn."""
