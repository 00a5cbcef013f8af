"""Everything that touches a node: transports, the shipped wrapper, relays and their couriers."""
