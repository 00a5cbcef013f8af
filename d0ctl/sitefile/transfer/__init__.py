"""How files get to and from nodes, according to the site file."""
