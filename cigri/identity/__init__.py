"""Callers, tokens and the peers of unix sockets."""
