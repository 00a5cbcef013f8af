"""The resources that attempts used: as a table, and as a page with plots."""
