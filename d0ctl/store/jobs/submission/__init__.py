"""A job on its way into the database."""
