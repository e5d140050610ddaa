"""Each setting of a cluster: how it may be written, how it is kept, and what is said when it is wrong."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from cigri.drivers import ResourceRequest
from cigri.errors import DescriptionError
from cigri.jdl import ClusterSettings, directory, parse
from cigri.jdl.checkpoint import CheckpointSettings
from cigri.jdl.command import OWN_DIRECTORY, CommandTemplate, manual_command
from cigri.jdl.outputs import CollectSettings
from cigri.jdl.outputs_mode import OutputsMode
from cigri.shell.words import OutputPattern


def settings(**fields: Any) -> ClusterSettings:
    content = {"name": "n", "params": fields.pop("params", ["0"]), "clusters": {"c": {"exec_file": "e", **fields}}}
    return parse(json.dumps(content), base=Path(), home=Path()).clusters["c"]


@pytest.mark.parametrize(
    ("field", "value", "stored"),
    [
        ("walltime", "00:5:00", 300),
        ("walltime", "300", 300),
        ("walltime", 300, 300),
        ("walltime", 300.0, 300),
        ("walltime", "1:30", 5400),
        ("walltime", "26:00:01", 93601),
        ("duration", "00:05:00", 300),
        ("prologue_walltime", "00:01:00", 60),
        ("epilogue_walltime", None, None),
        ("type", "best-effort", "best-effort"),
        ("type", "besteffort", "best-effort"),
        ("type", "normal", "normal"),
        ("type", "Semi-besteffort", "semi-best-effort"),
        ("type", "nightly", "nightly"),
        ("max_jobs", "3", 3),
        ("max_jobs", None, None),
        ("limits", {"matlab": "2"}, {"matlab": 2}),
        ("retries", "2", 2),
        ("prologue", "set -e\n exit 2", ("set -e", " exit 2")),
        ("epilogue", ["rm -rf ~/povray"], ("rm -rf ~/povray",)),
        ("properties", "host != 'luke20'", "host != 'luke20'"),
        ("queue", " fast ", "fast"),
        ("project", 42, "42"),
        ("types", "devel, timesharing=*,*,inner=3", ("devel", "timesharing=*,*", "inner=3")),
        ("types", ["timesharing=*,user", "b"], ("timesharing=*,user", "b")),
        ("types", "", ()),
        ("environment", {"A_1": 5}, {"A_1": "5"}),
        ("exec_directory", "{HOME}/povray/{CAMPAIGN_ID}", "{HOME}/povray/{CAMPAIGN_ID}"),
        ("checkpoint", {}, CheckpointSettings(signal="USR2", before_walltime=120, period=None)),
        ("checkpoint", True, CheckpointSettings()),
        ("checkpoint", False, None),
        ("checkpoint", {"signal": "sigusr1", "period": "1:00:00"}, CheckpointSettings(signal="USR1", period=3600)),
        ("checkpoint", {"period": None}, CheckpointSettings()),
        ("checkpoint", {"period": "never"}, CheckpointSettings(period="never")),
        (
            "checkpoint",
            {"signal": 15, "before_walltime": 3599},
            CheckpointSettings(signal="TERM", before_walltime=3599),
        ),
        ("idempotent", "true", True),
        ("outputs", ["result.h5", "./log//[a-c]*.t?t", "result.h5", "a/"], ("result.h5", "log/[a-c]*.t?t", "a")),
        ("outputs", "one", ("one",)),
        ("collect", {"when": "end"}, CollectSettings(when="end")),
        ("outputs_mode", " 640 ", OutputsMode(mode="0640")),
        ("outputs_mode", True, OutputsMode(mode="0640")),
        ("outputs_mode", False, None),
        ("outputs_mode", {"mode": "0664", "group": "astro-ph"}, OutputsMode(mode="0664", group="astro-ph")),
        ("outputs_mode", {"group": "astro"}, OutputsMode(mode="0640", group="astro")),
    ],
)
def test_values_as_they_are_written_and_kept(field: str, value: object, stored: object) -> None:
    assert getattr(settings(**{field: value}), field) == stored


@pytest.mark.parametrize(
    ("resources", "request_"),
    [
        ("/resource_id=1", ResourceRequest()),
        ("core=4", ResourceRequest(cpu=4)),
        ("/nodes=2/core=4", ResourceRequest(cpu=4, nodes=2)),
        ("/nodes=2/cpu=3/core=4", ResourceRequest(cpu=12, nodes=2)),
        ("network_address=2/core=1", ResourceRequest(nodes=2)),
        ({"cpu": 4, "nodes": "2", "mem": "2 GB"}, ResourceRequest(cpu=4, nodes=2, mem=2048)),
        ({"mem": "512 MB"}, ResourceRequest(mem=512)),
        ({"mem": 300}, ResourceRequest(mem=300)),
        ({"mem": "1.5g"}, ResourceRequest(mem=1536)),
        ({"mem": "1 KB"}, ResourceRequest(mem=1)),
        ({"mem": "1TiB"}, ResourceRequest(mem=1048576)),
        ({"gpu": 2}, ResourceRequest(others={"gpu": 2})),
        ({"cpu": 8, "native": ["/gpu=1"]}, ResourceRequest(cpu=8, native=("/gpu=1",))),
        ("/nodes=2", ResourceRequest(nodes=2, native=("/nodes=2",))),
        ("/nodes=ALL/core=1", ResourceRequest(native=("/nodes=ALL/core=1",))),
        ("/switch=2/nodes=3/core=4", ResourceRequest(cpu=4, nodes=6, native=("/switch=2/nodes=3/core=4",))),
        ("/nodes=1/gpu=2/core=4", ResourceRequest(cpu=8, native=("/nodes=1/gpu=2/core=4",))),
        (
            " {gpu='YES' AND a+b > 1}/host=1/core=2+/nodes=3/core=1 ",
            ResourceRequest(cpu=2, nodes=4, native=("{gpu='YES' AND a+b > 1}/host=1/core=2+/nodes=3/core=1",)),
        ),
        (["/nodes=2/core=4"], ResourceRequest(cpu=4, nodes=2)),
        (["core=3", "/nodes=2/core=4"], ResourceRequest(cpu=4, nodes=2, native=("core=3", "/nodes=2/core=4"))),
        ({"gres/gpu": 1, "license/matlab": 2}, ResourceRequest(others={"gpu": 1, "matlab": 2})),
    ],
)
def test_resources(resources: object, request_: ResourceRequest) -> None:
    assert settings(resources=resources).resources.request() == request_


def test_settings_survive_json() -> None:
    resources = {"cpu": 2, "gpu": 1, "native": ["/a=1"]}
    full = settings(resources=resources, types="b, c", walltime="2:0:0", prologue="a\nb", max_jobs=2)
    stored = json.dumps(full.model_dump(mode="json"))
    assert ClusterSettings.model_validate(json.loads(stored)) == full
    assert full.besteffort
    assert not settings(type="normal").besteffort


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("walltime", "banana", "expected a duration, not 'banana'"),
        ("walltime", 0, "expected a duration"),
        ("walltime", "-1:00:00", "expected a duration"),
        ("walltime", True, "expected a duration"),
        ("max_jobs", "many", "a whole number, 1 or more"),
        ("max_jobs", 0, "a whole number, 1 or more"),
        ("max_jobs", True, "a whole number"),
        ("retries", 1.5, "a whole number, 0 or more"),
        ("retries", 2**31, "a whole number"),
        ("type", "nighty", "did you mean 'nightly'?"),
        ("type", "besteffor", "expected one of 'best-effort', 'normal', 'semi-best-effort', 'nightly'"),
        ("project", 1.10, "put it in quotes"),
        ("project", "a\nb", "one line"),
        ("queue", "a\x1b[2J", "control characters"),
        ("properties", "\x00", "NUL"),
        ("prologue", {"a": 1}, "a list of sh lines"),
        ("prologue", ["a", 2.5], "[1]: expected text"),
        ("environment", "A=1", "an object"),
        ("environment", {"1A": "x"}, "environment.1A: is no name"),
        ("environment", {"CIGRI_X": "x"}, "set by CiGri itself"),
        ("environment", {"A": "$HOME/lib"}, "the home neither"),
        ("environment", {"A": 0.5}, "environment.A: expected text"),
        ("exec_file", "", "expected a command"),
        ("exec_file", "'' a", "expected a command"),
        ("exec_file", "run 'a", "a quote is not closed"),
        ("exec_file", "cd x; run", "no shell reads this line, so ;"),
        ("exec_file", "A=1 run", "starts with an assignment"),
        ("exec_file", "run --conf={HOME}/x", "at the head of a word only"),
        ("exec_directory", "/scratch/$USER", "no other variable"),
        ("resources", "/node=2/core=1", "called 'nodes' in OAR's words"),
        ("resources", "{gpu='YES'/nodes=1/core=1", "braces are not closed"),
        ("resources", "/nodes=1/core=1,walltime=2", "write it in 'walltime'"),
        ("resources", "/core=1+", "a group beside '+' is empty"),
        ("resources", "core=some", "not 'some'"),
        ("resources", [], "expected resources"),
        ("resources", ["core=1", 2], "expected resources, not 2"),
        ("types", {"a": 1}, "write them in a list"),
        ("types", ["a", ""], "types[1]: expected some text"),
        ("resources", "core=0", "1 or more"),
        ("resources", "core=2/nodes=1", "not in order"),
        ("resources", "core=1/core=2", "given twice"),
        ("resources", "lots", "is not understood"),
        ("resources", 4, "expected resources"),
        ("resources", {"cores": 4}, "is called 'cpu' here"),
        ("resources", {"gpu": "x"}, "resources.gpu: expected a whole number"),
        ("resources", {"mem": "2 apples"}, "an amount of memory"),
        ("resources", {"mem": -1}, "an amount of memory"),
        ("resources", {"mem": True}, "an amount of memory"),
        ("resources", {"cpu": 0}, "resources.cpu: expected"),
        ("resources", {"a b": 1}, "no name of a resource"),
        ("resources", {"gres/gpu:a100": 1}, "'gres/gpu:a100' is no name of a resource"),
        ("resources", {"gres/gpu": 1, "gpu": 2}, "'gpu' and 'gres/gpu' are one name"),
        ("walltim", 1, "unknown field (did you mean 'walltime'?)"),
        ("Walltime", 1, "unknown field (did you mean 'walltime'?)"),
        ("name", "x", "belongs at the top"),
        ("temporal_grouping", "maybe", "expected true or false"),
        ("dimensional_grouping", "perhaps", "expected true or false"),
        ("cluster_job_type", 1, "write them in a list"),
        ("checkpointing_type", "BLCR", "write 'checkpoint' for a program that saves its state itself"),
        ("checkpoint", {"signal": "KILL"}, "checkpoint.signal: expected one of the signals HUP, USR1"),
        ("checkpoint", {"signals": "USR1"}, "'signals' is unknown here (did you mean 'signal'?)"),
        ("checkpoint", {"period": 0}, "checkpoint.period: expected a duration"),
        ("checkpoint", {"period": "seldom"}, "checkpoint.period: expected a duration, or 'never'"),
        ("checkpoint", {"before_walltime": "1:00:00"}, "(3600 s) is not less than the walltime (3600 s)"),
        ("checkpoint", "BLCR", "expected an object, or true"),
        ("idempotent", "perhaps", "expected true or false"),
        ("output_gathering_method", "iRods", "expected scp or collector, not 'iRods'"),
        ("output_gathering_method", "scp", "says not where to (write output_destination, or collect: {to: ...})"),
        ("outputs", {"a": 1}, "expected a list of names and patterns"),
        ("outputs", ["a", 3.5], "outputs[1]: expected text"),
        ("outputs", ["a", "/tmp/b"], "outputs[1]: is not below the directory of the task"),
        ("outputs", "~/b", "is not below the directory of the task"),
        ("outputs", ["a/../b"], "leads out of the directory of the task by .."),
        ("outputs", [""], "names no file"),
        ("outputs", ["./"], "names no file"),
        ("outputs", ["a\nb"], "holds the end of a line (write ? in its place)"),
        ("outputs", ["a\0b"], "holds a NUL character"),
        ("outputs", ["a\\*"], "holds a backslash"),
        ("outputs", ["**/a"], "** is no pattern"),
        ("outputs", ["a[1"], "a [ is not closed"),
        ("outputs", ["a"] * 101, "these are 101; there are 100 at most"),
        ("outputs", ["a" * 1001], "more than 1000 characters"),
        ("output_file", "../a", "leads out of the directory of the task by .."),
        ("collect", {"when": "never"}, "collect.when: "),
        ("collect", {"from": "x"}, "'from' is unknown here"),
        ("collect", {"to": "x"}, "collect.to: expected a path from / on, not 'x' (`gridsub` makes it one"),
        ("collect", {"to": "/a/../b"}, "collect.to: leads through .."),
        ("collect", {"to": "/a/{task}"}, "collect.to: '/a/{task}': {number} is all that is replaced"),
        ("collect", {"to": "/a/{number}/{number}"}, "{number} is all that is replaced, once"),
        ("collect", {"to": "/a}/b"}, "{number} is all that is replaced"),
        ("collect", {"to": "/"}, "names no directory"),
        ("collect", {"to": "/a"}, "nothing is to be collected (name files in outputs"),
        ("collect", {"max": "{index} MB"}, "collect.max: expected an amount that is the same for all tasks"),
        ("collect", {"max": 0}, "collect.max: expected an amount"),
        ("collect", {"max": "7 d"}, "collect.max: expected an amount of memory or disk"),
        ("collect", {"keep": "10 MB"}, "collect.keep: expected a duration"),
        ("outputs_mode", 640, "expected a mode as text, not 640 (for example"),
        ("outputs_mode", "u=rw,g=r", "outputs_mode.mode: expected a mode of three octal digits"),
        ("outputs_mode", "0689", "expected a mode of three octal digits"),
        ("outputs_mode", "", "expected a mode of three octal digits"),
        ("outputs_mode", "4640", "4640 sets setuid, setgid or the sticky bit (begin it with 0)"),
        ("outputs_mode", "2640", "sets setuid, setgid"),
        ("outputs_mode", "0666", "0666 lets everybody write (name a group, and a mode as 0660)"),
        ("outputs_mode", "0662", "lets everybody write"),
        ("outputs_mode", "0750", "0750 makes files programs"),
        ("outputs_mode", "0440", "keeps yourself from reading or writing"),
        ("outputs_mode", "0604", "lets others do what your group may not"),
        ("outputs_mode", "0620", "write what it cannot read"),
        ("outputs_mode", {"group": "1000"}, "outputs_mode.group: expected the name of a group"),
        ("outputs_mode", {"group": "-R"}, "expected the name of a group"),
        ("outputs_mode", {"owner": "me"}, "'owner' is unknown here"),
        ("test_mode", "maybe", "expected true or false"),
    ],
)
def test_a_wrong_value_is_told_with_its_place(field: str, value: object, message: str) -> None:
    with pytest.raises(DescriptionError) as caught:
        settings(**{field: value})
    found = caught.value.problems
    assert len(found) == 1, found
    assert found[0].place.startswith(f"clusters.c.{field}")
    assert message in str(found[0])


def test_checkpoint_at_the_top_is_held_against_each_clusters_walltime() -> None:
    content = {"name": "n", "nb_jobs": 1, "exec_file": "e", "checkpoint": {"before_walltime": "2:00:00"}}
    long, short = {"walltime": "3:00:00"}, {"walltime": "1:00:00"}
    parse(json.dumps({**content, "clusters": {"c": long}}), base=Path(), home=Path())
    with pytest.raises(DescriptionError, match=r"checkpoint: before_walltime \(7200 s\) is not less") as caught:
        parse(json.dumps({**content, "clusters": {"c": long, "d": short}}), base=Path(), home=Path())
    assert len(caught.value.problems) == 1


def test_a_task_with_a_directory_of_its_own_is_given_no_other() -> None:
    own = settings(own_directory="true")
    assert directory(own, "1", campaign_id=1, number=0) == OWN_DIRECTORY
    assert manual_command(own, "1", 1, 0).line.startswith('cd "$(mktemp -d)" && env ')
    assert directory(settings(), "1", campaign_id=1, number=0) != OWN_DIRECTORY
    content = {"name": "n", "nb_jobs": 1, "exec_file": "e", "exec_directory": "~/a"}
    for described in (
        {**content, "own_directory": True, "clusters": {"c": {}}},
        {**content, "clusters": {"c": {"own_directory": "True"}}},
    ):
        with pytest.raises(DescriptionError, match="own_directory: contradicts exec_directory"):
            parse(json.dumps(described), base=Path(), home=Path())


def test_outputs_are_filled_in_as_commands_are() -> None:
    outputs = ["log/{mesh}_*", "{mesh}.h5", "{index}-{CAMPAIGN_ID}", "log"]
    content = {"name": "n", "exec_file": "e", "outputs": outputs, "params": [{"mesh": "[a]*\\"}], "clusters": ["c"]}
    description = parse(json.dumps(content), base=Path(), home=Path())
    (parameter,) = description.parameters()
    command = CommandTemplate(description.clusters["c"], description.names)
    assert command.outputs(parameter, campaign_id=7, number=3) == (
        OutputPattern("[a]*\\.h5", is_name=True),
        OutputPattern("3-7", is_name=True),
        OutputPattern("log", is_name=True),
        OutputPattern("log/[[]a][*]?_*", is_name=False),
    )
    with pytest.raises(DescriptionError, match="no parameter is called 'mash'"):
        parse(json.dumps({**content, "outputs": ["{mash}", "{mesh}"]}), base=Path(), home=Path())


def test_outputs_are_those_of_a_directory_of_the_tasks_own_unless_another_is_named() -> None:
    assert settings(outputs=["a"]).own_directory
    assert settings(output_file="a").outputs == ("a",)
    assert settings(output_file="a").own_directory
    assert not settings(outputs=["a"], exec_directory="~").own_directory
    assert not settings(outputs=["a"], own_directory=False).own_directory
    assert not settings(outputs=[]).own_directory
    assert not settings(output_file="None").outputs


@pytest.mark.parametrize("continues", [{"checkpoint": {}}, {"idempotent": True}])
def test_a_task_that_is_continued_needs_a_directory_that_stays(continues: dict[str, Any]) -> None:
    with pytest.raises(DescriptionError, match=r"outputs: a task that is continued .* \(name an exec_directory\)"):
        settings(outputs=["a"], **continues)
    assert settings(outputs=["a"], exec_directory="~", **continues).outputs == ("a",)


def test_tasks_whose_temporary_directory_is_kept_travel_alone() -> None:
    kept = settings(keep_tmp=" True", resources={"cpu": 1})
    assert (kept.keep_tmp, kept.temporal_grouping, kept.may_share_a_node) == (True, False, False)
    assert ClusterSettings.model_validate(kept.model_dump(mode="json")) == kept
    assert settings(keep_tmp=False).temporal_grouping


@pytest.mark.parametrize(
    ("resources", "message"),
    [
        ({"cpu": "{cores}"}, "resources.cpu: all tasks of a campaign have as many"),
        ({"nodes": "2 * {n}"}, "resources.nodes: all tasks of a campaign have as many"),
        ({"gpu": 1, "GPU": 2}, "'GPU' and 'gpu' are one name in capitals"),
        ({"mem": "10m"}, "resources.mem: 'm' is a thousandth"),
    ],
)
def test_resources_that_cannot_be_obeyed_are_refused(resources: object, message: str) -> None:
    with pytest.raises(DescriptionError, match=re.escape(message)):
        settings(resources=resources)


def test_settings_that_compute_amounts_survive_json() -> None:
    amounts = {"mem": "{size} * 2 GB", "tmp": "1 GB", "gpu": "{size}"}
    full = settings(exec_file="run {size}", resources=amounts, params=[{"size": 1}])
    assert ClusterSettings.model_validate(json.loads(json.dumps(full.model_dump(mode="json")))) == full
    assert full.resources.formulas == {"mem": "{size} * 2 GB", "gpu": "{size}"}
    exact = full.resources.request({"mem": 5, "gpu": 1})
    assert exact == ResourceRequest(mem=5, tmp=1024, others={"gpu": 1})
    assert full.may_share_a_node is False
    with pytest.raises(KeyError):
        full.resources.request()


@pytest.mark.parametrize(
    ("to", "stored"),
    [
        ("/home/ann/results/{number}", "/home/ann/results/{number}"),
        ("/home/ann//./results/", "/home/ann/results/{number}"),
        ("/a/run-{number}/out", "/a/run-{number}/out"),
    ],
)
def test_each_task_has_a_directory_where_its_outputs_come_to(to: str, stored: str) -> None:
    read = settings(outputs=["a"], collect={"to": to, "max": "2 GB", "keep": "1 d", "when": "end"})
    assert read.collect == CollectSettings(to=stored, max=2048, keep=86_400, when="end")
