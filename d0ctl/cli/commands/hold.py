"""`d0ctl hold`: keep a job, or packages of it, from being scheduled."""

from d0ctl.cli.plain_verb import command

app = command("hold", "Keep a job or packages from being scheduled.")
