"""What is still to be merged elsewhere; cigri/shell/__init__.py was this file."""
