"""What Python prints of an exception, for people who did not write the program."""

TRACEBACK = "Traceback (most recent call last):"


def gist(error: str) -> str:
    """Of a traceback the line that names the exception; what may follow it are details."""
    last = error.rpartition(TRACEBACK)[2]
    return next((line for line in last.splitlines() if line.strip() and not line[0].isspace()), "")
