"""Why something is as it is: the answer first, then what it rests on, then what to type."""
