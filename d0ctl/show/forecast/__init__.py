"""How long jobs take: as estimated from what is known, and in rehearsal."""
