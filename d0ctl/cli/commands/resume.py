"""`d0ctl resume`: let go on what was paused."""

from d0ctl.cli.plain_verb import command

app = command("resume", "Resume paused jobs or packages.")
