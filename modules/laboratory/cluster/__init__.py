"""A simulated cluster: its batch system, its nodes, and its front-end."""
