"""Outputs are brought as they are, by whatever names; what is no plain file is not brought, and holds nobody."""

import io
import os
import tarfile
from collections.abc import Callable

import pytest

from cigri.errors import UnreadableOutput
from cigri.formats.untrusted_text import leads_below
from cigri.shell.results import RawShellResult, ShellResult
from cigri.wrapper import JobKey
from cigri.wrapper.output_fetching import (
    MANY,
    OutputDirectory,
    OutputFilePart,
    RemoteOutputFile,
    drop_parcels,
    fetch_files,
    fetch_part,
    parse_dropped,
    parse_files,
    parse_rest,
)

from .cluster import BASE, Cluster
from .test_hostile import ODD

MOST = 2**20
FIRST, SECOND = OutputDirectory(JobKey(12, 34, 1), 1), OutputDirectory(JobKey(12, 34, 2), 1)
NAMES = [b"a b", b"-n", b"it's", b"\xff\xfe", b"new\nline", b"log/a.txt", "é".encode(), b"*", b"a\\b", b"d" * 250]


def put(cluster: Cluster, parcel: OutputDirectory, path: bytes, content: bytes) -> None:
    place = os.fsencode(cluster.base / parcel.name) + b"/" + path
    os.makedirs(os.path.dirname(place), exist_ok=True)
    with open(place, "wb") as file:
        file.write(content)


def fetch(
    cluster: Cluster, *parcels: OutputDirectory, behind: RemoteOutputFile | None = None, most: int = MOST
) -> list[tuple[bytes, int | None, bytes]]:
    pieces = parse_files(parcels, cluster.fetch(fetch_files(BASE, parcels, behind, most)))
    return [(piece.file.path, piece.size, piece.content) for piece in pieces]


def rest(cluster: Cluster, path: bytes, offset: int = 0, most: int = MOST) -> list[OutputFilePart]:
    file = RemoteOutputFile(FIRST, path)
    return parse_rest(file, cluster.fetch(fetch_part(BASE, file, offset, most)))


def test_files_come_by_their_names_however_these_are(cluster: Cluster) -> None:
    for name in NAMES:
        put(cluster, FIRST, name, b"in " + name)
        put(cluster, SECOND, name, b"")
    told = [(name, len(name) + 3, b"in " + name) for name in NAMES]
    assert sorted(fetch(cluster, FIRST)) == sorted(told)
    assert len(fetch(cluster, FIRST, SECOND)) == 2 * len(NAMES)


def test_one_goes_on_behind_what_one_has(cluster: Cluster) -> None:
    for name in NAMES:
        put(cluster, FIRST, name, b"x" * 100)
    seen: list[bytes] = []
    while answer := fetch(cluster, FIRST, behind=RemoteOutputFile(FIRST, seen[-1]) if seen else None, most=3 * 1024):
        seen += [name for name, *_ in answer]
    assert sorted(seen) == sorted(NAMES)


def test_a_large_one_comes_piece_by_piece(cluster: Cluster) -> None:
    content = bytes(range(256)) * 40
    for name in NAMES:
        put(cluster, FIRST, name, content)
        (piece,) = rest(cluster, name, 1000, 500)
        assert (piece.size, piece.content) == (len(content), content[1000:1500])
    ((_, size, begin),) = fetch(cluster, FIRST, most=2000)
    assert size == len(content)
    assert content.startswith(begin)
    assert len(begin) == 2000 - 512


@pytest.mark.parametrize("kind", [kind for kind in ODD if kind != "huge"])
def test_what_is_no_plain_file_is_not_brought(cluster: Cluster, kind: str) -> None:
    put(cluster, FIRST, b"good", b"x")
    ODD[kind](cluster.base / FIRST.name / "odd")
    told = fetch(cluster, FIRST)
    assert (b"good", 1, b"x") in told
    assert b"odd" not in {name for name, *_ in told}
    assert rest(cluster, b"odd") == []


def test_no_link_is_followed(cluster: Cluster) -> None:
    put(cluster, FIRST, b"good", b"x")
    (cluster.home / "secret").mkdir()
    (cluster.home / "secret" / "key").write_text("mine")
    (cluster.base / FIRST.name / "way").symlink_to(cluster.home / "secret")
    (cluster.base / SECOND.name).parent.mkdir(parents=True, exist_ok=True)
    (cluster.base / SECOND.name).symlink_to(cluster.home / "secret")
    assert fetch(cluster, FIRST, SECOND) == [(b"good", 1, b"x")]
    assert rest(cluster, b"way/key") == []


