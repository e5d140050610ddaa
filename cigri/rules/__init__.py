"""What is still to be merged elsewhere; cigri/lifecycle/__init__.py was this file."""
