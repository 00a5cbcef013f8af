"""What is drawn, as plain values: no terminal, no database."""
