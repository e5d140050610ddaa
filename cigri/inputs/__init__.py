"""Files of the submitting host that travel with campaigns: read as their user, kept by the grid under their sums."""
