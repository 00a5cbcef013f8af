"""Addresses in a site file, as people write them."""
