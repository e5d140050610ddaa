"""What follows from what: rules that users and operators can look up; pure."""


# The modules without whose passes nothing goes on, in the order in which they hand over to each other.

CYCLE = (
    *("updator", "predictor", "matcher", "stager", "metascheduler", "campaign_schedulers", "runner", "killer"),
    "notifier",
)
