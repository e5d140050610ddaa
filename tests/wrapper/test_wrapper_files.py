"""What is done to the files of a cluster, by real shells on a real disk."""

import os
import re
import shutil
import tempfile
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cigri.errors import UnreadableOutput
from cigri.shell.results import ScriptBundle, ShellResult
from cigri.shell.words import ShellWord
from cigri.wrapper import (
    BatchSpec,
    JobKey,
    JobSpec,
    JournalState,
    OutboxReceipt,
    TaskSpec,
    collect_script,
    journal,
    parse_collect,
    parse_journal,
    parse_tail,
    parse_void,
    purge_campaign,
    tail,
    void_batch,
)

from .cluster import BASE, Cluster, call, small_disk, task

TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=30)


@settings(max_examples=30)
@given(
    arguments=st.lists(TEXT, max_size=5),
    value=TEXT,
    own=TEXT,
    name=st.text("ab ;'$(`\\\n\"*é", min_size=1, max_size=8).filter(lambda text: text not in {".", ".."}),
)
@pytest.mark.parametrize("argv", [["dash"], ["bash", "--posix"], ["busybox", "sh"]], ids=lambda argv: argv[0])
def test_any_text_arrives_byte_for_byte(argv: list[str], arguments: list[str], value: str, own: str, name: str) -> None:
    with tempfile.TemporaryDirectory() as place:
        cluster = Cluster(Path(place), argv)
        (cluster.home / name).mkdir()
        program = ShellWord("/" + name + "/a program", at_home=True)
        (cluster.home / name / "a program").symlink_to(shutil.which("printf") or "")
        words = (program, ShellWord("%s\\0"), ShellWord(value), *map(ShellWord, arguments), ShellWord("end"))
        calls = (
            TaskSpec(1, 1, 1, words, directory=ShellWord("/" + name, at_home=True)),
            TaskSpec(2, 2, 1, (ShellWord("printenv"), ShellWord("VALUE"), ShellWord("OWN")), environment={"OWN": own}),
        )
        cluster.write(plan=replace(cluster.plan, environment={"VALUE": value}, jobs=[JobSpec(1, 901, calls)]))
        assert cluster.run().status == 0
        printed = (cluster.batch / "1.1.out").read_bytes()
        assert printed == b"".join(text.encode() + b"\0" for text in [value, *arguments, "end"])
        assert (cluster.batch / "1.2.out").read_bytes() == f"{value}\n{own}\n".encode()


def test_large_parameter_arrives(cluster: Cluster) -> None:
    large = "'$(x)' é\n" * 10_000
    cluster.write(plan=replace(cluster.plan, jobs=[call(1, "printf", "%s", large), call(2, "echo", "small")]))
    assert cluster.run(1).status == 0
    assert cluster.out(1) == large
    assert cluster.run(2).status == 0


def test_submission_may_follow_in_the_batch_directory(cluster: Cluster) -> None:
    script = cluster.script(replace(cluster.plan, jobs=[call(1, "true")])) + 'echo "$PWD"; test -x ./job'
    bundle = ScriptBundle({"first": script, "again": script})
    answers = bundle.unpack(cluster.ask(bundle.script))
    assert answers["first"] == ShellResult(0, f"{cluster.batch}\n", "")
    assert answers["again"].status == 73
    assert (cluster.batch / "job").exists()
    assert cluster.outbox.is_dir()


def test_batch_that_does_not_fit_leaves_nothing(cluster: Cluster) -> None:
    plan = replace(cluster.plan, jobs=[call(1, "true")], script="x" * 60_000)
    with small_disk(cluster.home / ".cigri"):
        answer = cluster.ask(cluster.script(plan) + "echo submitted")
        assert (answer.status, answer.out) == (74, "")
        assert list((cluster.base / "c12").iterdir()) == []
        cluster.write(plan=replace(plan, script="exit 0"))


