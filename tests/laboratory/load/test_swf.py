"""Traces of the Parallel Workloads Archive as local load."""

import gzip
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from cigri import package_files
from cigri.errors import ConfigError
from modules.laboratory.load import LocalJob
from modules.laboratory.load.sample import sample
from modules.laboratory.load.swf import HeaderCores, TraceJob, parse_line, read
from tests.laboratory.load.offered import DAY, HOUR, core_seconds, described, jobs

HEADER = "; Version: 2.2\n; MaxNodes: 4\n;  MaxProcs: 64 (16 a node)\n;\n"
SCENARIOS = package_files.directory("etc") / "scenarios"
WEEK = 7 * DAY


def line(submitted: float = 0, run: float = 100, cores: int = 4, **others: float) -> str:
    """One of a job that waits 10 s, asks for an hour and completes; others are named as the fields."""
    fields: dict[str, float] = {
        "job": 1, "submitted": submitted, "wait": 10, "run": run, "allocated": cores, "cpu": -1, "memory": -1,
        "requested": -1, "time": 3600, "memory_wished": -1, "status": 1, "user": 7, "group": 1, "program": -1,
        "queue": -1, "partition": -1, "before": -1, "think": -1,
    }  # fmt: skip
    return " ".join(f"{value:g}" for value in (fields | others).values()) + "\n"


def trace(tmp_path: Path, *lines: str, header: str = HEADER) -> Path:
    (tmp_path / "trace.swf").write_text(header + "".join(lines))
    return tmp_path


def replayed(directory: Path, cores: int = 64, seconds: float = DAY, seed: int = 1, **load: object) -> list[LocalJob]:
    return jobs(described(kind="swf", **({"file": "trace.swf"} | load)), cores, seconds, seed, directory)


def test_a_line_is_a_job(tmp_path: Path) -> None:
    directory = trace(tmp_path, line(50, 100, 4), "\n", line(60.5, 0, 1, user=-1))
    assert replayed(directory) == [LocalJob(50, 4, 100, 3600, "user7"), LocalJob(60.5, 1, 0, 3600, "unknown")]


def test_processors_are_those_asked_for_when_none_are_said_to_be_allocated(tmp_path: Path) -> None:
    assert replayed(trace(tmp_path, line(cores=-1, requested=8)))[0].cores == 8


def test_a_walltime_is_never_less_than_the_run(tmp_path: Path) -> None:
    found = replayed(trace(tmp_path, line(time=-1), line(run=4000)))
    assert [job.walltime for job in found] == [100, 4000]


@pytest.mark.parametrize(
    "left_out",
    [
        line(run=0, status=5),  # cancelled before it started
        line(run=-1, status=5),
        line(run=-1),
        line(cores=-1),
        line(status=2),  # parts of a job that has a line as a whole
        line(-1, status=3),
        line(-1, status=4),
    ],
)
def test_what_did_not_run_as_a_whole_job_is_left_out(tmp_path: Path, left_out: str) -> None:
    assert replayed(trace(tmp_path, left_out, line(user=9))) == [LocalJob(0, 4, 100, 3600, "user9")]


def test_a_job_that_ran_until_it_was_cancelled_is_a_job(tmp_path: Path) -> None:
    assert len(replayed(trace(tmp_path, line(status=5), line(status=0), line(status=-1)))) == 3


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("1 2 3\n", "3 fields instead of 18"),
        (line().strip() + " 7\n", "19 fields instead of 18"),
        (line().replace("3600", "1h"), "'1h' is no number"),
        (line().replace("3600", "nan"), "'nan' is no number that a trace can hold"),
        (line().replace("3600", "9" * 400), "no number that a trace can hold"),
        (line(status=9), "status 9 is none of -1, 0, 1, 2, 3, 4, 5"),
        (line(cores=4).replace(" 4 ", " 4.5 "), "number of processors 4.5 is no whole number"),
        (line(-5), "submit time -5 is negative"),
        (line(40), "submitted at 40, before the line above: sort by the 2nd field"),
        ("#" + line(), "'#1' is no number"),
    ],
)
def test_a_malformed_line_is_named(tmp_path: Path, wrong: str, said: str) -> None:
    directory = trace(tmp_path, line(50), wrong)
    with pytest.raises(ConfigError, match="line 6: ") as error:
        replayed(directory)
    assert said in str(error.value)
    assert str(directory / "trace.swf") in str(error.value)


