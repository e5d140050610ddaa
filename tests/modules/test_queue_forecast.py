"""Where nothing of a campaign runs its end is not before a batch system starts the first job, or there is none."""

from datetime import timedelta

import pytest

from cigri.flow.waiting_reasons import QueueOutlook
from modules.predictor.eta.campaign_end import EndInterval
from modules.predictor.eta.queue_forecast import heed
from tests.factories import NOON
from tests.modules.test_predictor import progress

END = EndInterval(60.0, 100.0, 200.0)
HOUR = 3600.0


def heeded(outlook: QueueOutlook) -> dict[int, EndInterval]:
    whole = progress(durations=(10.0,), remaining=2)
    return heed({1: END, 2: END}, {1: whole, 2: whole}, {1: outlook, 3: outlook}, NOON)


@pytest.mark.parametrize("seconds", [-HOUR, 10.0])
def test_a_start_that_is_soon_changes_nothing(seconds: float) -> None:
    soon = QueueOutlook(NOON + timedelta(seconds=seconds), False)
    assert heeded(soon)[1].low == END.low
    assert heeded(soon)[2] == END


def test_a_late_start_moves_the_end_and_its_upper_bound() -> None:
    low, expected, high = heeded(QueueOutlook(NOON + timedelta(seconds=HOUR), False))[1]
    assert low == END.low
    assert HOUR <= expected == high


def test_where_nothing_is_said_nothing_changes_and_in_vain_there_is_no_end() -> None:
    assert heeded(QueueOutlook(None, False)) == {1: END, 2: END}
    assert heeded(QueueOutlook(None, True)) == {2: END}
