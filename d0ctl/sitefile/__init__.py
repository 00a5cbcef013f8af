"""Read a site file: nodes, clusters, software and settings of a site."""
