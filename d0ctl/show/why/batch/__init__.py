"""What jobs of batch systems wait for, in words."""
