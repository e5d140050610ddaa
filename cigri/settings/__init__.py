"""Settings of the installation and of each cluster: where they are read, and what they may be."""
