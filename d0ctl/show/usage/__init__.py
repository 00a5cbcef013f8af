"""What attempts took: as a table, and as a page with plots."""