def test_a_second_name_of_a_file_is_asked_for_alone(cluster: Cluster) -> None:
    put(cluster, FIRST, b"a", b"content")
    (cluster.base / FIRST.name / "b").hardlink_to(cluster.base / FIRST.name / "a")
    assert fetch(cluster, FIRST) == [(b"a", 7, b"content"), (b"b", None, b"")]
    assert rest(cluster, b"b") == [OutputFilePart(RemoteOutputFile(FIRST, b"b"), 7, b"content")]


def test_where_nothing_was_ever_written_nothing_is(cluster: Cluster) -> None:
    assert fetch(cluster, FIRST, SECOND) == []
    assert rest(cluster, b"a") == []


def test_what_has_come_is_removed_and_nothing_else(cluster: Cluster) -> None:
    (cluster.home / "secret").mkdir()
    (cluster.home / "secret" / "key").write_text("mine")
    for parcel in (FIRST, SECOND):
        put(cluster, parcel, b"a", b"x")
    (cluster.base / FIRST.name / "way").symlink_to(cluster.home / "secret")
    for _ in range(2):
        parse_dropped(cluster.ask(drop_parcels(BASE, [FIRST])))
    assert fetch(cluster, FIRST, SECOND) == [(b"a", 1, b"x")]
    assert not (cluster.base / FIRST.name).exists()
    assert (cluster.home / "secret" / "key").read_text() == "mine"


def test_what_cannot_be_removed_is_told() -> None:
    with pytest.raises(UnreadableOutput, match="busy"):
        parse_dropped(ShellResult(74, "", "rm: busy"))


@pytest.mark.parametrize("path", [b"", b"/etc/passwd", b"..", b"a/../b", b"a//b", b"./a", b"a/", b"a\0b"])
def test_paths_that_lead_elsewhere(path: bytes) -> None:
    assert not leads_below(path)


def archive(*members: tarfile.TarInfo) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.GNU_FORMAT) as tar:
        for member in members:
            tar.addfile(member, io.BytesIO(b"x" * member.size))
    return MANY + stream.getvalue()


def member(name: str, kind: bytes = tarfile.REGTYPE, size: int = 1) -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.size = kind, size if kind == tarfile.REGTYPE else 0
    info.linkname = "/etc/passwd"
    return info


BAD_MEMBERS = {
    "absolute": member("/etc/passwd"),
    "above": member(f"{FIRST.name}/../../x"),
    "of another": member(f"{SECOND.name}/x"),
    "short": member("c12"),
    "link": member(f"{FIRST.name}/x", tarfile.SYMTYPE),
    "device": member(f"{FIRST.name}/x", tarfile.CHRTYPE),
    "pipe": member(f"{FIRST.name}/x", tarfile.FIFOTYPE),
    "directory": member(f"{FIRST.name}/x", tarfile.DIRTYPE),
}


@pytest.mark.parametrize("bad", BAD_MEMBERS)
def test_what_a_hostile_cluster_sends_is_left(bad: str) -> None:
    good = member(f"{FIRST.name}/good")
    pieces = parse_files([FIRST], RawShellResult(0, archive(BAD_MEMBERS[bad], good), b""))
    assert [(piece.file.path, piece.content) for piece in pieces] == [(b"good", b"x")]


def test_of_two_of_the_same_name_the_first_counts() -> None:
    both = archive(member(f"{FIRST.name}/a", size=1), member(f"{FIRST.name}/a", size=3))
    assert [piece.size for piece in parse_files([FIRST], RawShellResult(0, both, b""))] == [1]


def _long_names(count: int) -> bytes:
    """Heads that each say that a longer name follows: a reader that calls itself for each is soon at its end."""
    info = tarfile.TarInfo("././@LongLink")
    info.type, info.size = tarfile.GNUTYPE_LONGNAME, 1
    return (info.tobuf(tarfile.GNU_FORMAT) + b"x".ljust(512, b"\0")) * count


LIES: dict[str, Callable[[], bytes]] = {
    "no archive": lambda: b"\xff" * 1024,
    "one name in another": lambda: _long_names(3000),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_is_no_answer(lie: str) -> None:
    with pytest.raises(UnreadableOutput):
        parse_files([FIRST], RawShellResult(0, MANY + LIES[lie](), b""))


@pytest.mark.parametrize("text", [b"", b"cigri-file 1 x\nabc", b"cigri-file 2 3\nabc", b"cigri-file 1 5"])
def test_rubbish_is_no_answer(text: bytes) -> None:
    with pytest.raises(UnreadableOutput, match="said why"):
        parse_rest(RemoteOutputFile(FIRST, b"a"), RawShellResult(1, text, b"said why"))
    with pytest.raises(UnreadableOutput, match="said why"):
        parse_files([FIRST], RawShellResult(1, text, b"said why"))
