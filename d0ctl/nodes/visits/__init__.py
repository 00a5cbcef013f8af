"""Short visits to nodes, by read-only relays beside those of the couriers."""
