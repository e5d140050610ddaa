"""What is only looked at: no file here writes anything."""
