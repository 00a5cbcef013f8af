"""Parse YAML into a tree of scalars that know their lines, and collect faults."""
