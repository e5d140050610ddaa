"""Inputs come to a cluster piece by piece, and have their name only when all of them is there and right."""

import io
import os
import tarfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from cigri.errors import UnreadableOutput
from cigri.wrapper.input_cache import (
    CachedFile,
    ask_cache,
    drop_files,
    finish_file,
    parse_cached,
    parse_dropped,
    parse_finished,
    parse_held,
    take_piece,
)

from .cluster import BASE, Cluster

CONTENT = bytes(range(256)) * 100
FILE = CachedFile(sha256(CONTENT).hexdigest())


def held(cluster: Cluster, *files: CachedFile) -> list[int | None]:
    return parse_cached(files, cluster.ask(ask_cache(BASE, files))).held


def send(cluster: Cluster, file: CachedFile, offset: int, content: bytes, promised: int = 0) -> int:
    script = take_piece(BASE, file, offset, promised or len(content))
    return parse_held(cluster.fetch(script, content).as_text)


def finish(cluster: Cluster, file: CachedFile) -> bool:
    return parse_finished(cluster.ask(finish_file(BASE, file)))


def cache(cluster: Cluster) -> Path:
    return cluster.base / "cache"


def packed(**members: bytes) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size, member.mode = len(content), 0o755
            archive.addfile(member, io.BytesIO(content))
    return stream.getvalue()


def test_a_file_comes_piece_by_piece(cluster: Cluster) -> None:
    assert held(cluster, FILE) == [0]
    assert send(cluster, FILE, 0, CONTENT[:1000]) == 1000
    assert held(cluster, FILE) == [1000]
    assert send(cluster, FILE, 1000, CONTENT[1000:]) == len(CONTENT)
    assert held(cluster, FILE) == [len(CONTENT)]
    assert finish(cluster, FILE)
    assert held(cluster, FILE) == [None]
    assert (cache(cluster) / FILE.name).read_bytes() == CONTENT
    assert (cache(cluster) / FILE.name).stat().st_mode & 0o777 == 0o500
    assert cache(cluster).stat().st_mode & 0o077 == 0
    assert finish(cluster, FILE), "it may be asked again"


def test_an_empty_file_is_a_file(cluster: Cluster) -> None:
    nothing = CachedFile(sha256().hexdigest())
    assert send(cluster, nothing, 0, b"") == 0
    assert finish(cluster, nothing)
    assert (cache(cluster) / nothing.name).read_bytes() == b""


def test_a_piece_that_was_cut_goes_on_from_there(cluster: Cluster) -> None:
    assert send(cluster, FILE, 0, CONTENT[:700], promised=1000) == 700
    assert held(cluster, FILE) == [700]


def test_a_piece_for_another_place_is_not_taken(cluster: Cluster) -> None:
    """As when its answer was lost, and it is sent once more."""
    send(cluster, FILE, 0, CONTENT[:1000])
    assert send(cluster, FILE, 0, CONTENT[:1000]) == 1000
    assert send(cluster, FILE, 2000, CONTENT[2000:]) == 1000
    assert held(cluster, FILE) == [1000]


def test_what_is_not_the_file_is_removed(cluster: Cluster) -> None:
    send(cluster, FILE, 0, CONTENT[:-1] + b"x")
    assert not finish(cluster, FILE)
    assert held(cluster, FILE) == [0]
    assert list(cache(cluster).iterdir()) == []


@pytest.mark.parametrize("does", ["exit 127", "cat >/dev/null; exit 1", "echo 'unknown option -r' >&2; exit 1"])
def test_an_openssl_that_does_not_tell_the_sum_is_no_harm(cluster: Cluster, does: str) -> None:
    program = cluster.home / "bin" / "openssl"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\n>>"$HOME/asked"\n{does}\n')
    program.chmod(0o755)
    cluster.environment["PATH"] = f"{program.parent}:{cluster.environment['PATH']}"
    send(cluster, FILE, 0, CONTENT)
    assert finish(cluster, FILE)
    assert (cluster.home / "asked").exists()


def test_a_directory_is_unpacked_and_nobody_changes_it(cluster: Cluster) -> None:
    content = packed(**{"a": b"first", "-b c\n'": b"second"})
    file = CachedFile(sha256(content).hexdigest(), is_packed=True)
    (cache(cluster) / f"{file.sha256}.new").mkdir(parents=True)  # somebody was killed here
    (cache(cluster) / f"{file.sha256}.new" / "half").write_text("half")
    send(cluster, file, 0, content)
    assert finish(cluster, file)
    place = cache(cluster) / file.name
    assert {path.name: path.read_bytes() for path in place.iterdir()} == {"a": b"first", "-b c\n'": b"second"}
    assert not any(path.stat().st_mode & 0o222 for path in (place, *place.iterdir()))
    assert held(cluster, file) == [None]
    assert [path.name for path in cache(cluster).iterdir()] == [file.name]
    assert finish(cluster, file), "it may be asked again"


@pytest.mark.parametrize(
    "plant",
    [
        pytest.param(os.mkfifo, id="FIFO"),
        pytest.param(os.mkdir, id="directory"),
        pytest.param(lambda path: path.symlink_to("/dev/zero"), id="device"),
        pytest.param(lambda path: path.symlink_to(path.parent.parent / "victim"), id="link"),
    ],
)
def test_what_somebody_puts_in_its_place_holds_nobody(cluster: Cluster, plant: Callable[[Path], None]) -> None:
    cache(cluster).mkdir(parents=True)
    victim = cluster.base / "victim"
    victim.write_bytes(b"untouched")
    plant(cache(cluster) / f"{FILE.sha256}.part")
    assert held(cluster, FILE) == [0]
    assert not finish(cluster, FILE)
    plant(cache(cluster) / f"{FILE.sha256}.part")
    assert send(cluster, FILE, 0, CONTENT) == len(CONTENT)
    assert finish(cluster, FILE)
    assert victim.read_bytes() == b"untouched"


def test_what_nobody_needs_is_removed(cluster: Cluster) -> None:
    content = packed(a=b"first")
    directory, half = CachedFile(sha256(content).hexdigest(), is_packed=True), CachedFile("a" * 64)
    parse_dropped(cluster.ask(drop_files(BASE, [FILE])))
    send(cluster, FILE, 0, CONTENT)
    send(cluster, directory, 0, content)
    send(cluster, half, 0, b"half")
    assert finish(cluster, FILE)
    assert finish(cluster, directory)
    parse_dropped(cluster.ask(drop_files(BASE, [FILE, directory, half])))
    assert [*cache(cluster).iterdir()] == []


def test_a_link_is_no_file_of_the_cache(cluster: Cluster) -> None:
    cache(cluster).mkdir(parents=True)
    (cache(cluster) / FILE.name).symlink_to("/etc/passwd")
    assert held(cluster, FILE) == [0]


def test_a_place_that_cannot_be_written_is_told(cluster: Cluster) -> None:
    cluster.base.parent.mkdir(parents=True)
    cluster.base.write_text("no directory")
    with pytest.raises(UnreadableOutput, match="could not be written"):
        send(cluster, FILE, 0, CONTENT)
    assert held(cluster, FILE) == [0]
    with pytest.raises(UnreadableOutput, match="put in its place"):
        finish(cluster, FILE)
