"""Tasks: their rows, and every change that an agent or a verb makes of them."""
