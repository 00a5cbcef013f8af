"""Packages that failed alike: what they have in common, and what may be done about them."""
