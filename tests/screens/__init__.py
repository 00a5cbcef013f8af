"""The pictures in docs/screens, made from the real program at work: `python -m tests.screens`."""
