"""What becomes of a campaign's fields, and of what a batch system is asked, by its own options."""

import shlex
from dataclasses import replace
from typing import Any

import pytest

from cigri.drivers import BatchRequest, Driver, load
from cigri.jdl import ClusterSettings
from cigri.submission.backend_options import override
from tests.backend.drivers import DRIVERS

SETTINGS = ClusterSettings.model_validate(
    {
        "exec_file": "run",
        "resources": {"cpu": 2, "mem": 100, "gpu": 1},
        "queue": "old",
        "properties": "arch=a",
        "project": "own",
        "types": ["timesharing=*,*"],
    }
)

OVERRIDDEN: list[tuple[str, str, dict[str, Any]]] = [
    ("slurm", "-c 8", {"resources.cpu": 8, "resources.mem": 100}),
    ("slurm", "--mem=2G", {"resources.mem": 2048, "resources.cpu": 2}),
    ("slurm", "--tmp=5G", {"resources.tmp": 5120, "resources.cpu": 2}),
    ("slurm", "-p new", {"queue": "new", "properties": "arch=a"}),
    ("slurm", "-C a|b", {"properties": "a|b", "queue": "old"}),
    ("slurm", "-q high -x n1 -c 1", {"backend": ("--exclude=n1", "--qos=high"), "resources.cpu": 1}),
    ("gridengine", "-q new.q -P p", {"queue": "new.q", "project": "p"}),
    ("gridengine", "-100", {"backend": ("--priority=-100",), "properties": "arch=a"}),
    ("gridengine", "-soft -l fast", {"backend": ("--soft=fast",), "properties": "arch=a"}),
    ("oar", "-q new -p m>3 --project=p", {"queue": "new", "properties": "m>3", "project": "p", "backend": ()}),
    ("oar", "-t noop -t inner=4", {"types": ("noop", "inner=4")}),
    ("oar", "-l /nodes=2/core=3", {"resources.cpu": 3, "resources.nodes": 2, "resources.mem": 0}),
    ("local", "--anything at all", {"backend": (), "resources.cpu": 2, "queue": "old"}),
]


@pytest.mark.parametrize(("driver", "text", "changed"), OVERRIDDEN)
def test_each_option_overrides_its_field_alone(driver: str, text: str, changed: dict[str, Any]) -> None:
    settings = override(SETTINGS, DRIVERS[driver], shlex.split(text))
    for name, value in changed.items():
        field, _, part = name.partition(".")
        found = getattr(settings, field)
        assert (getattr(found, part) if part else found) == value
    untouched = set(ClusterSettings.model_fields) - {name.partition(".")[0] for name in changed} - {"backend"}
    for name in untouched:
        assert getattr(settings, name) == getattr(SETTINGS, name)


def test_the_command_line_goes_before_the_description_option_by_option() -> None:
    own = SETTINGS.model_copy(update={"backend": ("--qos=low", "-c", "3", "--wckey=w")})
    settings = override(own, DRIVERS["slurm"], ["-q", "high"])
    assert settings.backend == ("--qos=high", "--wckey=w")
    assert settings.resources.cpu == 3
    assert override(settings, DRIVERS["slurm"]) == settings, "what was obeyed once stays so"


def test_alternatives_of_oar_are_obeyed_as_such() -> None:
    settings = override(SETTINGS, DRIVERS["oar"], ["-l", "/nodes=1/core=2", "-l", "/nodes=2/core=4"])
    assert settings.resources.native == ("/nodes=1/core=2", "/nodes=2/core=4")
    with pytest.raises(ValueError, match="no walltime is understood"):
        override(SETTINGS, DRIVERS["oar"], ["-l", "/nodes=1,walltime=1:0:0"])


@pytest.mark.parametrize(
    "given",
    [
        "-C a --gres=gpu:1 -x 'n[1-2]'",
        ["-C", "a", "--gres=gpu:1", "-x", "n[1-2]"],
        {"C": "a", "gres": "gpu:1", "excludes": "n[1-2]"},
    ],
)
def test_a_description_may_have_a_line_words_or_an_object(given: object) -> None:
    settings = ClusterSettings.model_validate({"exec_file": "run", "backend": given})
    obeyed = override(settings, DRIVERS["slurm"])
    assert (obeyed.properties, obeyed.backend) == ("a", ("--exclude=n[1-2]", "--gres=gpu:1"))


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("-C 'a", "a quote is not closed"),
        (4, "expected the batch system's own options"),
        ({"gres": None}, "gres: expected text or a whole number"),
        ({"gres": True}, "not True"),
        ({"a b": "c"}, "is no name of an option"),
        (["a\nb"], "one line without control characters"),
    ],
)
def test_a_description_that_is_no_options_is_refused(given: object, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        ClusterSettings.model_validate({"exec_file": "run", "backend": given})


@pytest.mark.parametrize(
    ("driver", "words", "told"),
    [
        ("slurm", ("--frobnicate=1",), "backend: unknown option --frobnicate"),
        ("slurm", ("-c", "4"), "backend: -c, --cpus-per-task stands in 'cpu' of the campaign"),
        ("gridengine", ("-q", "x"), "backend: -q, --queue stands in 'queue' of the campaign"),
        ("oar", ("--nothing=x",), "backend: unknown option --nothing"),
    ],
)
def test_a_batch_with_options_that_were_never_read_is_refused(driver: str, words: tuple[str, ...], told: str) -> None:
    problems = DRIVERS[driver].problems(BatchRequest("cigri-1", 1, 60, backend=words))
    assert [problem.startswith(told) for problem in problems] == [True]


def test_the_local_cluster_takes_a_batch_whatever_options_it_has() -> None:
    request = BatchRequest("cigri-1", 1, 60, backend=("--gres=gpu:1",))
    local = DRIVERS["local"]
    assert local.problems(request) == []
    assert local.submit(request) == local.submit(replace(request, backend=()))


def asked(driver: Driver, **fields: Any) -> list[str]:
    return shlex.split(driver.submit(BatchRequest("cigri-1", 1, 60, **fields)).replace("\n", " "))


def test_slurm_is_asked_for_each_thing_once_the_users_own_last() -> None:
    driver = load("slurm", {"qos": "site", "reservation": "theirs"})
    words = asked(driver, exclude=("sick",), backend=("--exclude=n1,n2", "--qos=mine", "--wckey=k", "--nodelist=n3"))
    assert {
        "--exclude=sick,n1,n2",
        "--qos=mine",
        "--wckey=k",
        "--nodelist=n3",
        "--reservation=theirs",
    } <= set(words)
    names = [word.partition("=")[0] for word in words if word.startswith("--")]
    assert len(names) == len(set(names))


def test_grid_engine_hears_the_users_requests_instead_of_the_descriptions() -> None:
    driver = load("gridengine", {"priority": -10, "properties": "site=TRUE"})
    properties = "-l arch=x -soft -l slow"
    words = asked(driver, properties=properties, backend=("--hard=gpu=1", "--priority=-3", "--reserve=y"))
    text = " ".join(words)
    assert "-l site=TRUE -l gpu=1 -p -3 -R y -soft -l slow" in text
    assert "arch=x" not in text
    assert "-l arch=x -p -10 -soft -l fast" in " ".join(asked(driver, properties=properties, backend=("--soft=fast",)))


def test_jobs_with_such_options_do_not_share_a_node() -> None:
    plain = ClusterSettings(exec_file="run")
    assert plain.may_share_a_node
    assert not plain.model_copy(update={"backend": ("--gres=gpu:1",)}).may_share_a_node
