"""Earlier runs, and what is learned from them."""
