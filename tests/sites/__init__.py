"""What real sites do to a grid, on real servers: one file for each kind of it."""
