"""The store of inputs: what several send at once is kept once, and of each who has shown that they have it."""

import stat
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from io import BytesIO
from pathlib import Path

import pytest

from cigri.errors import UsageError
from cigri.inputs.store import InputStore

CONTENT = b"what a campaign takes along\n" * 10_000
DIGEST, SIZE = sha256(CONTENT).hexdigest(), len(CONTENT)


@pytest.fixture
def store(tmp_path: Path) -> InputStore:
    return InputStore(tmp_path / "inputs")


def send(store: InputStore, user: str = "alice", content: bytes = CONTENT, offset: int = 0) -> int:
    return store.add(user, DIGEST, offset, BytesIO(content), SIZE)


def kept(store: InputStore) -> bytes:
    with store.open(DIGEST, SIZE) as content:
        return content.read()


def test_many_who_send_the_same_at_once_are_all_answered(store: InputStore) -> None:
    for _ in range(20):
        with ThreadPoolExecutor(8) as threads:
            sent = threads.map(lambda number: send(store, f"user{number % 2}"), range(16))
            counted = threads.map(lambda _: store.arriving("user0") + store.forget_arriving(0.0), range(16))
            assert (set(sent), all(size >= 0 for size in counted)) == ({SIZE}, True)
        assert kept(store) == CONTENT
        store.forget(DIGEST)


def test_what_one_sends_in_parts_another_sends_whole(store: InputStore) -> None:
    assert send(store, content=CONTENT[:100]) == 100
    assert send(store, "bob") == SIZE
    assert send(store, content=CONTENT[100:], offset=100) == SIZE
    assert (kept(store), store.arriving("alice")) == (CONTENT, 0)


def test_nobody_has_sent_what_they_do_not_have(store: InputStore) -> None:
    send(store)
    with pytest.raises(UsageError, match="not the file"):
        send(store, "mallory", b"x" * SIZE)
    assert (kept(store), store.arriving("mallory")) == (CONTENT, 0)


def test_what_came_whole_before_a_crash_gets_its_name_later(store: InputStore) -> None:
    part = store._part("alice", DIGEST)
    part.parent.mkdir(parents=True)
    part.write_bytes(CONTENT)
    assert store.begun("alice", DIGEST) == SIZE
    assert send(store, content=b"", offset=SIZE) == SIZE
    assert kept(store) == CONTENT


def test_a_part_can_be_opened_until_it_has_its_name(store: InputStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """By who sends the same, as another account than root's could not open it otherwise."""
    modes, rename = list[int](), Path.rename

    def watched(path: Path, target: Path) -> Path:
        modes.append(stat.S_IMODE(path.stat().st_mode))
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", watched)
    send(store)
    assert modes == [0o600]
    with store.open(DIGEST, SIZE) as content:
        assert stat.S_IMODE(Path(content.name).stat().st_mode) == 0o400
