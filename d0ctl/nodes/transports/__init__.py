"""Ways to reach a node: a process of this machine, paramiko, or the ssh of the system."""