@pytest.mark.parametrize("name", ["", "A B", "A-B", "1A", "CIGRI_JOB_ID", "cigri_dir", "UID", "A\n", "A=B"])
def test_variable_that_cannot_be_set_is_an_error(dash: Cluster, name: str) -> None:
    with pytest.raises(ValueError, match="variable"):
        dash.script(replace(dash.plan, environment={name: "x"}, jobs=[call(1, "true")]))
    tasks = (TaskSpec(1, 1, 1, (ShellWord("true"),), environment={name: "x"}),)
    with pytest.raises(ValueError, match="variable"):
        dash.script(replace(dash.plan, jobs=[JobSpec(1, 1, tasks)]))


@pytest.mark.parametrize(
    ("message", "jobs"),
    [
        ("without jobs", []),
        ("index 0", [call(0, "true")]),
        ("0 tasks", [JobSpec(1, 901, ())]),
        ("two jobs of one index", [call(1, "true"), call(1, "false")]),
        ("without a program", [JobSpec(1, 901, (task(1),))]),
        ("NUL", [call(1, "a\0b")]),
    ],
)
def test_plan_that_makes_no_sense_is_an_error(dash: Cluster, message: str, jobs: list[JobSpec]) -> None:
    with pytest.raises(ValueError, match=message):
        dash.script(replace(dash.plan, jobs=jobs))


def test_grid_key_is_a_plain_name(dash: Cluster) -> None:
    with pytest.raises(ValueError, match="grid key"):
        dash.script(replace(dash.plan, grid_key="../x", jobs=[call(1, "true")]))


def test_thousand_jobs_are_written_quickly(dash: Cluster) -> None:
    plan = replace(dash.plan, jobs=[call(index, "/home/ann/program", f"--seed={index}") for index in range(1, 1001)])
    assert min(_seconds(dash, plan) for _ in range(3)) < 0.5


def test_records_are_collected_until_they_are_stored(cluster: Cluster) -> None:
    assert parse_collect(cluster.ask(collect_script(BASE, OutboxReceipt()))) == ((), {}, 0)
    cluster.write("exit 1", "exit 2", "exit 3")
    told = "".join(f"{name}() {{ echo {name} >&2; }}\n" for name in ("find", "head", "sort", "awk"))
    nothing = cluster.ask(told + collect_script(BASE, OutboxReceipt()))
    assert (parse_collect(nothing), nothing.err) == (((), {}, 0), "")  # nor is any of them started
    for index in (1, 2, 3):
        cluster.run(index)
    collected = parse_collect(cluster.ask(collect_script(BASE, OutboxReceipt(), limit=2)))
    assert [(posted.batch_id, posted.index, posted.record.exit_code) for posted in collected.records] == [
        (34, 1, 1),
        (34, 2, 2),
    ]
    assert (collected.lines, collected.left) == ({"34-1": 1, "34-2": 1, "34-3": 0}, 1)
    stored = OutboxReceipt({"34-2": 1}, frozenset({"34-1"}))
    for _ in range(2):  # told twice
        rest = parse_collect(cluster.ask(collect_script(BASE, stored)))
        assert [posted.record for posted in rest.records] == cluster.records(3)
        assert sorted(os.listdir(cluster.outbox)) == ["34-2", "34-3"]


def test_of_a_growing_file_only_what_is_new_is_collected(cluster: Cluster) -> None:
    tasks = tuple(task(number, "sh", "-c", f"exit {number}") for number in range(1, 6))
    cluster.write(plan=replace(cluster.plan, jobs=[JobSpec(1, 901, tasks)]))
    cluster.run()
    records, posted = cluster.records(), cluster.outbox / "34-1"
    lines = posted.read_bytes().splitlines(keepends=True)
    receipt, seen = OutboxReceipt(), []
    for content in (lines[:2], lines[:3], lines[:3], [*lines[:3], lines[3][:-3]], lines):
        posted.write_bytes(b"".join(content))
        collected = parse_collect(cluster.ask(collect_script(BASE, receipt)))
        seen.append([one.record for one in collected.records])
        receipt = OutboxReceipt({**receipt.lines, **collected.lines})
    assert seen == [records[:2], records[2:3], [], [], records[3:]]
    assert receipt.lines == {"34-1": 5}


