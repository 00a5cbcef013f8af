"""Recovery from failures: the rules, by themselves."""
