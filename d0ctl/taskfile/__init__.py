"""The language of task files: datasets, a rule that processes them, and how they are split."""
