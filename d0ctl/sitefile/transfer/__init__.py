"""How files get to and from nodes, as the site file says."""
