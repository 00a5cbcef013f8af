"""Who is told what, in which words, and how it gets there."""
