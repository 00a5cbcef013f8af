"""How long jobs take: by estimates, and in rehearsal."""
