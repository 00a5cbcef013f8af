"""Pages that several commands print, without Typer."""
