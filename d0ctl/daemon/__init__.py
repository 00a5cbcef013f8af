"""The daemon: its loop, its steps, and how it is started and stopped."""
