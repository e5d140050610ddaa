"""How long, how fast, when: what can be said of the future from what was measured; pure."""
