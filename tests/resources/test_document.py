"""The document in which operators describe resources: what it may say, and what is refused."""

import re
import tomllib
from pathlib import Path

import pytest

from cigri.errors import ConfigError
from cigri.requirements import ValueKind
from cigri.resources.description import NO_RESOURCES, QueueDescription, ResourcesDescription, difference
from cigri.resources.document import misplaced, read_document, unheard_of
from cigri.resources.inheritance import DeclarationPlace, DeclaredValue, QueueLineage, effective
from cigri.states import PropertyLevel

ROOT = Path(__file__).parents[2]
GRID, DRIVER, SITE, CLUSTER, QUEUE = PropertyLevel
GB = 1024**3
PAGE = (ROOT / "docs" / "reference" / "resources.md").read_text()
[EXAMPLE] = re.findall("```toml\n(.*?)```", PAGE, re.DOTALL)


def test_each_level_is_read_with_its_own_and_the_projects_properties() -> None:
    found = read_document(EXAMPLE)
    assert found.sites == {"dahu": "grenoble"}
    assert {key: queue.remote_name for key, queue in found.queues.items()} == {
        ("dahu", "fat"): "fatmem",
        ("dahu", ""): "",
    }
    assert found.properties == {
        DeclarationPlace(GRID, ""): {"glibc": DeclaredValue("2.17")},
        DeclarationPlace(DRIVER, "slurm"): {"scratch": DeclaredValue(100 * GB)},
        DeclarationPlace(SITE, "grenoble"): {
            "el7": DeclaredValue(True),
            "software": DeclaredValue(["gcc-12", "openmpi"]),
        },
        DeclarationPlace(SITE, "grenoble", "chemistry"): {"software": DeclaredValue(["gromacs"], True)},
        DeclarationPlace(CLUSTER, "dahu"): {"gpu_mem": DeclaredValue(16 * GB)},
        DeclarationPlace(QUEUE, "fat@dahu"): {"memory": DeclaredValue(1536 * GB)},
    }
    assert found.kinds == {
        **{"gpu_mem": ValueKind.SIZE, "software": ValueKind.STRING, "glibc": ValueKind.STRING},
        **{"scratch": ValueKind.SIZE, "el7": ValueKind.BOOLEAN},
    }


def test_what_the_page_says_of_its_example_is_so() -> None:
    document = read_document(EXAMPLE)
    place = QueueLineage("slurm", "grenoble", "dahu", "fat")
    found = effective(place, "chemistry", document.properties, {"cores": 64, "memory": 192 * GB})
    rows = {name: source for name, source in re.findall(r"^\| `(\w+)` \| [^|]* \| ([^|]*) \|$", PAGE, re.MULTILINE)}
    assert {name: one.source for name, one in found.items() if name != "el7"} == rows


def test_the_sample_is_read_with_and_without_its_comments() -> None:
    sample = (ROOT / "etc" / "resources.toml").read_text()
    assert read_document(sample) == NO_RESOURCES
    full = read_document(re.sub(r"^#(?! )", "", sample, flags=re.MULTILINE))
    assert {where.level for where in full.properties} == set(PropertyLevel)
    assert full.queues.keys() == {("dahu", "fat"), ("dahu", "")}


def test_a_queue_without_a_remote_name_has_its_own() -> None:
    assert read_document("[cluster.dahu.queue.fat]").queues == {("dahu", "fat"): QueueDescription("fat")}


