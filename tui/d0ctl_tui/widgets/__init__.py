"""The parts of a screen, one thing each."""
