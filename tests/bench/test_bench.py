"""The benchmarks themselves: with tiny sizes the table comes out, and goes where it belongs."""

import subprocess
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

import pytest

from cigri.flow.grid_identity import grid_key
from modules.laboratory.report.formatting import percent, times
from modules.metascheduler.policies import names
from tests.bench import chaos, history
from tests.bench.__main__ import LONG, NAMES, SMOKE, main
from tests.bench.ground import ground
from tests.bench.scheduling import REASONS, SCENARIOS, UNKNOWN, Variant, rows
from tests.bench.table import BEGIN, END, OLDER, SHORT_HEAD, render, row, write, write_short
from tests.bench.waves import declare
from tests.chaos.experiment import Account
from tests.laboratory.report.small import EMPTY, SMALL

pytestmark = pytest.mark.process  # a row names the commit, which git tells


def test_submission_and_local_fill_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["submission", "local", "--size", "50"]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("| ")]
    assert [line.split(" | ")[0] for line in lines[:2]] == ["| what", "| ---"]
    figures = {line.split(" | ")[0].removeprefix("| "): line.split(" | ")[1] for line in lines[2:]}
    assert any(what.startswith("submission: 50 lines") and figure.endswith(" s") for what, figure in figures.items())
    [local] = {float(figure.split()[0]) for what, figure in figures.items() if what.startswith("local: 50 `true`")}
    assert local > 0
    assert any("HyperQueue: " in line for line in lines)


def test_a_grid_of_a_benchmark_leaves_nothing_in_the_home() -> None:
    with ground() as grid, ExitStack() as ending:
        declare(grid, ending)
        with grid.database.begin() as conn:
            files = Path.home() / ".cigri" / grid_key(conn)
        grid.start()
        grid.time_campaign(grid.describe("one", nb_jobs=1, clusters={"dahu": {}}), 60)
        assert files.is_dir()
    assert not files.exists()


def test_waves_are_among_the_scenarios() -> None:
    assert "waves" in SCENARIOS


def test_sharing_is_measured_for_each_policy(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["share", "--size", "3"]) == 0
    assert capsys.readouterr().out.count("| share: 3 campaigns on 60 clusters by ") == len(names())


def test_ours_says_in_its_row_where_it_is_not_ahead() -> None:
    """A rival that ends 1 % sooner, and one that harvests as much and ends later."""
    assert SMALL.makespan is not None
    quick, late = (SMALL._replace(makespan=SMALL.makespan * factor) for factor in (0.99, 1.2))
    first, second = rows("idle", {Variant("lean"): [SMALL], Variant("tap"): [quick]})
    sooner = f"{times(0.99)} of it, \N{PLUS-MINUS SIGN} 0.000"
    assert first.beside.endswith(f"; not ahead in makespan (tap needs {sooner}): {UNKNOWN}")
    assert (first.subject, first.ratio, second.ratio) == ("scheduling, idle", "1.000", "1.000")
    assert not any(
        "not ahead" in one.beside for one in (second, *rows("tail", {Variant("lean"): [SMALL], Variant("pi"): [late]}))
    )
    poor = SMALL._replace(clusters=tuple(one._replace(harvested=one.harvested / 2) for one in SMALL.clusters))
    [ours, _] = rows("tail", {Variant("lean"): [poor], Variant("tap"): [SMALL]})
    assert f"; not ahead in what is harvested (tap: {percent(0.96)}): " in ours.beside
    [known, _] = rows("wide", {Variant("lean"): [poor], Variant("tap"): [SMALL]})
    assert known.beside.endswith(REASONS["wide"])
    assert set(REASONS) <= set(SCENARIOS)


def test_figures_of_scheduling_are_means_over_the_seeds() -> None:
    slow = SMALL._replace(makespan=6000, jain=None)
    [ours, rival] = rows("idle", {Variant("lean"): [SMALL, slow], Variant("tap"): [SMALL, SMALL]})
    assert ours.beside.endswith(f"(tap needs {times(0.922)} of it, \N{PLUS-MINUS SIGN} 0.081): {UNKNOWN}")
    assert ours.beside.startswith(f"makespan {times(1.11)} of the bound (1.020 to 1.200), ")
    assert "; Jain 0.94; " in ours.beside
    assert rival.beside.startswith(f"makespan {times(1.02)} of the bound, ")
    [ours] = rows("idle", {Variant("lean"): [SMALL, EMPTY]})
    assert (ours.figure, ours.ratio) == (f"{percent(0.48)} harvested", "1.000")
    assert ours.beside.startswith("makespan not ended; ")


