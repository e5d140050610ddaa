"""When a campaign ends and when its last task has to start, as dates that others can reckon with; pure."""

from datetime import datetime, timedelta

from cigri.flow.views.campaign_progress import CampaignProgress
from modules.predictor.campaign_estimates import longest, usual

PART = 16  # a date is told anew when it has moved by more than this part of what is left


def pressure(part: CampaignProgress) -> float | None:
    """Seconds along the critical path to the end of a campaign, of all its clusters together; None: nothing is known.

    Its tasks wait for none of the others, so that each path is one task, and the critical one the longest that remains:
    of those that ran before the longest, of the others the median of the longest of so many (estimates.longest), and
    at least the usual. Open-lmake's pressure, for tasks without dependencies (docs/explanation/scheduling.md#dates).
    """
    if not part.remaining:
        return 0.0
    unknown = max(part.remaining - part.known, 0)
    lengths = [part.longest, usual(part) if unknown else None, longest(part, unknown, 0.5) if unknown else None]
    return max((seconds for seconds in lengths if seconds is not None), default=None) if any(lengths) else None


def published_end(before: datetime | None, eta: datetime | None, now: datetime) -> datetime | None:
    """The end as others are told: as `before`, unless it has moved by more than a sixteenth of what was left.

    So of an end an hour away nobody hears that it moves by less than four minutes. None: none was ever known.
    """
    if before is None or eta is None:
        return eta or before
    left = max(before - now, timedelta())
    return eta if abs(eta - before) > left / PART else before
