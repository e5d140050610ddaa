"""What is still to be merged elsewhere; cigri/runtime/__init__.py was this file."""