REFUSED = {
    "a = [": "no TOML",
    "propertys.a = 1": "propertys: unknown, did you mean properties?",
    "[cluster.dahu]\nmemory = 1": "cluster.dahu.memory: unknown, there are: properties, project, site, queue",
    "[cluster.dahu.queue.fat]\nremote = 'x'": "cluster.dahu.queue.fat.remote: unknown, did you mean remote_name?",
    "[cluster.'a b']": "cluster.a b: String should match",
    "[cluster.dahu.queue.'a b']": "cluster.dahu.queue.a b",
    "[cluster.dahu.queue.fat]\nremote_name = 'a b'": "cluster.dahu.queue.fat.remote_name",
    "[cluster.dahu.queue.'']\nremote_name = 'a'": "queue @dahu: the default queue has no remote_name",
    "[kinds]\na = 'length'": "kinds.a: Input should be 'number', 'size', 'duration', 'string', 'boolean' or 'version'",
    "[kinds]\nmemory = 'number'": "kinds.memory: memory is a size everywhere; leave this line out",
    "[kinds]\n'a b' = 'size'": "kinds: 'a b' is no name of a property",
    "[kinds]\na = 'size'\nA = 'size'": "kinds.A: a has its kind already",
    "[properties]\n'a-b' = 1": "grid: a-b: 'a-b' is no name of a property",
    "[properties]\na = 1\nA = 2": "grid: A: a is said twice there",
    "[properties]\na = [1]\n'a+' = [2]": "grid: a+: a is said twice there",
    "[properties]\n'a+' = 2": 'grid: a+: + adds a list to a list: write "name+" = [...]',
    "[properties]\nsite = 'x'": "grid: site: each queue has its site by where it is declared",
    "[properties]\nmemory = 'much'": "grid: memory: expected a size, not 'much' (write '16 GB', or a number of MB)",
    "[properties]\nmemory = '5m'": "write 'min' or 'MB'",
    "[properties]\ngpus = -1": "grid: gpus: an amount is 0 or more",
    "[properties]\nnodes = [4, -0.5]": "grid: nodes: an amount is 0 or more",
    "[properties]\nday = 1979-05-27": "grid: day: expected a number, text, true or false, or a list of these",
    "[properties]\na.b = 1": "grid: a: expected a number, text, true or false, or a list of these",
    "[properties]\na = 1\n[site.s.properties]\na = 'x'": "site s: a: expected a number, not 'x'",
    "[properties]\na = [1, 'x']": "a list holds values of one kind",
    "[cluster.dahu.queue.fat]\nrequires = 'cpu >'": "queue fat@dahu: requires: column 6",
    "[cluster.dahu.queue.fat]\nrequires = 'cpus > 1'": "requires: a job has no cpus; there are cores, cpu,",
}


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_wrong_is_told_with_its_place(text: str) -> None:
    with pytest.raises(ConfigError) as refused:
        read_document(text)
    assert REFUSED[text] in str(refused.value)


def test_all_problems_are_told_at_once() -> None:
    text = "[properties]\nsite = 'x'\nmemory = 'y'\n[cluster.dahu.queue.fat]\nrequires = 'cpus > 1'"
    with pytest.raises(ConfigError) as refused:
        read_document(text)
    assert len(str(refused.value).splitlines()) == 3


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[cluster.dahuu]", "cluster.dahuu: no such cluster, did you mean dahu?; `cigri cluster add` declares it"),
        ("[site.lyon.properties]\na = 1", 'site.lyon: no cluster is there; write site = "lyon" in one'),
        ("[site.dahu.properties]\na = 1\n[cluster.dahu]\nsite = 'grenoble'", "site.dahu: no cluster is there"),
        ("[driver.slrum.properties]\na = 1", "driver.slrum: no such driver; there are: local, slurm"),
        ("[cluster.dahu]\nsite = 'grenoble'\n[site.grenoble.properties]\na = 1\n[driver.slurm.properties]\na = 1", ""),
        ("[site.luke.properties]\na = 1", ""),
    ],
)
def test_what_is_said_of_things_that_are_not_there_is_refused(text: str, problem: str) -> None:
    problems = misplaced(read_document(text), {"dahu": "slurm", "luke": "local"}, ["slurm", "local"])
    assert len(problems) == bool(problem)
    assert problem in "".join(problems)


def test_a_queue_that_the_batch_system_does_not_tell_of_is_doubted() -> None:
    found = read_document(
        '[cluster.dahu.queue.fat]\nremote_name = "fatmen"\n[cluster.luke.queue.x]\n[cluster.dahu.queue.""]'
    )
    [doubt] = unheard_of(found, {"dahu": {"fatmem", "thin"}})
    assert doubt == "queue fat@dahu: dahu tells of no queue fatmen, did you mean fatmem?; it tells of fatmem, thin"


def test_the_difference_of_two_descriptions_is_told_thing_by_thing() -> None:
    old = read_document(EXAMPLE)
    new = read_document(
        EXAMPLE.replace("1.5 TB", "2 TB").replace('glibc = "2.17"', "").replace('"software+"', "software")
    )
    assert difference(old, new) == [
        "- grid: glibc = '2.17'",
        "- kind of glibc: string",
        "- queue fat@dahu: memory = 1.5 TB",
        "+ queue fat@dahu: memory = 2 TB",
        "- site grenoble, project chemistry: software += ['gromacs']",
        "+ site grenoble, project chemistry: software = ['gromacs']",
    ]
    assert difference(old, old) == []
    assert all(line.startswith("- ") for line in difference(old, NO_RESOURCES))


def test_a_queue_that_is_no_more_and_a_site_are_differences() -> None:
    old = ResourcesDescription({}, {"dahu": "grenoble"}, {("dahu", "fat"): QueueDescription("fatmem")}, {})
    assert difference(old, NO_RESOURCES) == [
        "- cluster dahu: site = grenoble",
        "- queue fat@dahu: remote_name = fatmem",
    ]


def test_the_document_is_plain_toml() -> None:
    assert tomllib.loads(EXAMPLE)["cluster"]["dahu"]["queue"]["fat"]["remote_name"] == "fatmem"