def test_record_that_is_cut_or_misplaced_is_left_alone(cluster: Cluster) -> None:
    cluster.write("exit 1")
    cluster.run()
    whole = (cluster.outbox / "34-1").read_bytes()
    for name, content in {
        "34-2": whole[:-3],
        "34-3": b"",
        "34-4": b"\0" * 90,
        "34-5": b"end 1 \n" + whole,  # of a disk that was full for a while
        "34-6-1": whole,
        "34-7": b"\xff" + whole,
        "34-8": whole[:-1],  # only the end of the line is missing
        "34-9": b"x" * 5000 + b"\n" + whole,
    }.items():
        (cluster.outbox / name).write_bytes(content)
    (cluster.outbox / "1-1\ncigri-outbox end 0 0").write_bytes(whole)
    collected = parse_collect(cluster.ask(collect_script(BASE, OutboxReceipt())))
    assert [posted.index for posted in collected.records] == [1, 5, 8, 9]
    whole_lines = {"34-1": 1, "34-2": 0, "34-3": 0, "34-4": 0, "34-5": 2, "34-7": 0, "34-8": 1, "34-9": 2}
    assert collected.lines == whole_lines


def test_cut_answer_is_no_answer(dash: Cluster) -> None:
    dash.write("exit 1")
    dash.run()
    key = JobKey(12, 34, 1)
    records, journals = dash.ask(collect_script(BASE, OutboxReceipt())), dash.ask(journal(BASE, [key]))
    output, void = dash.ask(tail(BASE, 12, 34, 1, 1, "out", 10)), dash.ask(void_batch(BASE, 12, 34))
    for cut in range(1, 30):
        with pytest.raises(UnreadableOutput):
            parse_collect(records._replace(out=records.out[:-cut]) if cut > 1 else records._replace(status=1))
        with pytest.raises(UnreadableOutput):
            parse_journal(journals._replace(out=journals.out[:-cut]), [key])
        with pytest.raises(UnreadableOutput):
            parse_tail(output._replace(out=output.out[:-cut]))
        with pytest.raises(UnreadableOutput):
            parse_void(void._replace(out=void.out[:-cut]))
    with pytest.raises(UnreadableOutput):
        parse_journal(journals, [key, JobKey(12, 34, 2)])
    with pytest.raises(UnreadableOutput):
        parse_collect(records._replace(out=re.sub("\n> .*", "", records.out)))
    for name in ("../x", "1-2\n", "-rf", "34-1;", "1-2-3"):
        for receipt in (OutboxReceipt({name: 1}), OutboxReceipt({}, frozenset({name}))):
            with pytest.raises(ValueError, match="outbox"):
                collect_script(BASE, receipt)


def test_journal_tells_what_was_started_and_what_has_ended(cluster: Cluster) -> None:
    tasks = (task(1, "true"), task(2, "sh", "-c", "kill -KILL $PPID"))
    jobs = [JobSpec(1, 901, tasks), call(2, "true")]
    cluster.write(plan=replace(cluster.plan, jobs=jobs))
    cluster.run(1)
    last = cluster.journal(1)[-1]
    (cluster.batch / "journal.3").write_text(f"start 1 3 17000\n{last}")
    cluster.ask(void_batch(BASE, 12, 35))
    keys = [JobKey(12, 34, 1), JobKey(12, 34, 2), JobKey(12, 34, 3), JobKey(12, 35, 1), JobKey(13, 34, 1)]
    journals = parse_journal(cluster.ask(journal(BASE, keys)), keys)
    assert [journals[key].state.value for key in keys] == ["started", "absent", "started", "voided", "no_batch"]
    first = journals[keys[0]]
    assert first.start
    assert (first.start.index, first.start.node) == (1, "node7")
    assert [(record.task_id, record.exit_code) for record in first.records] == [(1001, 0)]
    assert journals[keys[2]] == (JournalState.STARTED, None, first.records, False)


