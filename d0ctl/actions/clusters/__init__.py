"""Actions on clusters."""
