"""The life of an attempt, from its launch to what follows its end."""
