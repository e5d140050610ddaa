"""What follows from what: rules that users and operators can look up; pure."""


# The modules without whose passes nothing goes on, in the order in which they hand over to each other.

CYCLE = (
    *("updator", "predictor", "matcher", "stager", "metascheduler", "campaign_schedulers", "runner", "killer"),
    "notifier",
)
JANITOR_DEADLINE = 14_400.0  # seconds; the archive of a large campaign takes its time


def longest_pass(module: str, deadline: float) -> float:
    """Seconds that a pass may take: `deadline` in the cycle, more for what the janitor does once a day."""
    return deadline if module in CYCLE else JANITOR_DEADLINE
