"""Whoever asks an endpoint, by the API, a page or a command, is told what the database cannot hold."""

import pytest

from cigri.database import Database
from cigri.endpoints.campaign_changes import hold_campaign
from cigri.endpoints.campaigns import campaign
from cigri.endpoints.dispatch import InProcessClient
from cigri.endpoints.storable_values import LARGEST, require_storable
from cigri.errors import NotFound, UsageError
from cigri.settings.sections import Settings
from tests.callers import ALICE


@pytest.mark.parametrize(
    ("value", "place"),
    [
        (LARGEST + 1, "asked"),
        (-LARGEST - 1, "asked"),
        ("a\0b", "asked"),
        ("\ud800", "asked"),
        ({"a": [1, ("x", "\0")]}, r"asked\.a\[1\]\[1\]"),
        ({"a": {"\0": 1}}, r"asked\.a"),
    ],
    ids=ascii,
)
def test_what_cannot_be_stored_is_named_by_its_place(value: object, place: str) -> None:
    with pytest.raises(UsageError, match=f"^{place}: "):
        require_storable({"fine": 1, "asked": value})


def test_what_can_be_stored_is_let_through() -> None:
    require_storable({"a": LARGEST, "b": "\u00e9\U0001f600\n", "c": [None, True, 1.5, {"d": ()}]})


def test_what_is_nested_too_deeply_is_told() -> None:
    value: object = 1
    for _ in range(100_000):
        value = [value]
    with pytest.raises(UsageError, match="nested too deeply"):
        require_storable({"asked": value})


def test_every_way_of_asking_is_looked_at(database: Database) -> None:
    grid = InProcessClient(database, Settings, ALICE)
    for number, error in ((LARGEST, NotFound), (LARGEST + 1, UsageError)):
        with pytest.raises(error):
            grid.call(campaign, campaign_id=number)
        with pytest.raises(error):
            grid.call(hold_campaign, campaign_id=number)
        with grid.snapshot() as snapshot, pytest.raises(error):
            snapshot.call(campaign, campaign_id=number)
