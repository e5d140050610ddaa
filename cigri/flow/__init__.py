"""All run-time SQL, one file per arrow of the architecture, named <giver>_to_<taker>.

A module imports only arrows that carry its name, or `anyone`; a test forbids the rest. Functions take a Connection
inside the caller's short transaction. `put_` gives across the arrow, `take_` claims, `list_` only reads, `move_`
changes a state by compare-and-set. What needs the time takes `now`; None is the server's clock.
"""
