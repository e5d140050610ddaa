"""The modules without whose passes nothing goes on, in the order in which they hand over to each other."""

CYCLE = (
    *("updator", "predictor", "matcher", "stager", "metascheduler", "campaign_schedulers", "runner", "killer"),
    "notifier",
)
