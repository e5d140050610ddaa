"""What a job may leave in the place of a file of ours: nobody waits for it, reads it, or is filled by it."""

import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from cigri.wrapper import (
    CheckpointRequestFile,
    CheckpointRequestState,
    JobKey,
    JournalState,
    OutboxReceipt,
    TaskEndCause,
    TaskRecord,
    ask_checkpoints,
    collect_script,
    journal,
    parse_checkpoints,
    parse_collect,
    parse_journal,
    parse_tail,
    tail,
)
from cigri.wrapper.job_status_files import announce, parse_status_files, parse_told, read_status
from cigri.wrapper.read_limits import ANSWER_BYTES, FILE_BYTES, FILES
from cigri.wrapper.records import IMPOSSIBLE

from .cluster import BASE, Cluster

FIRST, SECOND = JobKey(12, 34, 1), JobKey(12, 34, 2)
NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def _huge(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(2**40)


def _link_to_another(path: Path) -> None:
    other = path.with_name("of-bob")
    other.write_text("start 1 1 1700000000000 n r .\nend 1 901 1001 1 1 0 exit 1700000000000 5 n r .\n")
    path.symlink_to(other)


ODD: dict[str, Callable[[Path], None]] = {
    "fifo": lambda path: os.mkfifo(path),
    "device": lambda path: path.symlink_to("/dev/zero"),
    "link": _link_to_another,
    "huge": _huge,
    "directory": lambda path: path.mkdir(),
    "nowhere": lambda path: path.symlink_to("nowhere"),
}


@pytest.fixture(params=ODD)
def odd(request: pytest.FixtureRequest) -> Callable[[Path], None]:
    """Puts something in the place of a file."""

    def put(path: Path) -> None:
        path.unlink(missing_ok=True)
        ODD[request.param](path)

    return put


@pytest.fixture
def ran(cluster: Cluster) -> Cluster:
    """Two jobs have run."""
    cluster.write("exit 3", "exit 4")
    for index in (1, 2):
        cluster.run(index)
    return cluster


def test_a_journal_that_is_no_file_costs_only_its_own_job(ran: Cluster, odd: Callable[[Path], None]) -> None:
    odd(ran.batch / "journal.1")
    journals = parse_journal(ran.ask(journal(BASE, [FIRST, SECOND])), [FIRST, SECOND])
    assert journals[FIRST] == (JournalState.STARTED, None, (), False)
    assert [record.exit_code for record in journals[SECOND].records] == [4]


def test_an_outbox_file_that_is_none_costs_only_its_own_job(ran: Cluster, odd: Callable[[Path], None]) -> None:
    odd(ran.outbox / "34-1")
    collected = parse_collect(ran.ask(collect_script(BASE, OutboxReceipt())))
    assert [(posted.index, posted.record.exit_code) for posted in collected.records] == [(2, 4)]
    over = OutboxReceipt({}, frozenset({"34-1", "34-2"}))
    assert parse_collect(ran.ask(collect_script(BASE, over))).records == ()
    assert not {"34-1", "34-2"} & set(os.listdir(ran.outbox))


def test_an_output_that_is_no_file_is_not_shown(ran: Cluster, odd: Callable[[Path], None]) -> None:
    odd(ran.batch / "1.1.out")
    text = parse_tail(ran.ask(tail(BASE, 12, 34, 1, 1, "out", 100)))
    assert text is None or set(text) == {"\0"}  # the end of a huge file is as good as any


def test_a_checkpoint_is_asked_whatever_lies_in_the_way(ran: Cluster, odd: Callable[[Path], None]) -> None:
    odd(ran.batch / "checkpoint.1")
    heard = parse_checkpoints(
        ran.ask(ask_checkpoints(BASE, [CheckpointRequestFile(FIRST, is_new=True)])),
        [CheckpointRequestFile(FIRST, is_new=True)],
    )
    assert heard == [
        CheckpointRequestState.UNWRITTEN if (ran.batch / "checkpoint.1").is_dir() else CheckpointRequestState.WAITING
    ]


@pytest.mark.parametrize("name", ["used_CPU", "priority_factor", "journal.1"])
def test_a_status_that_is_no_file_is_not_read(ran: Cluster, odd: Callable[[Path], None], name: str) -> None:
    status = ran.batch / "status.1"
    status.mkdir()
    (status / "used_CPU").write_text("1\n")
    (status / "priority_factor").write_text("2\n")
    odd(ran.batch / name if name == "journal.1" else status / name)
    said = parse_status_files(ran.ask(read_status(BASE, [FIRST])), [FIRST])[FIRST]
    others = {"used_CPU": "1", "priority_factor": "2"}
    others.pop(name, None)
    assert said == others or (name, said) == ("used_CPU", {})  # which is also the lock


@pytest.mark.parametrize("name", ["shutdown.1", "shutdown.1.new"])
def test_a_shutdown_is_announced_whatever_lies_in_the_way(ran: Cluster, odd: Callable[[Path], None], name: str) -> None:
    """What a directory keeps from the job's own file the job reads in that of its machine."""
    odd(ran.batch / name)
    is_refused = (ran.batch / name).is_dir()
    assert parse_told(ran.ask(announce(BASE, [FIRST], 1_800_000_000))) == {FIRST}
    assert (ran.batch / "machine.1").read_text() == "1800000000\n"
    assert is_refused or (ran.batch / "shutdown.1").read_text() == "1800000000\n"


@pytest.mark.parametrize("ending", ["", ".new"])
def test_who_has_directories_in_the_way_of_both_places_is_not_told(ran: Cluster, ending: str) -> None:
    places = [ran.batch / f"{name}.1{ending}" for name in ("shutdown", "machine")]
    for place in places:
        place.mkdir()
    assert parse_told(ran.ask(announce(BASE, [FIRST], 1_800_000_000))) == set()
    assert [list(place.iterdir()) for place in places] == [[], []]


def test_many_large_files_do_not_fill_an_answer(dash: Cluster) -> None:
    dash.write(*["exit 0"] * 40)
    line = b"end 1 901 1001 1 1 0 exit 1700000000000 5 n r .\n"
    for index in range(1, 41):
        for path in (dash.batch / f"journal.{index}", dash.outbox / f"34-{index}"):
            path.write_bytes(line * (FILE_BYTES // len(line)))
    keys = [JobKey(12, 34, index) for index in range(1, 41)]
    answer = dash.ask(journal(BASE, keys))
    assert len(answer.out) < ANSWER_BYTES + 2 * FILE_BYTES
    states = [found.state for found in parse_journal(answer, keys).values()]
    assert set(states[:10]) == {JournalState.STARTED}
    assert set(states[-10:]) == {JournalState.UNREAD}


def test_many_long_lines_do_not_fill_an_answer(dash: Cluster) -> None:
    dash.write("exit 0")
    for index in range(1, 41):
        (dash.outbox / f"34-{index}").write_bytes((b"x" * 999 + b"\n") * (FILE_BYTES // 1000))
    answer = dash.ask(collect_script(BASE, OutboxReceipt()))
    assert len(answer.out) < ANSWER_BYTES + 2 * FILE_BYTES
    assert len(parse_collect(answer).lines) == 40


def test_rubbish_in_a_journal_costs_no_time(ran: Cluster) -> None:
    """A shell that looked at each of its lines would be at it for longer than an answer may take."""
    keys = [FIRST] * 12 + [SECOND]
    for rubbish in (b"\n", b"x\n", b"x"):
        (ran.batch / "journal.1").write_bytes(rubbish * (FILE_BYTES // len(rubbish)))
        answer = ran.ask(journal(BASE, keys))
        assert len(answer.out) < 1000
        journals = parse_journal(answer, keys)
        assert journals[FIRST] == (JournalState.STARTED, None, (), False)
        assert [record.exit_code for record in journals[SECOND].records] == [4]
        assert parse_status_files(ran.ask(read_status(BASE, keys)), keys) == {FIRST: {}, SECOND: {}}


def test_one_large_file_does_not_keep_others_in_the_outbox(ran: Cluster) -> None:
    record = (ran.outbox / "34-1").read_bytes()
    (ran.outbox / "34-1").write_bytes(b"x\n" * 300_000 + record)
    collected = parse_collect(ran.ask(collect_script(BASE, OutboxReceipt())))
    assert [(posted.index, posted.record.exit_code) for posted in collected.records] == [(2, 4)]
    assert collected.left == 1


def test_a_huge_number_of_files_in_an_outbox_passes_in_pieces(dash: Cluster) -> None:
    dash.write("exit 0")
    dash.run()
    record = (dash.outbox / "34-1").read_bytes()
    for number in range(30_000):
        (dash.outbox / f"1-{number}").touch()
    (dash.outbox / "34-1").write_bytes(record)
    first = parse_collect(dash.ask(collect_script(BASE, OutboxReceipt())))
    assert len(first.lines) == FILES
    rest = parse_collect(dash.ask(collect_script(BASE, OutboxReceipt({}, frozenset(first.lines)))))
    assert len(rest.lines) == 10_001
    assert len(first.records) + len(rest.records) == 1


def test_after_a_visit_without_an_answer_the_next_one_asks_for_less(dash: Cluster) -> None:
    dash.write("exit 0")
    for number in range(300):
        os.mkfifo(dash.outbox / f"1-{number}")
    receipt = OutboxReceipt()
    for _ in range(9):
        receipt = receipt.after_silence()
    told = []
    while lines := parse_collect(dash.ask(collect_script(BASE, receipt))).lines:
        told.append(len(lines))
        receipt = receipt.after_silence().after_answer({}, frozenset(lines))
    assert told == [200, 100]
    for _ in range(9):
        receipt = receipt.after_silence().after_answer({}, frozenset())
    assert receipt == OutboxReceipt()


@pytest.mark.parametrize(
    ("start", "seconds", "is_start_believed", "is_duration_believed"),
    [
        (NOON, 5.0, True, True),
        (NOON - timedelta(hours=20), 5.0, True, True),  # the clock of a node goes as it likes
        (datetime(2286, 1, 1, tzinfo=UTC), 5.0, False, True),
        (datetime(1970, 1, 1, tzinfo=UTC), 5.0, False, True),
        (NOON, 3720.0, False, False),  # a minute more than since the submission, and more
    ],
)
def test_times_that_cannot_be_are_not_believed(
    start: datetime, seconds: float, is_start_believed: bool, is_duration_believed: bool
) -> None:
    start_ms, duration_ms = int(start.timestamp() * 1000), int(seconds * 1000)
    record = TaskRecord(1, 1, 1, 1, 0, TaskEndCause.EXIT, start_ms, duration_ms, "n", "r")
    seen = record.possible(NOON - timedelta(hours=1), NOON)
    assert seen.started == (start.timestamp() if is_start_believed else None)
    assert seen.seconds == (seconds if is_duration_believed else None)
    assert seen._replace(start_ms=IMPOSSIBLE, duration_ms=IMPOSSIBLE).exit_code == 0
