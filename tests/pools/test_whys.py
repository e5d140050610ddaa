from datetime import UTC, datetime

from cigri.eligibility.pools import NO_VERDICT, BucketVerdict, VerdictSummary, pool_on, summarize_verdicts
from cigri.states import QueueRejectCode

NOON, LATER = datetime(2030, 1, 1, 12, tzinfo=UTC), datetime(2030, 1, 1, 13, tzinfo=UTC)

YES = BucketVerdict(None, "", "", "", NOON)
SMALL = BucketVerdict(QueueRejectCode.TOO_SMALL, "mem", ">= 64", "32", LATER)
OTHER = BucketVerdict(QueueRejectCode.DIFFERENT, "gpu", "a100", "none", NOON)


def test_the_first_refusal_is_shown_before_any_yes() -> None:
    assert summarize_verdicts([YES, SMALL, OTHER]) == VerdictSummary(3, 1, SMALL)


def test_a_queue_that_is_eligible_for_all_shows_since_when() -> None:
    assert summarize_verdicts([YES, YES._replace(since=LATER)]) == VerdictSummary(2, 2, YES)


def test_a_queue_that_was_never_judged_says_nothing() -> None:
    assert summarize_verdicts([]) == VerdictSummary(0, 0, NO_VERDICT)


def test_a_bucket_is_judged_elsewhere_as_on_the_first_of_its_clusters() -> None:
    pools = {3: 30, 2: 20}
    assert pool_on(2, pools) == 20
    assert pool_on(7, pools) == 30
