"""Everything that reaches nodes: transports, the shipped wrapper, relays and their couriers."""
