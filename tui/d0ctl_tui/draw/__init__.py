"""Drawing as plain values: no terminal, no database."""
