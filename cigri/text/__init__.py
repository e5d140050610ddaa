"""What is still to be merged elsewhere; cigri/formats/__init__.py was this file."""
