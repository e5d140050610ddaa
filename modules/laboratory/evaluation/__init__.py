"""What a run comes to: its figures, and how near they are to what could have been."""
