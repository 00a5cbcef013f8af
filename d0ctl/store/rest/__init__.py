"""Who may use the REST interface."""
