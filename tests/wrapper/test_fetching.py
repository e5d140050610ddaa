"""Outputs are brought as they are, whatever bytes they hold; what is no plain file is not brought, and holds nobody."""

from collections.abc import Callable

import pytest

from cigri.errors import UnreadableOutput
from cigri.shell.results import RawShellResult
from cigri.wrapper import JobKey
from cigri.wrapper.stream_fetching import FetchedStream, StreamLocation, fetch_outputs, parse_outputs

from .cluster import BASE, Cluster
from .test_hostile import ODD

MOST = 2**20
BYTES = bytes(range(256)) * 10
OUT, ERR = StreamLocation(JobKey(12, 34, 1), 1, "out"), StreamLocation(JobKey(12, 34, 1), 1, "err")
OTHER = StreamLocation(JobKey(12, 34, 2), 1, "out")


@pytest.fixture
def wrote(cluster: Cluster) -> Cluster:
    cluster.write("exit 0", "exit 0")
    (cluster.batch / "1.1.out").write_bytes(BYTES)
    (cluster.batch / "1.1.err").write_bytes(b"")
    (cluster.batch / "2.1.out").write_bytes(b"the other")
    return cluster


def fetch(cluster: Cluster, *places: StreamLocation, offset: int = 0, most: int = MOST) -> list[FetchedStream]:
    return parse_outputs(places, cluster.fetch(fetch_outputs(BASE, places, offset, most)))


def test_outputs_come_as_they_are(wrote: Cluster) -> None:
    missing = StreamLocation(JobKey(12, 34, 2), 7, "err")
    assert fetch(wrote, OUT, missing, ERR, OTHER) == [
        FetchedStream(OUT, len(BYTES), BYTES),
        FetchedStream(missing, None, b""),
        FetchedStream(ERR, 0, b""),
        FetchedStream(OTHER, 9, b"the other"),
    ]


def test_what_has_no_room_is_told_of_another_time(wrote: Cluster) -> None:
    assert fetch(wrote, OTHER, OUT, ERR, most=512 + 512 + 512 + 100) == [
        FetchedStream(OTHER, 9, b"the other"),
        FetchedStream(OUT, len(BYTES), BYTES[:100]),
    ]
    assert fetch(wrote, OTHER, OUT, most=1024) == [FetchedStream(OTHER, 9, b"the other")]


def test_a_large_one_comes_piece_by_piece(wrote: Cluster) -> None:
    (first,) = fetch(wrote, OUT, most=512 + 1000)
    (second,) = fetch(wrote, OUT, offset=1000, most=1000)
    (third,) = fetch(wrote, OUT, offset=2000, most=1000)
    assert first.content + second.content + third.content == BYTES
    assert {piece.size for piece in (first, second, third)} == {len(BYTES)}


@pytest.mark.parametrize("kind", [kind for kind in ODD if kind != "huge"])
@pytest.mark.parametrize("offset", [0, 5])
def test_what_is_no_plain_file_is_not_there(kind: str, offset: int, wrote: Cluster) -> None:
    path = wrote.batch / "1.1.out"
    path.unlink()
    ODD[kind](path)
    assert fetch(wrote, OUT, offset=offset) == [FetchedStream(OUT, None, b"")]


def test_a_huge_one_comes_as_far_as_there_is_room(wrote: Cluster) -> None:
    ODD["huge"](wrote.batch / "1.1.out")
    (piece,) = fetch(wrote, OUT)
    assert (piece.size, len(piece.content)) == (2**40, MOST - 512)


def test_where_nothing_was_ever_written_nothing_is(cluster: Cluster) -> None:
    assert fetch(cluster, OUT, ERR) == [FetchedStream(OUT, None, b""), FetchedStream(ERR, None, b"")]
    assert fetch(cluster, OUT, offset=3) == [FetchedStream(OUT, None, b"")]


def _with_size(stream: bytes, size: bytes) -> bytes:
    """The first head of an archive, with another size, and a sum that fits it."""
    head = bytearray(stream[:512])
    head[124:136] = size.ljust(12, b"\0")
    head[148:156] = b" " * 8
    head[148:156] = b"%06o\0 " % sum(head)
    return bytes(head) + stream[512:]


LIES: dict[str, Callable[[bytes], bytes]] = {
    "no archive": lambda _: b"\xff" * 512,
    "less than nothing": lambda stream: _with_size(stream, b"\xff" * 12),
    "nothing": lambda _: b"",
}


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_is_no_answer(lie: str, wrote: Cluster) -> None:
    answer = wrote.fetch(fetch_outputs(BASE, [OUT], 0, MOST))
    head, newline, stream = answer.out.partition(b"\n")
    with pytest.raises(UnreadableOutput):
        parse_outputs([OUT], answer._replace(out=head + newline + LIES[lie](stream)))


def test_other_files_than_those_asked_for_are_left(wrote: Cluster) -> None:
    answer = wrote.fetch(fetch_outputs(BASE, [OUT], 0, MOST))
    assert parse_outputs([OTHER], answer) == [FetchedStream(OTHER, None, b"")]


@pytest.mark.parametrize("text", [b"", b"cigri-output 1 x\nabc", b"cigri-output 2 3\nabc", b"cigri-outputs 1"])
def test_rubbish_is_no_answer(text: bytes) -> None:
    with pytest.raises(UnreadableOutput, match="said why"):
        parse_outputs([OUT], RawShellResult(1, text, b"said why"))
