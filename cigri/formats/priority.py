"""The priority of a campaign among those of its owner: higher ones go first."""

from cigri.errors import UsageError

MOST_PRIORITY = 1000
HOW_PRIORITY = f"a whole number from -{MOST_PRIORITY} to {MOST_PRIORITY}"


def require_priority(priority: int) -> int:
    """Raise UsageError for one that is out of bounds."""
    if abs(priority) > MOST_PRIORITY:
        raise UsageError(f"priority {priority}: expected {HOW_PRIORITY}", "priority")
    return priority
