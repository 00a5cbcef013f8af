"""The attempts of a node: started, adopted, signaled and reaped."""