def test_tail_of_an_output(cluster: Cluster) -> None:
    cluster.write("printf 'a long line'; printf 'cigri-tail end\\n' >&2", "exit 0")
    cluster.run()
    assert parse_tail(cluster.ask(tail(BASE, 12, 34, 1, 1, "out", 4))) == "line"
    assert parse_tail(cluster.ask(tail(BASE, 12, 34, 1, 1, "out", 400))) == "a long line"
    assert parse_tail(cluster.ask(tail(BASE, 12, 34, 1, 1, "err", 400))) == "cigri-tail end\n"
    assert parse_tail(cluster.ask(tail(BASE, 12, 34, 2, 1, "out", 4))) is None


def test_voided_batch_never_starts(cluster: Cluster) -> None:
    cluster.write("touch $HOME/ran")
    for _ in range(2):
        assert parse_void(cluster.ask(void_batch(BASE, 12, 34)))
    assert cluster.run().status != 0
    assert not (cluster.home / "ran").exists()
    again = cluster.ask(cluster.script(replace(cluster.plan, jobs=[call(1, "true")])))
    assert again.status == 73
    assert not cluster.batch.exists()


def test_batch_that_was_never_written_can_be_voided(cluster: Cluster) -> None:
    assert parse_void(cluster.ask(void_batch(BASE, 12, 34)))
    assert cluster.ask(cluster.script(replace(cluster.plan, jobs=[call(1, "true")]))).status == 73


def test_started_batch_is_not_voided(cluster: Cluster) -> None:
    cluster.write("exit 0", "exit 0")
    cluster.run(1)
    assert not parse_void(cluster.ask(void_batch(BASE, 12, 34)))
    assert cluster.run(2).status == 0
    assert not cluster.batch.with_name("b34.void").exists()


def test_job_that_starts_while_its_batch_is_voided_wins(cluster: Cluster) -> None:
    cluster.write("exit 4")
    start = '/bin/mv "$@"; [ "$2" != b34.void/ ] || : >b34.void/b34/journal.1'  # the claim was just before the renaming
    script = f"PATH={cluster.program('mv', start)['PATH']}\n" + void_batch(BASE, 12, 34)
    assert not parse_void(cluster.ask(script))
    assert (cluster.batch / "journal.1").exists()
    assert not cluster.batch.with_name("b34.void").exists()


def test_purge_removes_the_batches_of_one_campaign(cluster: Cluster) -> None:
    cluster.write("exit 0")
    cluster.ask(void_batch(BASE, 12, 35))
    for name in ("c1", "c123", "c12.x", "c12/b99"):  # the last is of another life of the database
        (cluster.base / name).mkdir()
    for _ in range(2):
        assert cluster.ask(purge_campaign(BASE, 12, [34, 35])).status == 0
        assert sorted(os.listdir(cluster.base)) == ["c1", "c12", "c12.x", "c123", "outbox"]
        assert os.listdir(cluster.base / "c12") == ["b99"]
    assert cluster.ask(purge_campaign(BASE, 12, [99])).status == 0
    assert not (cluster.base / "c12").exists()
    for odd in ("/", '""', "relative", "/a/../b", "/x"):
        assert cluster.ask(purge_campaign(odd, 1, [1])).status == 78
    with pytest.raises(ValueError, match="campaign"):
        purge_campaign(BASE, 0, [1])


def _seconds(cluster: Cluster, plan: BatchSpec) -> float:
    begun = time.process_time()
    cluster.script(plan)
    return time.process_time() - begun


def test_no_part_of_the_wrapper_redefines_what_another_one_defines() -> None:
    """All of them are one program to the shell, which keeps the last definition of a name and says nothing."""
    parts = Path(__file__).parents[2] / "cigri" / "wrapper"
    named = re.findall(r"^(\w+)\(\)", "".join(path.read_text() for path in parts.glob("*.sh")), re.M)
    assert [name for name, times in Counter(named).items() if times > 1] == []