FIELD = st.one_of(
    st.integers(-2, 10).map(str),
    st.floats().map(str),
    st.integers().map(str),
    st.sampled_from(["", "\0", "\u0661", "1_0"]),
)
TEXT = st.one_of(
    st.text(),
    st.lists(FIELD, min_size=17, max_size=19).map(" ".join),
    st.lists(st.integers(-1, 6).map(str), min_size=18, max_size=18).map(" ".join),
    st.text().map("; MaxProcs: {}".format),
)


@settings(deadline=None, max_examples=300)
@given(TEXT)
@example("; MaxProcs: " + "9" * 5000)
@example("1 2" * 10_000)
def test_no_line_is_anything_but_a_job_a_comment_or_an_error(text: str) -> None:
    found: object = None
    with suppress(ValueError):
        found = parse_line(text)
    assert found is None or isinstance(found, HeaderCores | TraceJob)
    if isinstance(found, TraceJob):
        assert found.cores > 0
        assert 0 <= found.seconds <= found.walltime


@settings(deadline=None, max_examples=50)
@given(st.lists(TEXT, max_size=4), st.integers(1, 300))
def test_no_file_hangs_or_crashes_the_reader(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str], cores: int
) -> None:
    directory = tmp_path_factory.mktemp("any")
    (directory / "trace.swf").write_bytes("\n".join([HEADER, *texts]).encode(errors="surrogatepass"))
    found: list[LocalJob] = []
    with suppress(ConfigError):
        found = replayed(directory, cores=cores, seconds=2 * DAY)
    assert all(0 <= job.submitted < 2 * DAY and 1 <= job.cores <= cores for job in found)


def test_cores_are_scaled_to_the_cluster(tmp_path: Path) -> None:
    assert replayed(trace(tmp_path, line(cores=8)), cores=128)[0].cores == 16
    assert replayed(trace(tmp_path, line(cores=8)), cores=16)[0].cores == 2
    assert replayed(trace(tmp_path, line(cores=1000)), cores=32)[0].cores == 32
    assert replayed(trace(tmp_path, line(cores=8)), cores=16, machine_cores=16)[0].cores == 8


def test_a_smaller_cluster_gets_the_same_load(tmp_path: Path) -> None:
    random = Random(1)
    lines = [line(second, 100, random.randint(1, 4)) for second in range(5000)]
    directory = trace(tmp_path, *lines)
    large = sum(job.cores for job in replayed(directory, cores=64)) / 64
    for cores in (7, 16, 100):
        small = replayed(directory, cores=cores)
        assert sum(job.cores for job in small) / cores == pytest.approx(large, rel=0.05)
        assert small == replayed(directory, cores=cores)
        assert small != replayed(directory, cores=cores, seed=2)


def test_maxnodes_say_how_large_the_machine_was_when_nothing_else_does(tmp_path: Path) -> None:
    assert replayed(trace(tmp_path, line(cores=2), header="; MaxNodes: 4\n"), cores=8)[0].cores == 4


@pytest.mark.parametrize("header", ["", "; MaxProcs: -1\n", "; MaxProcs: many\n", "; MaxProcs: 0\n"])
def test_a_trace_of_unknown_size_asks_for_it(tmp_path: Path, header: str) -> None:
    with pytest.raises(ConfigError, match="give `machine_cores`"):
        replayed(trace(tmp_path, line(), header=header))
    assert replayed(trace(tmp_path, line(), header=header), machine_cores=64)


def test_times_are_scaled(tmp_path: Path) -> None:
    directory = trace(tmp_path, line(1000, 100))
    assert replayed(directory, time_scale=0.5)[0] == LocalJob(500, 4, 50, 1800, "user7")
    assert replayed(directory, load_scale=2)[0] == LocalJob(500, 4, 100, 3600, "user7")


