"""Typed requests to clusters, and who sends them."""
