"""Actions on throttles."""
