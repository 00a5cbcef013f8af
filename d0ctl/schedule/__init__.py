"""Pure: takes a snapshot of ready packages and free nodes, and returns decisions."""