def test_the_offset_finds_the_cluster_as_it_was(tmp_path: Path) -> None:
    directory = trace(
        tmp_path,
        line(0, 100, user=1),  # ran from 10 to 110: over
        line(50, 500, user=2),  # runs from 60 to 560
        line(150, 50, wait=100, user=3),  # waits until 250
        line(250, 10, user=4),
    )
    assert replayed(directory, offset=200, seconds=HOUR) == [
        LocalJob(0, 4, 360, 3460, "user2"),
        LocalJob(0, 4, 50, 3600, "user3"),
        LocalJob(50, 4, 10, 3600, "user4"),
    ]


def test_a_trace_that_is_too_short_begins_again_the_next_day(tmp_path: Path) -> None:
    directory = trace(tmp_path, line(100), line(1.5 * DAY))
    found = [job.submitted for job in replayed(directory, seconds=5 * DAY)]
    assert found == [100, 1.5 * DAY, 2 * DAY + 100, 3.5 * DAY, 4 * DAY + 100]
    found = [job.submitted for job in replayed(directory, seconds=4 * DAY, offset=DAY)]
    assert found == [0.5 * DAY, DAY + 100, 2.5 * DAY, 3 * DAY + 100]


def test_a_trace_that_has_nothing_to_repeat_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="has no job that ran"):
        replayed(trace(tmp_path, line(status=5, run=0)))
    with pytest.raises(ConfigError, match="`offset` 200 is behind that"):
        replayed(trace(tmp_path, line(100)), offset=200)


def test_a_trace_may_be_compressed(tmp_path: Path) -> None:
    (tmp_path / "trace.swf.gz").write_bytes(gzip.compress((HEADER + line()).encode()))
    assert replayed(tmp_path, file="trace.swf.gz") == [LocalJob(0, 4, 100, 3600, "user7")]
    assert replayed(Path("/nowhere"), file=str(tmp_path / "trace.swf.gz"))


@pytest.mark.parametrize(
    "content",
    [b"", b"not gz", gzip.compress(b"1 2 3", mtime=0)[:-12], gzip.compress(HEADER.encode(), mtime=0)[:30]],
    ids=["empty", "foreign", "without its end", "cut"],
)
def test_a_broken_archive_is_an_error(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "trace.swf.gz").write_bytes(content)
    with pytest.raises(ConfigError, match=r"trace\.swf\.gz"):
        replayed(tmp_path, file="trace.swf.gz")


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none\.swf cannot be read as a trace: "):
        replayed(tmp_path, file="none.swf")


def test_a_trace_is_read_only_as_far_as_it_is_used(tmp_path: Path) -> None:
    assert len(replayed(trace(tmp_path, line(0), line(200), "nonsense\n"), seconds=100)) == 1


def test_the_shipped_sample_is_what_its_program_writes() -> None:
    assert (SCENARIOS / "sample.swf").read_text() == sample()


def test_the_shipped_sample_looks_real() -> None:
    found = replayed(SCENARIOS, cores=128, seconds=WEEK, file="sample.swf")
    assert (SCENARIOS / "sample.swf").stat().st_size < 200_000
    assert 2000 < len(found) < 4000
    assert len({job.user for job in found}) == 12
    assert 0.5 < core_seconds(found, 0, WEEK) / (128 * WEEK) < 0.7
    days = [sum(day * DAY <= job.submitted < (day + 1) * DAY for job in found) for day in range(7)]
    assert max(days[5:]) < min(days[:5])
    night = sum(job.submitted % DAY < 6 * HOUR for job in found)
    afternoon = sum(11 * HOUR <= job.submitted % DAY < 17 * HOUR for job in found)
    assert afternoon > 4 * night
    waits = [job.waited for job in read(SCENARIOS / "sample.swf") if isinstance(job, TraceJob)]
    assert 0 < sum(wait > 0 for wait in waits) < len(waits)
