"""Nobody waits for a cluster: the answer is there for whoever asks again."""

import threading
from collections.abc import Callable, Iterator
from contextlib import closing

import pytest

from cigri.endpoints import Calculation, Errand
from cigri.errors import Busy, Unreachable
from modules.portal import deferred_responses as errands_file
from modules.portal.deferred_responses import Errands, NotYet
from tests.waiting import looks

LONG = 120.0  # seconds


@pytest.fixture
def errands() -> Iterator[Errands]:
    with closing(Errands()) as errands:
        yield errands


def no_second_time() -> str:
    raise AssertionError("it was begun already")


def come_back(errands: Errands, key: str) -> object:
    for _ in looks(LONG):
        try:
            return errands.answer(key, no_second_time)
        except NotYet:
            continue
    raise AssertionError


def held(cluster: str, go: threading.Event, answer: str = "done") -> Callable[[], Errand[str]]:
    def run(_gateway: object) -> str:
        assert go.wait(LONG)
        return answer

    return lambda: Errand(cluster, run)


def test_what_needs_no_cluster_is_answered_at_once(errands: Errands) -> None:
    assert errands.answer("question", lambda: "answer") == "answer"


def test_the_answer_waits_for_whoever_has_asked_and_is_given_once(errands: Errands) -> None:
    go = threading.Event()
    for begin in (held("dahu", go), no_second_time):
        with pytest.raises(NotYet):
            errands.answer("question", begin)
    go.set()
    assert come_back(errands, "question") == "done"
    assert errands.answer("question", lambda: "asked anew") == "asked anew"


def test_one_cluster_is_asked_one_thing_at_a_time_and_others_beside_it(errands: Errands) -> None:
    slow, quick = threading.Event(), threading.Event()
    quick.set()
    for key, begin in (("1", held("slow", slow)), ("2", held("slow", quick)), ("3", held("other", quick))):
        with pytest.raises(NotYet):
            errands.answer(key, begin)
    assert come_back(errands, "3") == "done"
    with pytest.raises(NotYet):
        errands.answer("2", no_second_time)
    slow.set()
    assert come_back(errands, "2") == "done"


def test_what_went_wrong_is_raised_where_it_was_asked(errands: Errands) -> None:
    def run(_gateway: object) -> str:
        raise Unreachable("dahu", "no route")

    with pytest.raises(NotYet):
        errands.answer("question", lambda: Errand("dahu", run))
    with pytest.raises(Unreachable, match="no route"):
        come_back(errands, "question")


def test_so_many_questions_and_no_more(errands: Errands, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(errands_file, "MOST_ERRANDS", 1)
    go = threading.Event()
    with pytest.raises(NotYet):
        errands.answer("1", held("dahu", go))
    with pytest.raises(Busy):
        errands.answer("2", held("dahu", go))
    go.set()
    assert come_back(errands, "1") == "done"


def test_answers_that_nobody_fetches_are_forgotten(errands: Errands, monkeypatch: pytest.MonkeyPatch) -> None:
    go = threading.Event()
    go.set()
    with pytest.raises(NotYet):
        errands.answer("1", held("dahu", go))
    monkeypatch.setattr(errands_file, "KEPT_ANSWER", 0.0)
    for _ in looks(LONG):
        errands.answer("2", lambda: "")
        try:
            assert errands.answer("1", lambda: "asked anew") == "asked anew"
        except NotYet:
            continue
        break


def foretold(user: str, go: threading.Event, ended: list[str] | None = None) -> Callable[[], Calculation[str]]:
    def run() -> str:
        assert go.wait(LONG)
        return f"of {user}"

    def end() -> None:
        if ended is not None:
            ended.append(user)
        go.set()

    return lambda: Calculation(user, run, end)


def test_a_user_has_one_calculation_at_a_time(errands: Errands) -> None:
    go = threading.Event()
    with pytest.raises(NotYet):
        errands.answer("1", foretold("alice", go))
    with pytest.raises(Busy, match="of yours is under way"):
        errands.answer("2", foretold("alice", go))
    go.set()
    assert come_back(errands, "1") == "of alice"
    with pytest.raises(NotYet):
        errands.answer("2", foretold("alice", go))


def test_all_together_have_few(errands: Errands) -> None:
    go = threading.Event()
    for number in range(errands_file.MOST_CALCULATIONS):
        with pytest.raises(NotYet):
            errands.answer(number, foretold(f"user{number}", go))
    with pytest.raises(Busy, match="3 simulations are under way"):
        errands.answer("more", foretold("alice", go))
    go.set()


def test_calculations_end_with_the_portal() -> None:
    errands, ended = Errands(), list[str]()
    for user in ("alice", "bob"):
        with pytest.raises(NotYet):
            errands.answer(user, foretold(user, threading.Event(), ended))
    errands.close()
    assert sorted(ended) == ["alice", "bob"]
