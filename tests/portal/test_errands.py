"""Nobody waits for a cluster: the answer is there for whoever asks again."""

import threading
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from cigri.endpoints import BackgroundCalculation, DeferredResponse
from cigri.errors import ClusterUnreachable, TooManyRequests
from modules.portal import deferred_responses as errands_file
from modules.portal.deferred_responses import DeferredResponses, ResponsePending
from tests.waiting import looks

LONG = 120.0  # seconds


@pytest.fixture
def errands() -> Iterator[DeferredResponses]:
    with closing(DeferredResponses()) as errands:
        yield errands


def no_second_time() -> str:
    raise AssertionError("it was begun already")


def come_back(errands: DeferredResponses, key: str) -> object:
    for _ in looks(LONG):
        try:
            return errands.fetch_or_start(key, no_second_time)
        except ResponsePending:
            continue
    raise AssertionError


def held(cluster: str, go: threading.Event, answer: str = "done") -> Callable[[], DeferredResponse[str]]:
    def run(_gateway: object) -> str:
        assert go.wait(LONG)
        return answer

    return lambda: DeferredResponse(cluster, run)


def test_what_needs_no_cluster_is_answered_at_once(errands: DeferredResponses) -> None:
    assert errands.fetch_or_start("question", lambda: "answer") == "answer"


def test_the_answer_waits_for_whoever_has_asked_and_is_given_once(errands: DeferredResponses) -> None:
    go = threading.Event()
    for begin in (held("dahu", go), no_second_time):
        with pytest.raises(ResponsePending):
            errands.fetch_or_start("question", begin)
    go.set()
    assert come_back(errands, "question") == "done"
    assert errands.fetch_or_start("question", lambda: "asked anew") == "asked anew"


def test_one_cluster_is_asked_one_thing_at_a_time_and_others_beside_it(errands: DeferredResponses) -> None:
    slow, quick = threading.Event(), threading.Event()
    quick.set()
    for key, begin in (("1", held("slow", slow)), ("2", held("slow", quick)), ("3", held("other", quick))):
        with pytest.raises(ResponsePending):
            errands.fetch_or_start(key, begin)
    assert come_back(errands, "3") == "done"
    with pytest.raises(ResponsePending):
        errands.fetch_or_start("2", no_second_time)
    slow.set()
    assert come_back(errands, "2") == "done"


def test_what_went_wrong_is_raised_where_it_was_asked(errands: DeferredResponses) -> None:
    def run(_gateway: object) -> str:
        raise ClusterUnreachable("dahu", "no route")

    with pytest.raises(ResponsePending):
        errands.fetch_or_start("question", lambda: DeferredResponse("dahu", run))
    with pytest.raises(ClusterUnreachable, match="no route"):
        come_back(errands, "question")


def test_so_many_questions_and_no_more(errands: DeferredResponses, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errands_file, "MOST_ERRANDS", 1)
    go = threading.Event()
    with pytest.raises(ResponsePending):
        errands.fetch_or_start("1", held("dahu", go))
    with pytest.raises(TooManyRequests):
        errands.fetch_or_start("2", held("dahu", go))
    go.set()
    assert come_back(errands, "1") == "done"


def test_answers_that_nobody_fetches_are_forgotten(errands: DeferredResponses, monkeypatch: pytest.MonkeyPatch) -> None:
    go = threading.Event()
    go.set()
    with pytest.raises(ResponsePending):
        errands.fetch_or_start("1", held("dahu", go))
    monkeypatch.setattr(errands_file, "KEPT_ANSWER", 0.0)
    for _ in looks(LONG):
        errands.fetch_or_start("2", lambda: "")
        try:
            assert errands.fetch_or_start("1", lambda: "asked anew") == "asked anew"
        except ResponsePending:
            continue
        break


def foretold(
    user: str, go: threading.Event, ended: list[str] | None = None
) -> Callable[[], BackgroundCalculation[str]]:
    def run() -> str:
        assert go.wait(LONG)
        return f"of {user}"

    def end() -> None:
        if ended is not None:
            ended.append(user)
        go.set()

    return lambda: BackgroundCalculation(user, run, end)


def test_a_user_has_one_calculation_at_a_time(errands: DeferredResponses) -> None:
    go = threading.Event()
    with pytest.raises(ResponsePending):
        errands.fetch_or_start("1", foretold("alice", go))
    with pytest.raises(TooManyRequests, match="of yours is under way"):
        errands.fetch_or_start("2", foretold("alice", go))
    go.set()
    assert come_back(errands, "1") == "of alice"
    with pytest.raises(ResponsePending):
        errands.fetch_or_start("2", foretold("alice", go))


def test_all_together_have_few(errands: DeferredResponses) -> None:
    go = threading.Event()
    for number in range(errands_file.MOST_CALCULATIONS):
        with pytest.raises(ResponsePending):
            errands.fetch_or_start(number, foretold(f"user{number}", go))
    with pytest.raises(TooManyRequests, match="3 simulations are under way"):
        errands.fetch_or_start("more", foretold("alice", go))
    go.set()


def test_calculations_end_with_the_portal() -> None:
    errands, ended = DeferredResponses(), list[str]()
    for user in ("alice", "bob"):
        with pytest.raises(ResponsePending):
            errands.fetch_or_start(user, foretold(user, threading.Event(), ended))
    errands.close()
    assert sorted(ended) == ["alice", "bob"]
