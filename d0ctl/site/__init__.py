"""From a site file to what a site is: nodes, clusters, software, and the settings of others."""
