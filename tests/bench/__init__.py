"""Figures that a person can measure again: `scripts/bench`, one file per benchmark, each with `measure(size)`."""
