"""The names of keys, as people read them."""

from textual.keys import key_to_character


def shown(key: str) -> str:
    """Return a key as people read it."""
    return NAMES.get(key) or sign_of(key)


def sign_of(key: str) -> str:
    """Return the character of a key; its name if that can't be seen."""
    sign = key_to_character(key) or NAMES.get(key, "")
    return sign if len(sign) == 1 and sign.isprintable() and sign != " " else key


NAMES = {
    "question_mark": "?", "slash": "/", "colon": ":", "apostrophe": "'", "space": "space",
    "asterisk": "*", "minus": "-", "plus": "+", "escape": "esc", "pageup": "pgup",
    "pagedown": "pgdn", "ctrl+p": "^p", "ctrl+z": "^z", "ctrl+l": "^l", "greater_than_sign": ">",
    "ctrl+f": "^f", "ctrl+b": "^b", "ctrl+d": "^d", "ctrl+u": "^u", "ctrl+s": "^s",
    "backspace": "bksp", "up": "up", "ctrl+q": "^q", "shift+tab": "shift-tab",
    "exclamation_mark": "!", "vertical_line": "|", "right_square_bracket": "]",
    "left_square_bracket": "[", "equals_sign": "=", "comma": ",", "at": "@", "full_stop": ".",
}  # fmt: skip
