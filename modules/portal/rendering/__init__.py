"""What the pages are drawn with."""
