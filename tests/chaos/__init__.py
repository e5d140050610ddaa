"""A campaign over four real clusters while parts of all kinds are killed at random, and an account of each task."""
