"""`d0ctl release`: let what is held be scheduled again."""

from d0ctl.cli.plain_verb import command

app = command("release", "Let held jobs or packages be scheduled again.")
