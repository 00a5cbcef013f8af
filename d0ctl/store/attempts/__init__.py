"""The life of an attempt, from its launch to the effects of its end."""
