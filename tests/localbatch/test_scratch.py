"""The directory that each job gets for itself."""

import os
import signal
from pathlib import Path

from tests.localbatch.host import Host

WAIT = 'until [ -e "$D/go" ]; do sleep 0.01; done'
TELL = 'stat -c "%a %u" "$CIGRI_LOCAL_SCRATCH" >>"$D/modes"; echo "$CIGRI_LOCAL_SCRATCH" >>"$D/places"'


def test_jobs_side_by_side_have_empty_directories_of_their_own(host: Host) -> None:
    name = host.submit(f'{TELL}; ls -A "$CIGRI_LOCAL_SCRATCH" >>"$D/found"; {WAIT}', size=2)
    first, second = host.wait_for_lines("places", 2)
    (host.directory / "go").touch()
    host.end_of(name, 2)
    assert first != second
    assert host.lines("modes") == [f"700 {os.geteuid()}"] * 2
    assert host.lines("found") == []


def test_no_path_is_ever_that_of_two_jobs(host: Host) -> None:
    tell = 'stat -c %i "$CIGRI_LOCAL_SCRATCH" >>"$D/inodes"'
    for _ in range(3):
        host.end_of(host.submit(f"{TELL}; {tell}"))
    host.stop(signal.SIGKILL)
    host.end_of(host.submit(TELL))
    assert len({*host.lines("places")}) == 4
    assert len({*host.lines("inodes")}) == 1, "one left empty serves the next job, under a new name"


def test_the_directory_of_a_job_that_outlived_its_daemon_is_removed_with_it(host: Host) -> None:
    name = host.submit(f'{TELL}; touch "$CIGRI_LOCAL_SCRATCH/left"; {WAIT}')
    [place] = host.wait_for_lines("places")
    host.stop(signal.SIGKILL)
    assert host.states(name) == ["running"]
    (host.directory / "go").touch()
    host.end_of(name)
    host.wait_for(lambda: not Path(place).exists())


def test_no_job_finds_what_another_left(host: Host) -> None:
    for spoil in ('touch "$P/.left"', 'chmod 755 "$P"', 'rmdir "$P"; ln -s "$D" "$P"', 'rmdir "$P"'):
        host.end_of(host.submit(f'P=$CIGRI_LOCAL_SCRATCH; echo "$P" >>"$D/spoilt"; {spoil}'))
        host.end_of(host.submit(f'{TELL}; ls -A "$CIGRI_LOCAL_SCRATCH" >>"$D/found"'))
    assert host.lines("modes") == [f"700 {os.geteuid()}"] * 4
    assert host.lines("found") == []
    host.wait_for(lambda: not any(os.path.lexists(place) for place in set(host.lines("spoilt"))))


def test_a_new_daemon_gives_nobody_the_directory_of_a_job_under_way(host: Host) -> None:
    name = host.submit(f"{TELL}; {WAIT}")
    [place] = host.wait_for_lines("places")
    host.stop(signal.SIGKILL)
    host.end_of(host.submit(TELL))
    assert host.lines("places")[1] != place
    assert Path(place).is_dir()
    (host.directory / "go").touch()
    host.end_of(name)


def test_a_new_daemon_without_jobs_removes_what_is_left(host: Host) -> None:
    host.end_of(host.submit(TELL))
    [place] = host.lines("places")
    host.stop(signal.SIGKILL)
    assert Path(place).is_dir()
    host.ask("probe")
    host.wait_for(lambda: not Path(place).exists())
    host.end_of(host.submit(TELL))
    assert Path(host.lines("places")[1]).parent == Path(place).parent


def test_a_daemon_that_ends_without_jobs_leaves_nothing(host: Host) -> None:
    host.end_of(host.submit(TELL))
    place = Path(host.lines("places")[0]).parent
    host.stop()
    host.wait_for(lambda: not place.exists())
    assert not (host.spool / "scratch").is_symlink()


def test_a_daemon_that_ends_leaves_jobs_their_directories(host: Host) -> None:
    name = host.submit(f"{TELL}; {WAIT}")
    [place] = host.wait_for_lines("places")
    host.stop()
    host.ask("probe")
    assert Path(place).is_dir()
    (host.directory / "go").touch()
    host.end_of(name)


SHOW = 'for part in "$CIGRI_LOCAL_FEATURES"/*; do echo "${part##*/} $(stat -c "%a %u" "$part") $(ls -A "$part")"; done'
PARTS = ("jobfeatures", "jobstatus", "machinefeatures")
EMPTY = [f"{part} 700 {os.geteuid()} " for part in PARTS]


def test_the_directories_of_features_are_emptied_for_the_next_job(host: Host) -> None:
    leave = 'for part in "$CIGRI_LOCAL_FEATURES"/*; do echo 1 >"$part/key"; ln -s "$D" "$part/link"; done'
    for spoil in (
        ":",
        'mkdir "$CIGRI_LOCAL_FEATURES/jobstatus/d"',
        'chmod 755 "$CIGRI_LOCAL_FEATURES/jobfeatures"',
        ":",
    ):
        host.end_of(
            host.submit(f'{{ {SHOW}; }} >>"$D/found"; echo "$CIGRI_LOCAL_FEATURES" >>"$D/places"; {leave}; {spoil}')
        )
    assert host.lines("found") == EMPTY * 4
    first, second, third, fourth = host.lines("places")
    assert first == second
    assert len({second, third, fourth}) == 3
    assert host.directory.is_dir()


def test_a_daemon_that_ends_leaves_no_features(host: Host) -> None:
    host.end_of(host.submit('echo "$CIGRI_LOCAL_FEATURES" >>"$D/places"; echo "$CIGRI_LOCAL_SPACE" >>"$D/space"'))
    place = Path(host.lines("places")[0]).parent
    assert int(host.lines("space")[0]) > 1_000_000
    host.stop()
    host.wait_for(lambda: not place.exists())
