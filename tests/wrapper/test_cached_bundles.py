"""Many small inputs come to a cluster in one archive; what of it is whole and right is there, and nothing else is."""

import os
from hashlib import sha256
from pathlib import Path

import pytest

from cigri.errors import UnreadableOutput
from cigri.wrapper.cached_bundles import bundle, parse_taken, take_files
from cigri.wrapper.input_cache import CachedFile, ask_cache, parse_cached

from .cluster import BASE, Cluster

FILES = {sha256(content).hexdigest(): content for content in (bytes([n]) * n * 100 for n in range(50))}


def send(cluster: Cluster, archive: bytes, token: str = "a") -> set[str]:
    return parse_taken([*FILES], cluster.fetch(take_files(BASE, token), archive).as_text)


def there(cluster: Cluster) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in (cluster.base / "cache").iterdir()}


def test_all_of_a_bundle_is_there(cluster: Cluster) -> None:
    for _ in range(2):
        assert send(cluster, bundle(FILES.items())) == set()
    assert there(cluster) == FILES
    state = parse_cached(files := [*map(CachedFile, FILES)], cluster.ask(ask_cache(BASE, files)))
    assert state.held == [None] * len(FILES)
    assert state.free is not None
    assert state.free > 0
    assert not os.access(cluster.base / "cache" / next(iter(FILES)), os.W_OK) or os.geteuid() == 0
    assert (cluster.base / "cache" / next(iter(FILES))).stat().st_mode & 0o777 == 0o500


def test_a_wrong_byte_spoils_one_file_only(cluster: Cluster) -> None:
    spoilt = {**FILES, (wrong := max(FILES)): b"something else"}
    assert send(cluster, bundle(spoilt.items())) == {wrong}
    assert there(cluster) == {sum: content for sum, content in FILES.items() if sum != wrong}


def test_what_came_before_a_bundle_was_cut_is_there(cluster: Cluster) -> None:
    archive = bundle(FILES.items())
    with pytest.raises(UnreadableOutput, match="could not be written"):
        send(cluster, archive[:60_000])  # within a file
    came = there(cluster)
    assert 0 < len(came) < len(FILES)
    assert came.items() <= FILES.items()


def test_what_an_earlier_bundle_has_left_is_removed(cluster: Cluster) -> None:
    left = cluster.base / "cache" / "bundle-old"
    left.mkdir(parents=True)
    (left / "x").write_bytes(b"x")
    send(cluster, bundle(FILES.items()))
    assert there(cluster) == FILES


def test_a_bundle_of_nothing_is_told(cluster: Cluster) -> None:
    with pytest.raises(UnreadableOutput, match="could not be written"):
        send(cluster, b"no archive")
    assert list((cluster.base / "cache").glob("[0-9a-f]" * 64)) == []


def test_a_cache_that_cannot_be_written_is_told(cluster: Cluster) -> None:
    cache: Path = cluster.base / "cache"
    cluster.base.mkdir(parents=True, exist_ok=True)
    cache.write_bytes(b"in the way")
    with pytest.raises(UnreadableOutput, match="could not be written"):
        send(cluster, bundle(FILES.items()))