def test_rows_go_between_the_marks_and_replace_those_of_their_subject(tmp_path: Path) -> None:
    marked, unmarked = tmp_path / "marked.md", tmp_path / "unmarked.md"
    old = [row("stat: a", "1 s", "at most 2 s", "0.50"), row("stat: b", "5 s"), row("idle: c", "9 ms")]
    marked.write_text(f"before\n{BEGIN}\n{render(old)}{END}\nafter\n")
    unmarked.write_text("nothing here\n")
    new = [row("stat: d", "3 s"), row("local: e", "7 s")]
    assert [one.what for one in write(new, marked)] == ["stat: d", "idle: c", "local: e"]
    with pytest.raises(AssertionError, match="has no place for a table"):
        write(new, unmarked)
    assert marked.read_text() == f"before\n{BEGIN}\n{render([new[0], old[2], new[1]])}{END}\nafter\n"
    assert "| idle: c | 9 ms |" in marked.read_text()
    assert unmarked.read_text() == "nothing here\n"


def test_people_in_a_hurry_read_a_figure_and_what_stands_beside_it(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    write_short([row("local: a (period 1)", "7 s", "at most 9 s", "0.78")], page)
    assert page.read_text() == f"before\n{BEGIN}\n{SHORT_HEAD}| local: a | 7 s | at most 9 s |\n{END}\nafter\n"


def git(root: Path, *words: str) -> str:
    known = ("-c", "user.name=bench", "-c", "user.email=bench@example.org")
    done = subprocess.run(["git", "-C", str(root), *known, *words], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def test_git_tells_which_rows_are_older_than_what_they_measure(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    commits = []
    for place in ("modules/metascheduler", "cigri"):
        (tmp_path / place).mkdir(parents=True)
        (tmp_path / place / "code.py").write_text("1\n")
        git(tmp_path, "add", "-A")
        git(tmp_path, "commit", "-qm", place)
        commits.append(history.present(tmp_path))
    first, second = commits
    assert not history.is_older("share", first, tmp_path)
    assert history.is_older("cycle", first, tmp_path)
    assert not history.is_older("cycle", second, tmp_path)
    assert history.is_older("share", "", tmp_path)
    assert history.is_older("share", "0123456", tmp_path)
    assert history.at("2090-01-01 00:00", tmp_path) == second
    assert history.at("2000-01-01 00:00", tmp_path) == ""


def test_every_benchmark_says_what_it_measures() -> None:
    assert {name.replace("-", "_") for name in (*NAMES, *LONG)} == set(history.MEASURED)
    for paths in history.MEASURED.values():
        assert all((history.ROOT / path).exists() for path in paths)


def test_older_rows_are_marked_in_the_table(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    line = "| share: a | 1 ms | | | 0.1 | 2000-01-01 00:00 |\n"
    page.write_text(f"{BEGIN}\n| what | figure |\n| --- | --- |\n{line}{END}\n")
    for _ in range(2):
        write([row("idle: b", "2 ms")], page)
        share, idle = page.read_text().splitlines()[-3:-1]
        assert share.endswith(f"| unknown, {OLDER} |")
        assert idle.endswith(f"| {history.present()} |")


@pytest.mark.timeout(1200)
def test_every_benchmark_runs_at_a_hundredth_of_its_size(capsys: pytest.CaptureFixture[str]) -> None:
    """A minute and a half of a processor; how busy the machine is changes figures only."""
    assert main(["--smoke"]) == 0
    assert {name.replace("-", " ") for name in SMOKE} <= measured(capsys.readouterr().out)


@pytest.mark.cluster
def test_the_benchmark_of_slurm_runs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--smoke", "slurm"]) == 0
    assert measured(capsys.readouterr().out) == {"slurm"}


@pytest.mark.cluster
def test_the_benchmark_of_books_runs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--smoke", "books"]) == 0
    told = capsys.readouterr().out
    assert measured(told) == {"books"}
    assert [name for name in ("sacct", "qacct", "oaraccounting", "OAR's log") if name not in told] == []


def measured(table: str) -> set[str]:
    """The subjects of its rows that have a figure."""
    rows = [line.removeprefix("| ").split(" | ") for line in table.splitlines() if line.startswith("| ")][2:]
    return {what.partition(":")[0] for what, figure, *_ in rows if any(map(str.isdigit, figure))}


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["everything"], "there is no everything"),
        (["--write", "idle", "--size", "10"], "does not go with --size"),
        (["--write", "--smoke"], "nor with --smoke"),
        (["--smoke", "--size", "10"], "does not go with --size"),
        (["--smoke", "chaos"], "nor with grouping, reality, chaos"),
    ],
)
def test_what_makes_no_sense_is_refused(words: list[str], problem: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(words)
    assert problem in capsys.readouterr().err


def test_campaigns_of_chaos_are_told_together_with_the_command_that_plays_them_again() -> None:
    first = Account(100, [], 0, [], [7], [], [], Counter({"a killed": 3, "b hangs": 1}), 5.0, 60.0)
    second = first._replace(lost=[3], undone=2, injections=Counter({"b hangs": 2}), longest_recovery=9.0, seconds=30.0)
    rows = list(chaos.told([first, second], [4, 5]))
    [what] = {row.what.rpartition(": ")[0] for row in rows}
    assert "200 tasks" in what
    assert "6 injections of 2 kinds in 90 s (`scripts/chaos --seed 4 --seed 5`)" in what
    assert [row.figure for row in rows] == ["1", "0", "0", "2", "2", "9 s"]
