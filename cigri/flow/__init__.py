"""All run-time SQL, one file per thing that is handed over: who gives it and who takes it stands in its second line.

`head -2 cigri/flow/*.py` is the data-flow diagram; a test holds these lines against those who import the functions. A
file holds all writes of its thing; what is only looked at is in `views`. Functions take a Connection inside the
caller's short transaction. `put_` gives, `take_` claims, `list_` only reads, `move_` changes a state by
compare-and-set. The time is `func.now()`, which a virtual database answers as it was set; nobody is told another.
"""
