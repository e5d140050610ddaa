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
            return errands.fetch_or_start("alice", key, no_second_time)
        except ResponsePending:
            continue
    raise AssertionError


def held(cluster: str, go: threading.Event, answer: str = "done") -> Callable[[], DeferredResponse[str]]:
    def run(_gateway: object) -> str:
        assert go.wait(LONG)
        return answer

    return lambda: DeferredResponse(cluster, run)


def noting(name: str, asked: list[str]) -> Callable[[], DeferredResponse[str]]:
    def run(_gateway: object) -> str:
        asked.append(name)
        return name

    return lambda: DeferredResponse("dahu", run)


def test_what_needs_no_cluster_is_answered_at_once(errands: DeferredResponses) -> None:
    assert errands.fetch_or_start("alice", "question", lambda: "answer") == "answer"


def test_the_answer_waits_for_whoever_has_asked_and_is_given_once(errands: DeferredResponses) -> None:
    go = threading.Event()
    for begin in (held("dahu", go), no_second_time):
        with pytest.raises(ResponsePending):
            errands.fetch_or_start("alice", "question", begin)
    go.set()
    assert come_back(errands, "question") == "done"
    assert errands.fetch_or_start("alice", "question", lambda: "asked anew") == "asked anew"


def test_one_cluster_is_asked_one_thing_at_a_time_and_others_beside_it(errands: DeferredResponses) -> None:
    slow, quick = threading.Event(), threading.Event()
    quick.set()
    for key, begin in (("1", held("slow", slow)), ("2", held("slow", quick)), ("3", held("other", quick))):
        with pytest.raises(ResponsePending):
            errands.fetch_or_start("alice", key, begin)
    assert come_back(errands, "3") == "done"
    with pytest.raises(ResponsePending):
        errands.fetch_or_start("alice", "2", no_second_time)
    slow.set()
    assert come_back(errands, "2") == "done"


def test_what_went_wrong_is_raised_where_it_was_asked(errands: DeferredResponses) -> None:
    def run(_gateway: object) -> str:
        raise ClusterUnreachable("dahu", "no route")

    with pytest.raises(ResponsePending):
        errands.fetch_or_start("alice", "question", lambda: DeferredResponse("dahu", run))
    with pytest.raises(ClusterUnreachable, match="no route"):
        come_back(errands, "question")


def begin(errands: DeferredResponses, user: str, key: str, *what: Callable[[], DeferredResponse[str]]) -> None:
    for number, one in enumerate(what):
        with pytest.raises(ResponsePending):
            errands.fetch_or_start(user, f"{key}{number}", one)


def test_a_user_has_so_many_questions_and_no_more_and_keeps_nobody_from_asking(errands: DeferredResponses) -> None:
    go = threading.Event()
    begin(errands, "alice", "hers", *[held("dahu", go)] * errands_file.MOST_ERRANDS)
    with pytest.raises(TooManyRequests, match="10 questions of yours"):
        errands.fetch_or_start("alice", "more", held("chartreuse", go))
    begin(errands, "bob", "his", held("dahu", go))
    go.set()
    assert come_back(errands, "hers0") == "done"
    assert come_back(errands, "his0") == "done"


def test_the_oldest_answer_that_its_user_does_not_fetch_gives_way(errands: DeferredResponses) -> None:
    go, asked = threading.Event(), list[str]()
    go.set()
    begin(errands, "bob", "his", held("dahu", go))
    begin(errands, "alice", "hers", *[noting("hers", asked)] * errands_file.MOST_ERRANDS)
    assert any(len(asked) == errands_file.MOST_ERRANDS for _ in looks())
    begin(errands, "carol", "last", held("dahu", go))
    assert come_back(errands, "last0") == "done", "behind all of these"
    begin(errands, "alice", "more", held("dahu", go))
    assert errands.fetch_or_start("alice", "hers0", lambda: "asked anew") == "asked anew"
    assert come_back(errands, "hers1") == "hers"
    assert come_back(errands, "his0") == "done"


def test_users_ask_a_cluster_in_turn(errands: DeferredResponses) -> None:
    go, asked = threading.Event(), list[str]()
    begin(errands, "alice", "first", held("dahu", go))
    begin(errands, "alice", "hers", *(noting(name, asked) for name in ("hers 1", "hers 2", "hers 3")))
    begin(errands, "bob", "his", *(noting(name, asked) for name in ("his 1", "his 2")))
    go.set()
    come_back(errands, "hers2")
    assert asked == ["hers 1", "his 1", "hers 2", "his 2", "hers 3"]


def test_the_same_that_is_asked_at_the_same_time_is_asked_once(errands: DeferredResponses) -> None:
    go = threading.Event()

    def overtaken() -> DeferredResponse[str]:
        begin(errands, "alice", "same", held("dahu", go, "of the first"))
        return DeferredResponse("dahu", lambda _: "of the second")

    with pytest.raises(ResponsePending):
        errands.fetch_or_start("alice", "same0", overtaken)
    go.set()
    assert come_back(errands, "same0") == "of the first"


def test_answers_that_nobody_fetches_are_forgotten(errands: DeferredResponses, monkeypatch: pytest.MonkeyPatch) -> None:
    go = threading.Event()
    go.set()
    with pytest.raises(ResponsePending):
        errands.fetch_or_start("alice", "1", held("dahu", go))
    monkeypatch.setattr(errands_file, "KEPT_ANSWER", 0.0)
    for _ in looks(LONG):
        errands.fetch_or_start("alice", "2", lambda: "")
        try:
            assert errands.fetch_or_start("alice", "1", lambda: "asked anew") == "asked anew"
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
        errands.fetch_or_start("alice", "1", foretold("alice", go))
    with pytest.raises(TooManyRequests, match="of yours is under way"):
        errands.fetch_or_start("alice", "2", foretold("alice", go))
    go.set()
    assert come_back(errands, "1") == "of alice"
    with pytest.raises(ResponsePending):
        errands.fetch_or_start("alice", "2", foretold("alice", go))


def test_all_together_have_few(errands: DeferredResponses) -> None:
    go = threading.Event()
    for number in range(errands_file.MOST_CALCULATIONS):
        with pytest.raises(ResponsePending):
            errands.fetch_or_start("alice", number, foretold(f"user{number}", go))
    with pytest.raises(TooManyRequests, match="3 simulations are under way"):
        errands.fetch_or_start("alice", "more", foretold("alice", go))
    go.set()


def test_calculations_end_with_the_portal() -> None:
    errands, ended = DeferredResponses(), list[str]()
    for user in ("alice", "bob"):
        with pytest.raises(ResponsePending):
            errands.fetch_or_start("alice", user, foretold(user, threading.Event(), ended))
    errands.close()
    assert sorted(ended) == ["alice", "bob"]
