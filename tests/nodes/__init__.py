"""The transports against a real sshd, and what they need to know of hosts and keys."""
