"""What is still to be merged elsewhere; cigri/api_models/__init__.py was this file."""
