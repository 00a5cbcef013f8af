"""Whether database, home and nodes are as they must be; it only looks, and delays nobody."""
