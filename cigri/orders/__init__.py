"""What is still to be merged elsewhere; cigri/gateway/requests.py was this file."""
