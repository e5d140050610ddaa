"""Tasks of a campaign are found by state, place, exit code, node and parameter; a search is bounded, and goes on."""

from typing import Any

import pytest

from cigri.api_models.tasks import FoundTasks
from cigri.database import Database
from cigri.endpoints.dispatch import InProcessClient
from cigri.endpoints.tasks import found_tasks
from cigri.errors import CigriError, Forbidden, NotFound, UsageError
from cigri.flow.archive import archive_campaign
from cigri.identity.callers import Caller
from cigri.settings.sections import Settings
from cigri.states import Outcome
from tests.factories import a_campaign, a_cluster, end_jobs, submitted_jobs

ALICE, BOB = Caller("alice"), Caller("bob")


@pytest.fixture(autouse=True)
def _tasks(database: Database) -> None:
    """0 and 1 are done on dahu, 2 and 3 failed on luke, 4 to 9 wait."""
    with database.begin() as conn:
        dahu, luke = a_cluster(conn, "dahu"), a_cluster(conn, "luke")
        a_campaign(conn, [f"--seed {number} 100%" for number in range(10)], clusters=["dahu", "luke"])
        end_jobs(conn, dahu, submitted_jobs(conn, 1, dahu, 2), node="dahu-1")
        for code, node in ((3, "luke-1"), (4, "luke-2")):
            end_jobs(conn, luke, submitted_jobs(conn, 1, luke, 1), Outcome.FAILURE, exit_code=code, node=node)


def search(database: Database, caller: Caller = ALICE, **asked: Any) -> FoundTasks:
    return InProcessClient(database, Settings, caller).call(found_tasks, campaign_id=1, **asked)


def numbers(database: Database, **asked: Any) -> list[int]:
    return [task.number for task in search(database, **asked).tasks]


BY_ATTEMPT: list[tuple[dict[str, Any], list[int]]] = [
    ({"state": "done"}, [0, 1]),
    ({"state": "failed"}, [2, 3]),
    ({"cluster": "dahu"}, [0, 1]),
    ({"cluster": "luke", "state": "done"}, []),
    ({"exit_code": 4}, [3]),
    ({"node": "luke-1"}, [2]),
    ({"node": "luke"}, []),
    ({"parameter": "SEED 3"}, [3]),
    ({"parameter": "%"}, list(range(10))),
    ({"parameter": "_"}, []),
    ({"state": "failed", "order": "-number"}, [3, 2]),
    ({"first": 1, "last": 3}, [1, 2, 3]),
    ({"after": 2, "last": 4}, [3, 4]),
    ({"after": 2, "order": "-number"}, [1, 0]),
]


@pytest.mark.parametrize(("asked", "expected"), BY_ATTEMPT, ids=str)
def test_tasks_are_found_by_what_is_asked(asked: dict[str, Any], expected: list[int], database: Database) -> None:
    assert numbers(database, **asked) == expected
    with database.begin() as conn:
        archive_campaign(conn, 1)
    assert numbers(database, **asked) == expected, "archived, too"


@pytest.mark.parametrize("asked", [{"exit_code": 4}, {"parameter": "seed 3"}, {"cluster": "luke", "order": "-number"}])
def test_a_search_ends_before_it_takes_long_and_goes_on(
    asked: dict[str, Any], database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = numbers(database, **asked)
    monkeypatch.setattr("cigri.flow.views.task_search.MOST_EXAMINED", 3)
    found, after, rounds = list[int](), None, 0
    while rounds == 0 or after is not None:
        part = search(database, after=after, **asked)
        found, after, rounds = [*found, *(task.number for task in part.tasks)], part.next, rounds + 1
    assert found == whole
    assert rounds == 4


def test_pages_follow_each_other(database: Database) -> None:
    first = search(database, state="waiting", limit=4)
    assert ([task.number for task in first.tasks], first.next) == ([4, 5, 6, 7], 7)
    assert search(database, state="waiting", limit=4, after=7) == FoundTasks(
        first.tasks[:0] + _of(database, 8, 9), None
    )


def _of(database: Database, *wanted: int) -> list[Any]:
    return [task for task in search(database).tasks if task.number in wanted]


def test_large_parameters_make_small_pages(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cigri.flow.views.page_sizes.LARGEST_PAGE", 40)
    for order, pages in (("number", [[4, 5, 6], [7, 8, 9]]), ("-number", [[9, 8, 7], [6, 5, 4]])):
        after = None
        for expected in pages:
            part = search(database, state="waiting", order=order, after=after)
            assert [task.number for task in part.tasks] == expected
            after = part.next
        assert after is None


@pytest.mark.parametrize(
    ("asked", "kind", "words"),
    [
        ({"state": "lost"}, UsageError, "no task is ever in it; there are"),
        ({"cluster": "bigfoot"}, NotFound, "there is no cluster 'bigfoot'"),
        ({"order": "node"}, UsageError, "tasks are sorted by number"),
    ],
)
def test_what_there_is_not_is_refused_in_a_sentence(
    asked: dict[str, Any], kind: type[CigriError], words: str, database: Database
) -> None:
    with pytest.raises(kind, match=words):
        search(database, **asked)


def test_others_find_tasks_and_neither_see_nor_guess_parameters(database: Database) -> None:
    told = search(database, BOB, state="failed")
    assert [(task.number, task.parameter) for task in told.tasks] == [(2, None), (3, None)]
    with pytest.raises(Forbidden, match="not yours"):
        search(database, BOB, parameter="seed")
