"""Commands about tasks and the agents that work on them."""
