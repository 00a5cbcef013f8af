"""Events of other systems."""
