"""Options of one submission in the own spelling of a batch system, read by the table of its driver."""
