"""The laboratory: the real modules in virtual time, against simulated clusters."""
